//! The head of a response: status line and header fields (RFC 9112, sections 4 to 6).

use memchr::memchr;

use super::Malformed;
use crate::coding::ContentEncoding;

/// How the end of a body is found (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The response ends with its head: 1xx, 204 or 304.
    Bodiless,
    /// So many bytes follow.
    Length(u64),
    /// Chunks follow, then perhaps trailer fields.
    Chunked,
    /// All bytes until the connection ends belong to the body.
    UntilClose,
}

/// What the head of one response says about the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The three digits of the status line.
    pub status: u16,
    /// Where the body ends, if the request was not HEAD.
    pub framing: Framing,
    /// `Content-Length`, also where no body follows (HEAD, 304).
    pub content_length: Option<u64>,
    /// Whether the server lets the connection carry another request.
    pub keep_alive: bool,
    /// How the body is encoded.
    pub content_encoding: ContentEncoding,
}

/// Finds the end of a head in `bytes`, of which the first `seen` were searched before. Refuses bare line feeds, so that
/// a head which will never end is noticed at its first wrong line.
pub(super) fn find_end(bytes: &[u8], seen: usize) -> Result<Option<usize>, Malformed> {
    let mut from = seen;
    while let Some(offset) = memchr(b'\n', &bytes[from..]) {
        let at = from + offset;
        if at == 0 || bytes[at - 1] != b'\r' {
            return Err(Malformed::BareLineFeed);
        }
        if at >= 3 && bytes[at - 2] == b'\n' {
            return Ok(Some(at + 1));
        }
        from = at + 1;
    }
    let start = &bytes[..bytes.len().min(VERSION.len())];
    if start == &VERSION[..start.len()] { Ok(None) } else { Err(Malformed::StatusLine) }
}

const VERSION: &[u8] = b"HTTP/1.";

/// Parses a whole head, its closing empty line included.
pub(super) fn parse(bytes: &[u8]) -> Result<Head, Malformed> {
    let mut lines = Lines { rest: bytes };
    let (minor, status) = status_line(lines.next().ok_or(Malformed::StatusLine)?)?;
    let mut fields = Fields::default();
    for line in lines {
        if line.is_empty() {
            break;
        }
        let (name, value) = field_line(line)?;
        fields.take(name, value)?;
    }
    fields.into_head(minor, status)
}

/// The lines of a head without their CR LF; the caller has checked that each has one.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memchr(b'\n', self.rest)?;
        let line = &self.rest[..end.saturating_sub(1)];
        self.rest = &self.rest[end + 1..];
        Some(line)
    }
}

/// `HTTP/1.x SP 3DIGIT [SP reason]`; a missing reason with or without its space is tolerated, as everyone does.
fn status_line(line: &[u8]) -> Result<(u8, u16), Malformed> {
    let rest = line.strip_prefix(VERSION).ok_or(Malformed::StatusLine)?;
    let [minor @ b'0'..=b'9', b' ', code @ ..] = rest else {
        return Err(Malformed::StatusLine);
    };
    let (digits, reason) = code.split_at_checked(3).ok_or(Malformed::StatusLine)?;
    let status = decimal(digits).ok_or(Malformed::StatusLine)? as u16;
    if status < 100 || !(reason.is_empty() || reason[0] == b' ') || !reason.iter().all(|&b| is_text(b)) {
        return Err(Malformed::StatusLine);
    }
    Ok((minor - b'0', status))
}

/// Splits a field line. White space before the name (obsolete folding) or before the colon is refused.
pub(super) fn field_line(line: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let colon = memchr(b':', line).ok_or(Malformed::Field)?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if name.is_empty() || !name.iter().all(|&b| is_token(b)) || !value.iter().all(|&b| is_text(b)) {
        return Err(Malformed::Field);
    }
    Ok((name, value))
}

/// The fields that decide where the message ends and whether the connection goes on.
#[derive(Default)]
struct Fields {
    content_length: Option<u64>,
    content_encoding: ContentEncoding,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => self.take_length(value),
            16 if name.eq_ignore_ascii_case(b"content-encoding") => {
                self.content_encoding = self.content_encoding.and(value);
                Ok(())
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                // Any other coding, or one applied twice, leaves the end of the body in doubt.
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Malformed::TransferCoding);
                }
                self.chunked = true;
                Ok(())
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                for option in value.split(|&b| b == b',') {
                    self.close |= option.trim_ascii().eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.trim_ascii().eq_ignore_ascii_case(b"keep-alive");
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Equal repetitions are tolerated (RFC 9110, section 8.6); different ones are not.
    fn take_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for part in value.split(|&b| b == b',') {
            let length = decimal(part.trim_ascii()).ok_or(Malformed::ContentLength)?;
            if self.content_length.is_some_and(|known| known != length) {
                return Err(Malformed::ConflictingLengths);
            }
            self.content_length = Some(length);
        }
        Ok(())
    }

    fn into_head(self, minor: u8, status: u16) -> Result<Head, Malformed> {
        let framing = match (status, self.chunked, self.content_length) {
            (101, ..) => return Err(Malformed::Upgrade),
            (100..=199 | 204 | 304, ..) => Framing::Bodiless,
            (_, true, Some(_)) => return Err(Malformed::ConflictingLengths),
            (_, true, None) if minor == 0 => return Err(Malformed::TransferCoding),
            (_, true, None) => Framing::Chunked,
            (_, false, Some(length)) => Framing::Length(length),
            (_, false, None) => Framing::UntilClose,
        };
        let keep_alive = framing != Framing::UntilClose && !self.close && (minor > 0 || self.keep_alive);
        let Self { content_length, content_encoding, .. } = self;
        Ok(Head { status, framing, content_length, keep_alive, content_encoding })
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, &digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

const fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

/// The last head that was parsed and what it meant.
///
/// Servers send the same head until their `Date` changes, so that nearly every response of a run is recognised by one
/// comparison. Parsing depends on nothing but the bytes: a hit means exactly what parsing again would say. One cache
/// serves all connections of a target.
#[derive(Default)]
pub struct HeadCache {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl HeadCache {
    const LONGEST: usize = 4096;

    /// The meaning and length of the head that `data` starts with, if it is the remembered one.
    pub(super) fn lookup(&self, data: &[u8]) -> Option<(Head, usize)> {
        let head = self.head?;
        data.starts_with(&self.bytes).then_some((head, self.bytes.len()))
    }

    pub(super) fn remember(&mut self, bytes: &[u8], head: Head) {
        if bytes.len() <= Self::LONGEST {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.head = Some(head);
        }
    }
}
