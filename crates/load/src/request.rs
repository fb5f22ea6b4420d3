//! The bytes of a request that never changes, and the rules that every request keeps.

/// Why a request can't be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The method is not a token.
    #[error("`{0}` is no HTTP method: use a word such as GET or HEAD")]
    Method(String),
    /// The method is CONNECT.
    #[error("CONNECT opens tunnels and can't be a load: use GET or HEAD")]
    Tunnel,
    /// The path is not an absolute path of visible ASCII.
    #[error("`{0}` is no request path: it must begin with `/`; percent-encode spaces and what is not ASCII")]
    Path(String),
    /// A header field can't be sent as it is.
    #[error("`{0}` is no header field: use `name: value` without line breaks")]
    Field(String),
    /// A field that the engine must decide itself.
    #[error("`{0}` can't be set: the engine states the length of the body itself and keeps its connections")]
    Reserved(String),
}

/// A request, ready to be sent any number of times.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The bytes on the wire; they live as long as the process, so that no send copies them.
    pub bytes: &'static [u8],
    /// Whether the method is HEAD: its responses have no body.
    pub is_head: bool,
}

impl Request {
    /// Builds a request without body. `Host` is `authority` unless `fields` has one. The bytes are leaked: build once a
    /// target.
    pub fn build(method: &str, authority: &str, path: &str, fields: &[(String, String)]) -> Result<Self, RequestError> {
        Self::with_body(method, authority, path, fields, None)
    }

    /// As [`Request::build`], with a body and its `Content-Length`.
    pub fn with_body(
        method: &str,
        authority: &str,
        path: &str,
        fields: &[(String, String)],
        body: Option<&[u8]>,
    ) -> Result<Self, RequestError> {
        check_method(method)?;
        if !path.starts_with('/') || !path.bytes().all(fits_path) {
            return Err(RequestError::Path(path.to_owned()));
        }
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        if !has_host(fields) {
            text.extend(["Host: ", authority, "\r\n"]);
        }
        for (name, value) in fields {
            check_field_name(name)?;
            if !value.bytes().all(fits_field) {
                return Err(RequestError::Field(format!("{name}: {value}")));
            }
            text.extend([name, ": ", value, "\r\n"]);
        }
        let mut bytes = text.into_bytes();
        if states_length(method, body.is_some()) {
            bytes.extend(format!("Content-Length: {}\r\n", body.unwrap_or_default().len()).bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body.unwrap_or_default());
        Ok(Self { bytes: Box::leak(bytes.into_boxed_slice()), is_head: method == "HEAD" })
    }
}

/// Any token but CONNECT.
pub(crate) fn check_method(method: &str) -> Result<(), RequestError> {
    if method.is_empty() || !method.bytes().all(is_token) {
        return Err(RequestError::Method(method.to_owned()));
    }
    if method == "CONNECT" { Err(RequestError::Tunnel) } else { Ok(()) }
}

/// A token that is none of the fields which frame the message or end its connection's use.
pub(crate) fn check_field_name(name: &str) -> Result<(), RequestError> {
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(RequestError::Field(format!("{name}: …")));
    }
    let reserved = ["content-length", "transfer-encoding", "upgrade", "expect"];
    if reserved.iter().any(|word| name.eq_ignore_ascii_case(word)) {
        return Err(RequestError::Reserved(name.to_owned()));
    }
    Ok(())
}

/// Whether one of the fields is `Host`.
pub(crate) fn has_host(fields: &[(String, String)]) -> bool {
    fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"))
}

/// Whether `Content-Length` is sent: with every body, and without one where the method promises it (RFC 9110, 8.6).
pub(crate) fn states_length(method: &str, has_body: bool) -> bool {
    has_body || matches!(method, "POST" | "PUT" | "PATCH")
}

/// Whether the byte may stand in a request's path.
pub(crate) const fn fits_path(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

/// Whether the byte may stand in a field's value.
pub(crate) const fn fits_field(byte: u8) -> bool {
    byte == b'\t' || !byte.is_ascii_control()
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn a_request_has_a_host_and_the_fields_as_given() {
        let request = Request::build("GET", "a:80", "/x?y", &field("Accept", "*/*")).unwrap();
        assert_eq!(request.bytes, b"GET /x?y HTTP/1.1\r\nHost: a:80\r\nAccept: */*\r\n\r\n");
        let request = Request::build("HEAD", "a", "/", &field("host", "b")).unwrap();
        assert_eq!(request.bytes, b"HEAD / HTTP/1.1\r\nhost: b\r\n\r\n");
        assert!(request.is_head);
    }

    #[test]
    fn a_body_comes_with_its_length_and_a_method_that_promises_one_states_none() {
        let request = Request::with_body("PUT", "a", "/", &[], Some(b"\0x\n")).unwrap();
        assert_eq!(request.bytes, b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n\0x\n");
        let request = Request::build("POST", "a", "/", &[]).unwrap();
        assert_eq!(request.bytes, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    }

    #[test]
    fn what_would_break_the_framing_is_refused() {
        assert!(matches!(Request::build("GE T", "a", "/", &[]), Err(RequestError::Method(_))));
        assert!(matches!(Request::build("CONNECT", "a", "/", &[]), Err(RequestError::Tunnel)));
        assert!(matches!(Request::build("GET", "a", "x", &[]), Err(RequestError::Path(_))));
        assert!(matches!(Request::build("GET", "a", "/ x", &[]), Err(RequestError::Path(_))));
        assert!(matches!(Request::build("GET", "a", "/", &field("A", "b\r\nC: d")), Err(RequestError::Field(_))));
        assert!(matches!(Request::build("GET", "a", "/", &field("a:", "b")), Err(RequestError::Field(_))));
        assert!(matches!(
            Request::build("GET", "a", "/", &field("content-Length", "1")),
            Err(RequestError::Reserved(_))
        ));
    }
}
