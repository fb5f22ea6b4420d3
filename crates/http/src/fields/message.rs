//! What makes a request or response malformed (RFC 9113, section 8; RFC 9114, 4.1.2).

use super::Fields;

/// A message that must not be passed on; its stream is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Fields that concern the connection and have no place here (RFC 9113, 8.2.2; RFC 9114, 4.2).
const OF_CONNECTIONS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

/// Checks the head of a request; returns its Content-Length.
pub(crate) fn check_request(fields: &Fields) -> Result<Option<u64>, Malformed> {
    let [mut method, mut scheme, mut authority, mut path] = [None; 4];
    let length = check(fields, |name, value| {
        let place = match name {
            b":method" => &mut method,
            b":scheme" => &mut scheme,
            b":authority" => &mut authority,
            b":path" => &mut path,
            _ => return Err(Malformed),
        };
        // Each at most once.
        if place.replace(value).is_some() { Err(Malformed) } else { Ok(()) }
    })?;
    let complete = match method {
        Some(b"CONNECT") => scheme.is_none() && path.is_none() && authority.is_some(),
        Some(_) => scheme.is_some() && path.is_some_and(|path| !path.is_empty()),
        None => false,
    };
    if complete { Ok(length) } else { Err(Malformed) }
}

/// Checks the head of a response; returns its status and its Content-Length.
pub(crate) fn check_response(fields: &Fields) -> Result<(u16, Option<u64>), Malformed> {
    let mut status = None;
    let length = check(fields, |name, value| match (name, value) {
        (b":status", [first @ b'1'..=b'9', second @ b'0'..=b'9', third @ b'0'..=b'9']) if status.is_none() => {
            let digits = [first, second, third];
            status = Some(digits.iter().fold(0, |sum, &&digit| sum * 10 + u16::from(digit - b'0')));
            Ok(())
        }
        _ => Err(Malformed),
    })?;
    status.map(|status| (status, length)).ok_or(Malformed)
}

/// Checks trailers, which have no pseudo-fields.
pub(crate) fn check_trailers(fields: &Fields) -> Result<(), Malformed> {
    check(fields, |_, _| Err(Malformed)).map(|_| ())
}

/// Checks what holds for all lists; hands the pseudo-fields to `pseudo`; returns the Content-Length.
fn check<'f>(
    fields: &'f Fields,
    mut pseudo: impl FnMut(&'f [u8], &'f [u8]) -> Result<(), Malformed>,
) -> Result<Option<u64>, Malformed> {
    let (mut regular, mut length) = (false, None);
    for (name, value) in fields.iter() {
        if !is_value(value) {
            return Err(Malformed);
        }
        if name.first() == Some(&b':') {
            if regular {
                return Err(Malformed);
            }
            pseudo(name, value)?;
            continue;
        }
        regular = true;
        if !is_name(name) || OF_CONNECTIONS.contains(&name) || name == b"te" && value != b"trailers" {
            return Err(Malformed);
        }
        if name == b"content-length" {
            let said = number(value)?;
            if length.replace(said).is_some_and(|before| before != said) {
                return Err(Malformed);
            }
        }
    }
    Ok(length)
}

/// A token (RFC 9110, 5.6.2) without capitals.
fn is_name(name: &[u8]) -> bool {
    let mark = |byte| b"!#$%&'*+-.^_`|~".contains(byte);
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || mark(byte))
}

/// Without NUL, CR and LF, and without blanks at its ends (RFC 9113, 8.2.1).
fn is_value(value: &[u8]) -> bool {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !blank(value.first()) && !blank(value.last()) && !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
}

fn number(value: &[u8]) -> Result<u64, Malformed> {
    if value.is_empty() || value.len() > 18 || !value.iter().all(u8::is_ascii_digit) {
        return Err(Malformed);
    }
    Ok(value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::super::Fields;
    use super::{Malformed, check_request, check_response, check_trailers};

    fn list(pairs: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::new(10_000);
        for (name, value) in pairs {
            fields.push(name.as_bytes(), value.as_bytes());
        }
        fields
    }

    const GET: [(&str, &str); 3] = [(":method", "GET"), (":scheme", "http"), (":path", "/")];

    fn get_with(name: &str, value: &str) -> Result<Option<u64>, Malformed> {
        check_request(&list(&[&GET[..], &[(name, value)]].concat()))
    }

    #[test]
    fn a_request_has_method_scheme_and_path_once_and_first() {
        assert_eq!(get_with("accept", "*/*"), Ok(None));
        assert_eq!(get_with(":authority", "a"), Ok(None));
        assert_eq!(get_with(":path", "/"), Err(Malformed));
        assert_eq!(get_with(":status", "200"), Err(Malformed));
        for without in 0..3 {
            let mut pairs = GET.to_vec();
            pairs.remove(without);
            assert_eq!(check_request(&list(&pairs)), Err(Malformed));
        }
        assert_eq!(check_request(&list(&[("a", "b"), GET[0], GET[1], GET[2]])), Err(Malformed));
        assert_eq!(check_request(&list(&[GET[0], GET[1], (":path", "")])), Err(Malformed));
        assert_eq!(check_request(&list(&[(":method", "CONNECT"), (":authority", "a:1")])), Ok(None));
    }

    #[test]
    fn fields_that_have_no_place_behind_http_1_are_malformed() {
        for (name, value) in [
            ("connection", "close"),
            ("transfer-encoding", "chunked"),
            ("te", "gzip"),
            ("Accept", "*/*"),
            ("a b", "c"),
            ("", "c"),
            ("a", " b"),
            ("a", "b\t"),
            ("a", "b\r\nc: d"),
            ("content-length", "1x"),
            ("content-length", ""),
        ] {
            assert_eq!(get_with(name, value), Err(Malformed), "{name}: {value}");
        }
        assert_eq!(get_with("te", "trailers"), Ok(None));
        assert_eq!(get_with("content-length", "12"), Ok(Some(12)));
    }

    #[test]
    fn a_response_has_a_status_and_trailers_have_none() {
        assert_eq!(check_response(&list(&[(":status", "204")])), Ok((204, None)));
        assert_eq!(check_response(&list(&[(":status", "200"), ("content-length", "5")])), Ok((200, Some(5))));
        for status in ["20", "2000", "abc", "099"] {
            assert_eq!(check_response(&list(&[(":status", status)])), Err(Malformed));
        }
        assert_eq!(check_response(&list(&[("a", "b")])), Err(Malformed));
        assert_eq!(check_trailers(&list(&[("a", "b")])), Ok(()));
        assert_eq!(check_trailers(&list(&[(":status", "200")])), Err(Malformed));
    }
}
