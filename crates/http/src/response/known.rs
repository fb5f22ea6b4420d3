//! The common case at a glance: a response that arrives in one piece and whose every byte is known already.

use super::{ResponseParser, State};

impl ResponseParser {
    /// Whether the next byte begins a response.
    #[inline]
    #[must_use]
    pub fn at_start(&self) -> bool {
        self.state == State::Head && self.section_bytes == 0 && (self.partial.is_empty() || self.partial_used)
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
    use super::Known;

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

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
        fn a_parser_is_at_the_start_just_where_a_response_has_ended(cuts in prop::collection::vec(1_usize..60, 1..20)) {
            let (mut parser, mut cache) = (ResponseParser::new(false), HeadCache::default());
            let stream = HELLO.repeat(20);
            let (mut rest, mut taken) = (stream.as_slice(), 0);
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                let mut data = piece;
                while let Some(event) = parser.advance(&mut cache, &mut data).expect("well-formed") {
                    prop_assert!(!matches!(event, Event::End(false)));
                }
                taken += piece.len();
                rest = after;
                prop_assert_eq!(parser.at_start(), taken % HELLO.len() == 0, "after {} bytes", taken);
            }
        }
    }
}
