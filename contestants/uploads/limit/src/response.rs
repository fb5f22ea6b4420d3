//! The least that one must know of a response: where it ends, its status, and whether the connection goes on.

use crate::failure::Failure;

/// What a response's head says.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    /// Bytes from the start of the head to the end of the body.
    pub whole_bytes: u64,
    pub closes: bool,
}

/// Reads the head at the start of `received`; `None` as long as its end has not come.
pub fn head(received: &[u8]) -> Result<Option<Head>, Failure> {
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let text = str::from_utf8(&received[..end]).map_err(|_| Failure::Response("has a head that is not UTF-8"))?;
    let mut lines = text.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 "))
        .and_then(|rest| rest.get(..3)?.parse().ok())
        .ok_or(Failure::Response("does not begin with HTTP/1.1 and a status"))?;
    let (mut length, mut closes) = (None, false);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok();
        } else if name.eq_ignore_ascii_case("connection") {
            closes |= value.trim().eq_ignore_ascii_case("close");
        }
    }
    let length = length.ok_or(Failure::Response("has no Content-Length that could be read"))?;
    let whole_bytes = (end as u64 + 4).checked_add(length).ok_or(Failure::Response("has a Content-Length past all"))?;
    Ok(Some(Head { status, whole_bytes, closes }))
}

#[cfg(test)]
mod tests {
    use super::{Head, head};

    const WHOLE: &[u8] = b"HTTP/1.1 413 Content Too Large\r\ncontent-LENGTH: 2\r\nConnection: close\r\n\r\n{}";

    #[test]
    fn a_head_says_its_status_its_length_and_that_the_server_closes() {
        let expected = Head { status: 413, whole_bytes: WHOLE.len() as u64, closes: true };
        assert_eq!(head(WHOLE).unwrap(), Some(expected));
    }

    #[test]
    fn a_head_that_is_cut_anywhere_is_not_yet_a_head() {
        for cut in 0..WHOLE.len() - 2 {
            assert_eq!(head(&WHOLE[..cut]).unwrap(), None, "cut at {cut}");
        }
    }

    #[test]
    fn a_response_without_a_length_or_a_status_is_refused() {
        for bad in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 2é0 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 20\r\nContent-Length: 0\r\n\r\n",
            "ICY 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
        ] {
            assert!(head(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }
}
