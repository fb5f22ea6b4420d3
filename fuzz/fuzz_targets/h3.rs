//! One stream of HTTP/3 means the same whole and byte by byte, and field sections survive being written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photofinish_http::fields::Fields;
use photofinish_http::h3::{Control, Event, Message, Role, Sections, qpack};

/// Events as text, data joined.
fn read<'d>(mut message: Message, pieces: impl Iterator<Item = &'d [u8]>) -> (Vec<String>, Vec<u8>) {
    let (mut events, mut data, mut sections) = (Vec::new(), Vec::new(), Sections::new(4096));
    for mut piece in pieces.map(|piece| (piece, false)).chain([(&[][..], true)]) {
        loop {
            match message.advance(&mut piece.0, piece.1, &mut sections) {
                Ok(None) => break,
                Ok(Some(Event::Data(bytes))) => data.extend_from_slice(bytes),
                Ok(Some(Event::Head)) => {
                    write_again(sections.fields());
                    events.push(format!("{:?}", sections.fields()));
                }
                Ok(Some(Event::End)) => events.push("end".to_owned()),
                Err(error) => events.push(error.to_string()),
            }
        }
    }
    (events, data)
}

fn write_again(fields: &Fields) {
    if fields.too_large() {
        // What is cut off was not checked: its names may have capitals.
        return;
    }
    let (mut section, mut again) = (Vec::new(), Fields::new(1 << 20));
    qpack::begin(&mut section);
    fields.iter().for_each(|(name, value)| qpack::encode(&mut section, name, value));
    qpack::decode(&section, &mut again).expect("what we write can be read");
    assert!(fields.iter().eq(again.iter()));
}

fn control<'d>(role: Role, pieces: impl Iterator<Item = &'d [u8]>) -> String {
    let mut control = Control::new(role);
    let outcome = pieces.map(|piece| control.received(2, piece, false)).find_map(Result::err);
    format!("{:?} {:?} {:?}", outcome.map(|error| error.code), control.peer_settings(), control.peer_left_at())
}

fuzz_target!(|input: &[u8]| {
    let Some((which, bytes)) = input.split_first() else { return };
    let whole = || std::iter::once(bytes);
    match which % 4 {
        0 => assert_eq!(read(Message::request(), bytes.chunks(1)), read(Message::request(), whole())),
        1 => assert_eq!(read(Message::response(false), bytes.chunks(1)), read(Message::response(false), whole())),
        2 => assert_eq!(control(Role::Server, bytes.chunks(1)), control(Role::Server, whole())),
        _ => assert_eq!(control(Role::Client, bytes.chunks(1)), control(Role::Client, whole())),
    }
});
