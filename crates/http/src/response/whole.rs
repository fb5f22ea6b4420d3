//! The common case at a glance: a response that arrives in one piece, and one whose every byte is known already.

use super::{Framing, Head, HeadCache, ResponseParser, State};

/// A response in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<'d> {
    /// What the head says.
    pub head: Head,
    /// Status line and header fields, up to and including the empty line.
    pub head_bytes: &'d [u8],
    /// The body; empty where none follows.
    pub body: &'d [u8],
}

impl ResponseParser {
    /// Whether the next byte begins a response.
    #[inline]
    #[must_use]
    pub fn at_start(&self) -> bool {
        self.state == State::Head && self.section_bytes == 0 && (self.partial.is_empty() || self.partial_used)
    }

    /// `data` as one response, if it begins with the head that `cache` remembers and ends where that one says. Nothing
    /// changes: the parser stands before the next response, as it would after [`super::Event::End`].
    #[inline]
    #[must_use]
    pub fn whole<'d>(&self, cache: &HeadCache, data: &'d [u8]) -> Option<Whole<'d>> {
        if !self.at_start() {
            return None;
        }
        let (head, length) = cache.lookup(data)?;
        let (head_bytes, body) = data.split_at(length);
        let expected = match head.framing {
            Framing::Length(bytes) if !self.bodiless => bytes,
            Framing::Length(_) | Framing::Bodiless => 0,
            Framing::Chunked | Framing::UntilClose if self.bodiless => 0,
            Framing::Chunked | Framing::UntilClose => return None,
        };
        (body.len() as u64 == expected).then_some(Whole { head, head_bytes, body })
    }
}

/// The bytes of one response to one request, and what a check of them found.
///
/// What a response means depends on nothing but its bytes and the request. One that arrives in one piece and equals one
/// that was checked before needs no parsing and no hashing: comparing all bytes proves more than comparing hashes, at a
/// fraction of the cost.
#[derive(Clone, Debug)]
pub struct Known<T> {
    bytes: Vec<u8>,
    finding: Option<T>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { bytes: Vec::new(), finding: None }
    }
}

impl<T: Copy> Known<T> {
    /// Longer responses are not kept, in bytes: hashing them costs little beside receiving them.
    pub const LONGEST: usize = 16 * 1024;

    /// What was found in a response of just these bytes. Ask only where [`ResponseParser::at_start`] holds.
    #[inline]
    #[must_use]
    pub fn find(&self, data: &[u8]) -> Option<T> {
        if data == self.bytes { self.finding } else { None }
    }

    /// Keeps `finding` for the whole response `data`, in place of what was kept before.
    pub fn keep(&mut self, data: &[u8], finding: T) {
        if data.len() <= Self::LONGEST {
            self.bytes.clear();
            self.bytes.extend_from_slice(data);
            self.finding = Some(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Event, HeadCache, ResponseParser};
    use super::{Known, Whole};

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

    /// A parser and a cache that have seen `first`.
    fn after(first: &[u8], is_head: bool) -> (ResponseParser, HeadCache) {
        let (mut parser, mut cache, mut data) = (ResponseParser::new(is_head), HeadCache::default(), first);
        while let Ok(Some(_)) = parser.advance(&mut cache, &mut data) {}
        (parser, cache)
    }

    #[test]
    fn a_response_in_one_piece_is_seen_once_its_head_is_known() {
        assert_eq!(ResponseParser::new(false).whole(&HeadCache::default(), HELLO), None);
        let (parser, cache) = after(HELLO, false);
        let Whole { head, head_bytes, body } = parser.whole(&cache, HELLO).expect("the same again");
        assert_eq!((head.status, head.keep_alive, head_bytes.len(), body), (200, true, 38, b"hi".as_slice()));
    }

    #[test]
    fn less_or_more_than_one_response_is_not_whole() {
        let (parser, cache) = after(HELLO, false);
        assert_eq!(parser.whole(&cache, &HELLO[..HELLO.len() - 1]), None);
        assert_eq!(parser.whole(&cache, &[HELLO, b"x"].concat()), None);
        assert_eq!(parser.whole(&cache, b""), None);
        let (within, cache) = after(&[HELLO, &HELLO[..20]].concat(), false);
        assert!(!within.at_start());
        assert_eq!(within.whole(&cache, HELLO), None);
    }

    #[test]
    fn the_end_of_a_chunked_or_endless_body_is_for_the_parser_to_find() {
        for head in [&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..], b"HTTP/1.1 200 OK\r\n\r\n"] {
            let (_, cache) = after(head, false);
            assert_eq!(ResponseParser::new(false).whole(&cache, head), None);
            let to_head = ResponseParser::new(true).whole(&cache, head).expect("no body follows");
            assert_eq!(to_head.body, b"");
        }
    }

    #[test]
    fn a_known_response_is_found_by_all_its_bytes() {
        let mut known = Known::default();
        assert_eq!((known.find(HELLO), known.find(b"")), (None, None));
        known.keep(HELLO, 2_u64);
        assert_eq!((known.find(HELLO), known.find(&HELLO[1..])), (Some(2), None));
        known.keep(&vec![b'x'; Known::<u64>::LONGEST + 1], 3);
        assert_eq!(known.find(HELLO), Some(2));
    }

    proptest! {
        #[test]
        fn what_is_whole_is_what_the_parser_would_have_found(
            length in 0_usize..40,
            more in 0_usize..40,
            is_head in any::<bool>(),
            close in any::<bool>(),
        ) {
            let field = if close { "Connection: close\r\n" } else { "" };
            let head = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: {length}\r\n\r\n");
            let data = [head.as_bytes(), &vec![b'b'; more]].concat();
            let (_, mut cache) = after(head.as_bytes(), is_head);
            let mut parser = ResponseParser::new(is_head);
            let whole = parser.whole(&cache, &data);
            let (mut rest, mut body, mut found) = (data.as_slice(), Vec::new(), None);
            while let Some(event) = parser.advance(&mut cache, &mut rest).expect("well-formed") {
                match event {
                    Event::Head(head, bytes) => found = Some((head, bytes.to_vec())),
                    Event::Body(bytes, _) => body.extend_from_slice(bytes),
                    Event::End(_) if rest.is_empty() => {
                        let (head, head_bytes) = found.expect("a head first");
                        prop_assert_eq!(whole, Some(Whole { head, head_bytes: &head_bytes, body: &body }));
                        prop_assert!(parser.at_start());
                        return Ok(());
                    }
                    Event::End(_) => break,
                }
            }
            prop_assert_eq!(whole, None);
        }
    }
}
