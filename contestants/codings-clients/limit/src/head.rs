//! The little of a response's head that it takes to find the end of its body, and to decode it.

use crate::coding::Coding;

/// What has to be known before the body can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    /// Length of the head in bytes, its empty line included.
    pub bytes: usize,
    pub content_length: usize,
    pub coding: Coding,
}

/// Reads heads, and remembers the last one: what is byte for byte the same says the same.
#[derive(Default)]
pub struct Heads {
    bytes: Vec<u8>,
    last: Option<Head>,
}

impl Heads {
    /// [`parse`], or what it said before.
    pub fn read(&mut self, received: &[u8]) -> Result<Option<Head>, &'static str> {
        if self.last.is_none() || !received.starts_with(&self.bytes) {
            self.last = parse(received)?;
            self.bytes.clear();
            self.bytes.extend_from_slice(&received[..self.last.map_or(0, |head| head.bytes)]);
        }
        Ok(self.last)
    }
}

/// Reads a head that begins `received`; `None` as long as its end is not there.
///
/// # Errors
/// What is wrong with a head whose end is there: no HTTP/1.1, no status, no usable `Content-Length` or `Content-Encoding`.
fn parse(received: &[u8]) -> Result<Option<Head>, &'static str> {
    let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let mut lines = received[..end].split(|&byte| byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let status = first
        .strip_prefix(b"HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .and_then(number)
        .ok_or("the response does not begin with HTTP/1.1 and a status")?;
    let (mut length, mut coding) = (None, None);
    for line in lines {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let read = number(value).and_then(|length| usize::try_from(length).ok());
            if length.replace(read.ok_or("the Content-Length is no number")?).is_some() {
                return Err("the response has two Content-Lengths");
            }
        } else if name.eq_ignore_ascii_case(b"content-encoding")
            && coding.replace(Coding::named(value).ok_or("there is no decoder for this Content-Encoding")?).is_some()
        {
            return Err("the response has two Content-Encodings");
        }
    }
    Ok(Some(Head {
        status: u16::try_from(status).map_err(|_| "the status is out of range")?,
        bytes: end + 4,
        content_length: length.ok_or("the response has no Content-Length")?,
        coding: coding.unwrap_or(Coding::Identity),
    }))
}

/// A decimal number of nothing but digits.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::{Coding, Head, Heads, parse};

    const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-encoding:br\r\ncontent-LENGTH:  12 \r\n\r\nHello World!";

    #[test]
    fn a_head_is_found_once_its_empty_line_is_there_and_never_before() {
        let head = Head { status: 200, bytes: GOOD.len() - 12, content_length: 12, coding: Coding::Br };
        for cut in 0..=GOOD.len() {
            let expected = (cut >= head.bytes).then_some(head);
            assert_eq!(parse(&GOOD[..cut]), Ok(expected), "cut at {cut}");
        }
    }

    #[test]
    fn a_head_that_was_read_before_says_the_same_and_any_other_is_read_anew() {
        let mut heads = Heads::default();
        let other = b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nnop";
        for received in [GOOD, GOOD, other, &GOOD[..20], b"HTTP/1.1 200 OK\r\n\r\n", GOOD, &GOOD[..GOOD.len() - 12]] {
            assert_eq!(heads.read(received), parse(received));
        }
    }

    #[test]
    fn a_body_whose_end_or_coding_can_not_be_known_is_an_error() {
        for bad in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Encoding: lzma\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Encoding: br\r\nContent-Encoding: br\r\n\r\n",
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 2x0 OK\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 20\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn no_change_of_one_byte_breaks_the_parser() {
        for place in 0..GOOD.len() {
            for byte in 0..=u8::MAX {
                let mut changed = GOOD.to_vec();
                changed[place] = byte;
                if let Ok(Some(head)) = parse(&changed) {
                    assert!(head.bytes <= changed.len());
                }
            }
        }
    }
}
