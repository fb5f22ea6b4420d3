//! What a part's head and the body's `Content-Type` say.

use memchr::memchr;

use super::MultipartError;

/// What is known of one part before its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartHead {
    /// The field's name.
    pub name: String,
    /// The name of the file, if it is one.
    pub filename: Option<String>,
    /// The part's `Content-Type`.
    pub content_type: Option<String>,
}

const fn malformed<T>(what: &'static str) -> Result<T, MultipartError> {
    Err(MultipartError::Malformed(what))
}

/// The boundary that `content_type` names; `None` if it is another type than `multipart/form-data`.
pub fn boundary_of(content_type: &[u8]) -> Result<Option<Vec<u8>>, MultipartError> {
    let (kind, parameters) = split_value(content_type);
    if !kind.eq_ignore_ascii_case(b"multipart/form-data") {
        return Ok(None);
    }
    for parameter in Parameters(parameters) {
        let (name, value) = parameter.map_err(|_| MultipartError::Boundary)?;
        if name.eq_ignore_ascii_case(b"boundary") {
            return Ok(Some(value));
        }
    }
    Err(MultipartError::Boundary)
}

impl PartHead {
    /// Parses the lines of a head, the empty one left out.
    pub(super) fn parse(lines: &[u8]) -> Result<Self, MultipartError> {
        let (mut disposition, mut content_type) = (None, None);
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\r\n") else {
                return malformed("a line in the head of a part that does not end in CRLF");
            };
            let Some(colon) = memchr(b':', line).filter(|&at| at > 0 && line[..at].iter().all(u8::is_ascii_graphic))
            else {
                return malformed("a field in the head of a part that is not `name: value`");
            };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"content-disposition") {
                disposition = Some(Disposition::parse(value)?);
            } else if name.eq_ignore_ascii_case(b"content-type") {
                content_type = Some(text(value));
            }
        }
        match disposition {
            Some(Disposition { name: Some(name), filename }) => Ok(Self { name, filename, content_type }),
            Some(_) => malformed("a part without a name"),
            None => malformed("a part without Content-Disposition"),
        }
    }
}

struct Disposition {
    name: Option<String>,
    filename: Option<String>,
}

impl Disposition {
    fn parse(value: &[u8]) -> Result<Self, MultipartError> {
        let (kind, parameters) = split_value(value);
        if !kind.eq_ignore_ascii_case(b"form-data") {
            return malformed("a part whose disposition is not form-data");
        }
        let (mut name, mut plain, mut extended) = (None, None, None);
        for parameter in Parameters(parameters) {
            let (key, value) = parameter?;
            if key.eq_ignore_ascii_case(b"name") {
                name = Some(text(&unescape(value)));
            } else if key.eq_ignore_ascii_case(b"filename") {
                plain = Some(text(&unescape(value)));
            } else if key.eq_ignore_ascii_case(b"filename*") {
                extended = extended_value(&value);
            }
        }
        // RFC 7578, 4.2 forbids `filename*`; some senders put nothing else.
        Ok(Self { name, filename: plain.or(extended) })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What stands before the first semicolon, and the rest from there on.
fn split_value(value: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b';', value).unwrap_or(value.len());
    (value[..end].trim_ascii(), &value[end..])
}

/// Pairs `; name=value`; the value without its quotes.
struct Parameters<'a>(&'a [u8]);

impl<'a> Iterator for Parameters<'a> {
    type Item = Result<(&'a [u8], Vec<u8>), MultipartError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Nothing between two semicolons, or behind the last one, is no parameter.
        while let Some(rest) = self.0.strip_prefix(b";") {
            self.0 = rest.trim_ascii_start();
        }
        if self.0.is_empty() {
            return None;
        }
        let parameter = self.parameter();
        if parameter.is_err() {
            self.0 = &[];
        }
        Some(parameter)
    }
}

impl<'a> Parameters<'a> {
    fn parameter(&mut self) -> Result<(&'a [u8], Vec<u8>), MultipartError> {
        let Some(equals) = memchr(b'=', self.0) else { return malformed("a parameter without a value") };
        let (name, after) = (self.0[..equals].trim_ascii(), self.0[equals + 1..].trim_ascii_start());
        let (value, rest) = if let Some(quoted) = after.strip_prefix(b"\"") {
            unquote(quoted)?
        } else {
            let end = memchr(b';', after).unwrap_or(after.len());
            (after[..end].trim_ascii_end().to_vec(), &after[end..])
        };
        let rest = rest.trim_ascii_start();
        if name.is_empty() || !(rest.is_empty() || rest.starts_with(b";")) {
            return malformed("a parameter that is not `name=value`");
        }
        self.0 = rest;
        Ok((name, value))
    }
}

/// The value up to its closing quote, and what lies behind. Of backslashes only those before a quote are escapes: browsers
/// write all others as they are.
fn unquote(quoted: &[u8]) -> Result<(Vec<u8>, &[u8]), MultipartError> {
    let mut value = Vec::new();
    let mut rest = quoted;
    loop {
        match rest {
            [b'\\', b'"', after @ ..] => {
                value.push(b'"');
                rest = after;
            }
            [b'"', after @ ..] => return Ok((value, after)),
            [byte, after @ ..] => {
                value.push(*byte);
                rest = after;
            }
            [] => return malformed("a quote that does not end"),
        }
    }
}

/// Undoes what browsers escape in names: the quote and the two line ends (HTML, "multipart/form-data encoding algorithm").
fn unescape(value: Vec<u8>) -> Vec<u8> {
    if memchr(b'%', &value).is_none() {
        return value;
    }
    percent_decoded(&value, |byte| matches!(byte, b'"' | b'\r' | b'\n'))
}

/// `UTF-8''…` of RFC 8187; other character sets are not read.
fn extended_value(value: &[u8]) -> Option<String> {
    let mut pieces = value.splitn(3, |&byte| byte == b'\'');
    let charset = pieces.next()?;
    let encoded = pieces.nth(1)?;
    charset.eq_ignore_ascii_case(b"utf-8").then(|| text(&percent_decoded(encoded, |_| true)))
}

/// Replaces `%XX` where `wanted` holds for the byte that it stands for.
fn percent_decoded(value: &[u8], wanted: impl Fn(u8) -> bool) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let (mut decoded, mut rest) = (Vec::with_capacity(value.len()), value);
    while let [byte, after @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => digit(*high).zip(digit(*low)).map(|(high, low)| (high * 16 + low) as u8),
            _ => None,
        };
        let escaped = escaped.filter(|&escaped| wanted(escaped));
        decoded.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &rest[3..] } else { after };
    }
    decoded
}
