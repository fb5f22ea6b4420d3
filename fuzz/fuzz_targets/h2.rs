//! What a client sends over HTTP/2 means the same whole and byte by byte, and what it is told is well-formed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photofinish_http::h2::frame::PREFACE;
use photofinish_http::h2::{Connection, Event, FrameReader, Limits};

/// Events as text, data joined, and the output.
type Found = (Vec<String>, Vec<(u32, Vec<u8>)>, Vec<u8>);

fn read<'d>(pieces: impl Iterator<Item = &'d [u8]>) -> Found {
    let limits = Limits { stream_window: 1_000, connection_window: 65_535, most_streams: 4, ..Limits::default() };
    let mut server = Connection::server(limits);
    let (mut events, mut data) = (Vec::new(), Vec::<(u32, Vec<u8>)>::new());
    for mut piece in pieces {
        loop {
            match server.advance(&mut piece) {
                Ok(None) => break,
                Ok(Some(Event::Data { stream, bytes })) => match data.last_mut() {
                    Some(last) if last.0 == stream => last.1.extend_from_slice(bytes),
                    _ => data.push((stream, bytes.to_vec())),
                },
                Ok(Some(event)) => {
                    events.push(format!("{event:?} {:?}", server.fields()));
                    if let Event::Head { stream, .. } = event
                        && stream % 3 == 0
                    {
                        server.respond(stream, 200, [], stream % 9 == 0);
                    }
                }
                Err(error) => events.push(format!("{error}")),
            }
        }
    }
    (events, data, std::mem::take(server.output()))
}

fuzz_target!(|bytes: &[u8]| {
    // Most inputs would fail at the preface.
    let bytes = [PREFACE, &b"\0\0\0\x04\0\0\0\0\0"[..], bytes].concat();
    let whole = read(std::iter::once(&bytes[..]));
    assert_eq!(read(bytes.chunks(1)), whole);
    let (mut reader, mut output) = (FrameReader::new(false), &whole.2[..]);
    while reader.advance(&mut output).expect("what we write is well-formed").is_some() {}
});
