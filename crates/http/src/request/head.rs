//! One complete head.

use std::borrow::Cow;

use memchr::memchr;

use super::RequestError;
use super::body::Body;
use crate::fields::joined;

/// The methods that the servers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`.
    Head,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `DELETE`.
    Delete,
    /// Any other token.
    Other,
}

impl Method {
    /// The method of this name, which has to be a token.
    #[must_use]
    pub fn named(token: &[u8]) -> Self {
        match token {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            _ => Self::Other,
        }
    }
}

/// The minor version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, or a later minor version that is answered as such.
    Http11,
}

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing is said: there is no body.
    None,
    /// `Content-Length`, in bytes.
    Length(u64),
    /// The transfer coding `chunked`.
    Chunked,
}

/// What a server needs to know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The path, with the query if there is one: `/` and on, whatever form the target had.
    pub target: &'a [u8],
    /// The version of the request line.
    pub version: Version,
    /// Whether a further request may follow on this connection, whatever becomes of the body: never so with `Expect`,
    /// because a client that sees another answer than 100 may send the body or not.
    pub keep_alive: bool,
    /// Whether a further request may follow once the body has been read.
    pub persistent: bool,
    /// There is an `Expect` field: the body may wait for `100 Continue`.
    pub expects: bool,
    /// How the head says where the body ends.
    pub framing: Framing,
    /// The field `Content-Type`, the last one if there are several.
    pub content_type: Option<&'a [u8]>,
    /// The lines of all fields, as they stand there, for [`field`].
    pub lines: &'a [u8],
}

impl Request<'_> {
    /// Whether a body, or at least its end, is going to come.
    #[must_use]
    pub fn has_body(&self) -> bool {
        !matches!(self.framing, Framing::None | Framing::Length(0))
    }
}

/// The value of the field `name` (in any case) among `lines`, those of a head that was parsed; of several such fields the
/// values joined by commas (RFC 9110, section 5.3).
#[must_use]
pub fn field<'a>(lines: &'a [u8], name: &[u8]) -> Option<Cow<'a, [u8]>> {
    joined(lines.split(|&byte| byte == b'\n').filter_map(|line| {
        let (found, value) = line.split_at_checked(memchr(b':', line)?)?;
        found.eq_ignore_ascii_case(name).then(|| trim_blanks(value[1..].strip_suffix(b"\r").unwrap_or(&value[1..])))
    }))
}

const fn malformed<T>(what: &'static str) -> Result<T, RequestError> {
    Err(RequestError::Malformed(what))
}

/// A head and what follows from it.
pub(super) struct Parsed<'a> {
    pub request: Request<'a>,
    pub body: Body,
    /// Bytes of the head, the empty line included.
    pub length: usize,
    /// `Connection` has the option `upgrade`.
    pub upgrades: bool,
}

/// Parses the head at the begin of `data`; `None` if it does not end there. An error in a head that does not end yet
/// may or may not be noticed.
#[inline]
pub(super) fn parse(data: &[u8]) -> Result<Option<Parsed<'_>>, RequestError> {
    let (line, after_line) = if data.starts_with(b"GET / HTTP/1.1\r\n") {
        ((Method::Get, &b"/"[..], Version::Http11), 16)
    } else {
        let Some(end) = memchr(b'\n', data) else { return Ok(None) };
        let Some(line) = data[..end].strip_suffix(b"\r") else {
            return malformed("a line that does not end in CRLF");
        };
        (request_line(line)?, end + 1)
    };
    let (method, target, version) = line;
    let mut facts = Facts::default();
    let Some(length) = read_fields(data, after_line, &mut facts)? else { return Ok(None) };
    if version == Version::Http11 && facts.hosts != 1 || facts.hosts > 1 {
        return malformed("exactly one Host field is due");
    }
    let (framing, body) = match (facts.chunked, facts.length) {
        (true, Some(_)) => return malformed("both Content-Length and Transfer-Encoding"),
        (true, None) if version == Version::Http10 => return malformed("Transfer-Encoding in HTTP/1.0"),
        (true, None) => (Framing::Chunked, Body::chunked()),
        (false, None) => (Framing::None, Body::None),
        (false, Some(0)) => (Framing::Length(0), Body::None),
        (false, Some(length)) => (Framing::Length(length), Body::Length(length)),
    };
    let Facts { expects, content_type, .. } = facts;
    let persistent = !facts.close && (version == Version::Http11 || facts.keep_alive);
    let keep_alive = persistent && !expects;
    let lines = &data[after_line..length];
    let request = Request { method, target, version, keep_alive, persistent, expects, framing, content_type, lines };
    Ok(Some(Parsed { request, body, length, upgrades: facts.upgrades }))
}

#[inline]
fn request_line(line: &[u8]) -> Result<(Method, &[u8], Version), RequestError> {
    let mut parts = line.split(|&byte| byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return malformed("the request line is not `method target version`");
    };
    let name = method;
    let method = Method::named(name);
    if method == Method::Other && !is_token(name) {
        return malformed("the method is no token");
    }
    if !target.iter().all(u8::is_ascii_graphic) {
        return malformed("the target has bytes outside of printable ASCII");
    }
    Ok((method, path_of(target, method)?, version_of(version)?))
}

fn version_of(version: &[u8]) -> Result<Version, RequestError> {
    match version {
        b"HTTP/1.0" => Ok(Version::Http10),
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor] if minor.is_ascii_digit() => Ok(Version::Http11),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            Err(RequestError::Version)
        }
        _ => malformed("the request line does not end in a version"),
    }
}

/// The path of a target in origin form, absolute form, or (not for GET and HEAD) authority and asterisk form.
fn path_of(target: &[u8], method: Method) -> Result<&[u8], RequestError> {
    if target.first() == Some(&b'/') {
        return Ok(target);
    }
    let scheme = target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case(b"http://"));
    match scheme {
        Some(scheme) => {
            let rest = &target[scheme.len()..];
            Ok(memchr(b'/', rest).map_or(b"/", |at| &rest[at..]))
        }
        None if !matches!(method, Method::Get | Method::Head) && !target.is_empty() => Ok(target),
        None => malformed("the target is neither a path nor an http URL"),
    }
}

/// What the fields say that concerns the connection.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each from a field of its own")]
struct Facts<'a> {
    hosts: u32,
    length: Option<u64>,
    content_type: Option<&'a [u8]>,
    chunked: bool,
    close: bool,
    /// `Connection` has the option `upgrade`.
    upgrades: bool,
    keep_alive: bool,
    expects: bool,
}

/// Reads fields from `data[at..]` on; returns where the head ends, `None` if it does not.
#[inline]
fn read_fields<'d>(data: &'d [u8], mut at: usize, facts: &mut Facts<'d>) -> Result<Option<usize>, RequestError> {
    loop {
        let rest = &data[at..];
        if rest.first() == Some(&b'\r') {
            return match rest.get(1) {
                Some(b'\n') => Ok(Some(at + 2)),
                Some(_) => malformed("a line that does not end in CRLF"),
                None => Ok(None),
            };
        }
        let Some(colon) = rest.iter().position(|&byte| !TOKEN[byte as usize]) else { return Ok(None) };
        if colon == 0 || rest[colon] != b':' {
            return malformed("a field that is not `name: value`");
        }
        let Some(end) = line_end(rest, colon + 1)? else { return Ok(None) };
        facts.read(&rest[..colon], &rest[colon + 1..end])?;
        at += end + 2;
    }
}

/// Where the CR of the CRLF is that ends a field's value beginning at `from`.
#[inline]
fn line_end(line: &[u8], from: usize) -> Result<Option<usize>, RequestError> {
    let mut at = from;
    loop {
        let Some(control) = find_control(&line[at..]) else { return Ok(None) };
        at += control;
        match (line[at], line.get(at + 1)) {
            (b'\t', _) => at += 1,
            (b'\r', Some(b'\n')) => return Ok(Some(at)),
            (b'\r', None) => return Ok(None),
            _ => return malformed("a control character in a field value"),
        }
    }
}

/// The first byte below 0x20 or equal to 0x7f, eight bytes at a time: in each byte of `word - 0x20…` the upper bit is
/// set by a borrow alone, unless it was set before (Mycroft's test; exact up to the first hit).
#[inline]
fn find_control(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let mut at = 0;
    // The compiler makes two vector comparisons of each block.
    while let Some(block) = bytes.get(at..at + 32)
        && block.iter().fold(0, |found, &byte| found | u8::from(byte < 0x20) | u8::from(byte == 0x7f)) == 0
    {
        at += 32;
    }
    while let Some(eight) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes(eight.try_into().unwrap_or_default());
        let delete = word ^ (ONES * 0x7f);
        let low = word.wrapping_sub(ONES * 0x20) & !word;
        let hits = (low | delete.wrapping_sub(ONES) & !delete) & HIGH;
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..].iter().position(|&byte| byte < 0x20 || byte == 0x7f).map(|more| at + more)
}

/// The value of `HTTP2-Settings` in a head that was parsed, if its `Upgrade` has the protocol `h2c`.
#[cold]
pub(super) fn h2_settings(head: &[u8]) -> Option<&[u8]> {
    let of_name = |wanted: &[u8]| {
        let lines = head.split(|&byte| byte == b'\n');
        let mut pairs = lines.filter_map(|line| line.split_at_checked(memchr(b':', line)?));
        let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
        Some(trim_blanks(value[1..].strip_suffix(b"\r").unwrap_or(value)))
    };
    let is_h2c = |protocol: &[u8]| trim_blanks(protocol) == b"h2c";
    let wanted = of_name(b"upgrade")?.split(|&byte| byte == b',').any(is_h2c);
    of_name(b"http2-settings").filter(|_| wanted)
}

impl<'a> Facts<'a> {
    #[inline]
    fn read(&mut self, name: &[u8], value: &'a [u8]) -> Result<(), RequestError> {
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => self.hosts += 1,
            6 if name.eq_ignore_ascii_case(b"expect") => self.expects = true,
            10 if name.eq_ignore_ascii_case(b"connection") => self.read_connection(value),
            12 if name.eq_ignore_ascii_case(b"content-type") => self.content_type = Some(trim_blanks(value)),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.read_length(trim_blanks(value))?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.read_coding(trim_blanks(value))?,
            _ => {}
        }
        Ok(())
    }

    fn read_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(trim_blanks) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.upgrades |= option.eq_ignore_ascii_case(b"upgrade");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn read_length(&mut self, value: &[u8]) -> Result<(), RequestError> {
        if value.is_empty() || value.len() > 18 || !value.iter().all(u8::is_ascii_digit) {
            return malformed("Content-Length is no number");
        }
        let length = value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        match self.length.replace(length) {
            Some(before) if before != length => malformed("two different Content-Length fields"),
            _ => Ok(()),
        }
    }

    fn read_coding(&mut self, value: &[u8]) -> Result<(), RequestError> {
        if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(RequestError::TransferCoding);
        }
        self.chunked = true;
        Ok(())
    }
}

/// Which bytes RFC 9110, 5.6.2 allows in a token.
const TOKEN: [bool; 256] = {
    let mut allowed = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        allowed[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < marks.len() {
        allowed[marks[at] as usize] = true;
        at += 1;
    }
    allowed
};

/// Without the spaces and tabs at both ends; other white space is no part of the grammar.
#[inline]
fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let Some(first) = bytes.iter().position(|byte| !blank(byte)) else { return &[] };
    let last = bytes.iter().rposition(|byte| !blank(byte)).unwrap_or(first);
    &bytes[first..=last]
}

#[inline]
fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| TOKEN[byte as usize])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::find_control;

    proptest! {
        #[test]
        fn the_first_control_character_is_found_wherever_it_stands(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let plain = bytes.iter().position(|&byte| byte < 0x20 || byte == 0x7f);
            prop_assert_eq!(find_control(&bytes), plain);
            let printable: Vec<u8> = bytes.iter().map(|byte| byte | 0x80).collect();
            prop_assert_eq!(find_control(&printable), None);
        }
    }
}
