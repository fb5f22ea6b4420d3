//! The bytes of the one request that a load consists of.

/// Why a request can't be written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The method is not a token.
    #[error("`{0}` is no HTTP method: use a word such as GET or HEAD")]
    Method(String),
    /// The path is not an absolute path of visible ASCII.
    #[error("`{0}` is no request path: it must begin with `/`; percent-encode spaces and what is not ASCII")]
    Path(String),
    /// A header field can't be sent as it is.
    #[error("`{0}` is no header field: use `name: value` without line breaks")]
    Field(String),
    /// A field that the engine must decide itself.
    #[error("`{0}` can't be set: the engine sends requests without a body over connections that it keeps")]
    Reserved(String),
}

/// A request without body, ready to be sent any number of times.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The bytes on the wire; they live as long as the process, so that no send copies them.
    pub bytes: &'static [u8],
    /// Whether the method is HEAD: its responses have no body.
    pub is_head: bool,
}

impl Request {
    /// Builds the request. `Host` is `authority` unless `fields` has one. The bytes are leaked: build once a target.
    pub fn build(method: &str, authority: &str, path: &str, fields: &[(String, String)]) -> Result<Self, RequestError> {
        if method.is_empty() || !method.bytes().all(is_token) {
            return Err(RequestError::Method(method.to_owned()));
        }
        if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(RequestError::Path(path.to_owned()));
        }
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.extend(["Host: ", authority, "\r\n"]);
        }
        for (name, value) in fields {
            if name.is_empty() || !name.bytes().all(is_token) || value.chars().any(|c| c.is_control() && c != '\t') {
                return Err(RequestError::Field(format!("{name}: {value}")));
            }
            let reserved = ["content-length", "transfer-encoding", "upgrade", "expect"];
            if reserved.iter().any(|word| name.eq_ignore_ascii_case(word)) {
                return Err(RequestError::Reserved(name.clone()));
            }
            text.extend([name, ": ", value, "\r\n"]);
        }
        text += "\r\n";
        Ok(Self { bytes: Box::leak(text.into_bytes().into_boxed_slice()), is_head: method == "HEAD" })
    }
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
    fn what_would_break_the_framing_is_refused() {
        assert!(matches!(Request::build("GE T", "a", "/", &[]), Err(RequestError::Method(_))));
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
