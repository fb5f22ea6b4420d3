//! One complete head.

use memchr::memchr;

use super::RequestError;
use super::body::Body;

/// The methods that a server of fixed resources tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`.
    Head,
    /// Any other token.
    Other,
}

/// The minor version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, or a later minor version that is answered as such.
    Http11,
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
    /// Whether the client allows a further request on this connection.
    pub keep_alive: bool,
}

const fn malformed<T>(what: &'static str) -> Result<T, RequestError> {
    Err(RequestError::Malformed(what))
}

/// Parses `head`, which ends in an empty line; also tells what body follows.
#[inline]
pub(super) fn parse(head: &[u8]) -> Result<(Request<'_>, Body), RequestError> {
    let (line, fields) = split_line(head)?;
    let (method, target, version) = request_line(line)?;
    let facts = read_fields(fields)?;
    if version == Version::Http11 && facts.hosts != 1 || facts.hosts > 1 {
        return malformed("exactly one Host field is due");
    }
    let body = match (facts.chunked, facts.length) {
        (true, Some(_)) => return malformed("both Content-Length and Transfer-Encoding"),
        (true, None) if version == Version::Http10 => return malformed("Transfer-Encoding in HTTP/1.0"),
        (true, None) => Body::chunked(),
        (false, Some(length)) if length > 0 => Body::Length(length),
        (false, _) => Body::None,
    };
    let keep_alive = !facts.close && !facts.expects && (version == Version::Http11 || facts.keep_alive);
    Ok((Request { method, target, version, keep_alive }, body))
}

/// Splits before the first CRLF; both parts are without it.
#[inline]
fn split_line(bytes: &[u8]) -> Result<(&[u8], &[u8]), RequestError> {
    match memchr(b'\n', bytes) {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => Ok((&bytes[..at - 1], &bytes[at + 1..])),
        _ => malformed("a line that does not end in CRLF"),
    }
}

#[inline]
fn request_line(line: &[u8]) -> Result<(Method, &[u8], Version), RequestError> {
    if line == b"GET / HTTP/1.1" {
        return Ok((Method::Get, b"/", Version::Http11));
    }
    let mut parts = line.split(|&byte| byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return malformed("the request line is not `method target version`");
    };
    let method = match method {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        other if is_token(other) => Method::Other,
        _ => return malformed("the method is no token"),
    };
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
        None if method == Method::Other && !target.is_empty() => Ok(target),
        None => malformed("the target is neither a path nor an http URL"),
    }
}

/// What the fields say that concerns the connection.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each from a field of its own")]
struct Facts {
    hosts: u32,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects: bool,
}

#[inline]
fn read_fields(mut fields: &[u8]) -> Result<Facts, RequestError> {
    let mut facts = Facts::default();
    loop {
        let (line, rest) = split_line(fields)?;
        if line.is_empty() {
            return Ok(facts);
        }
        fields = rest;
        let Some(colon) = memchr(b':', line) else { return malformed("a field without a colon") };
        let (name, value) = (&line[..colon], trim_blanks(&line[colon + 1..]));
        if !is_token(name) {
            return malformed("a field name that is no token");
        }
        if !value.iter().all(|&byte| byte >= b' ' && byte != 0x7f || byte == b'\t') {
            return malformed("a control character in a field value");
        }
        // The six names of interest differ in length, but for two.
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => facts.hosts += 1,
            6 if name.eq_ignore_ascii_case(b"expect") => facts.expects = true,
            10 if name.eq_ignore_ascii_case(b"connection") => facts.read_connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => facts.read_length(value)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => facts.read_coding(value)?,
            _ => {}
        }
    }
}

impl Facts {
    fn read_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(trim_blanks) {
            self.close |= option.eq_ignore_ascii_case(b"close");
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
