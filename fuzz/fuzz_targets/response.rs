//! A response means the same whole and byte by byte, whether the method was HEAD or not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photofinish_http::response::{AtClose, Event, HeadCache, ResponseParser};

/// Status and body of each response, whether there was an error, and what the end of the connection means.
type Found = (Vec<(u16, Vec<u8>, Option<bool>)>, bool, AtClose);

fn parse<'d>(slices: impl Iterator<Item = &'d [u8]>, is_head: bool) -> Found {
    let (mut parser, mut cache) = (ResponseParser::new(is_head), HeadCache::default());
    let mut responses = Vec::new();
    for slice in slices {
        let mut data = slice;
        loop {
            match parser.advance(&mut cache, &mut data) {
                Ok(Some(Event::Head(head, _))) => responses.push((head.status, Vec::new(), None)),
                Ok(Some(Event::Body(bytes, _))) => responses.last_mut().unwrap().1.extend_from_slice(bytes),
                Ok(Some(Event::End(reusable))) => responses.last_mut().unwrap().2 = Some(reusable),
                Ok(None) => break,
                Err(_) => return (responses, true, AtClose::Early),
            }
        }
    }
    (responses, false, parser.close())
}

fuzz_target!(|bytes: &[u8]| {
    for is_head in [false, true] {
        assert_eq!(parse(bytes.chunks(1), is_head), parse(std::iter::once(bytes), is_head));
    }
});
