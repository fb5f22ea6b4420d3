//! Requests mean the same whole and byte by byte: heads, bodies and their ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photofinish_http::request::{Flow, Reader, Request, RequestParser};

/// Target, body and whether the body has ended, of each request.
#[derive(Debug, Default, PartialEq)]
struct Found(Vec<(Vec<u8>, Vec<u8>, bool)>);

impl Reader for Found {
    fn head(&mut self, request: &Request<'_>) -> Flow {
        self.0.push((request.target.to_vec(), Vec::new(), !request.has_body()));
        Flow::Continue
    }

    fn body(&mut self, piece: &[u8]) -> Flow {
        assert!(!piece.is_empty());
        let (_, body, ended) = self.0.last_mut().expect("a body has a head");
        assert!(!*ended);
        body.extend_from_slice(piece);
        Flow::Continue
    }

    fn end(&mut self) -> Flow {
        let (_, _, ended) = self.0.last_mut().expect("a body has a head");
        assert!(!std::mem::replace(ended, true));
        Flow::Continue
    }
}

fn read<'d>(pieces: impl Iterator<Item = &'d [u8]>) -> (Found, bool) {
    let (mut parser, mut found) = (RequestParser::default(), Found::default());
    for piece in pieces {
        if parser.read(piece, &mut found).is_err() {
            return (found, false);
        }
    }
    (found, true)
}

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(read(bytes.chunks(1)), read(std::iter::once(bytes)));
});
