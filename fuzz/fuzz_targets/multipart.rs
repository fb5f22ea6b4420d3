//! A form means the same whole and byte by byte. The first line is its Content-Type, the rest its body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photofinish_http::multipart::{Event, MultipartError, MultipartReader, PartHead, boundary_of};

/// Each part with its content and whether it has ended, and how the body did.
type Found = (Vec<(PartHead, Vec<u8>, bool)>, Result<(), MultipartError>);

fn read<'d>(boundary: &[u8], pieces: impl Iterator<Item = &'d [u8]>) -> Option<Found> {
    let (mut reader, mut parts) = (MultipartReader::new(boundary).ok()?, Vec::<(PartHead, Vec<u8>, bool)>::new());
    for piece in pieces {
        let outcome = reader.read(piece, |event| match event {
            Event::Part(head) => parts.push((head, Vec::new(), false)),
            Event::Data(bytes) => parts.last_mut().expect("inside of a part").1.extend_from_slice(bytes),
            Event::PartEnd => parts.last_mut().expect("inside of a part").2 = true,
        });
        if outcome.is_err() {
            return Some((parts, outcome));
        }
    }
    let end = reader.end();
    Some((parts, end))
}

fuzz_target!(|bytes: &[u8]| {
    let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (content_type, body) = (&bytes[..line], bytes.get(line + 1..).unwrap_or_default());
    let found = boundary_of(content_type).ok().flatten();
    let boundary = found.as_deref().unwrap_or(b"b");
    assert_eq!(read(boundary, body.chunks(1)), read(boundary, std::iter::once(body)));
});
