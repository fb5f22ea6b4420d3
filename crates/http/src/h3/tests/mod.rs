//! The codec against itself, against bytes cut in any way, and against peers that break the rules.

mod control;
mod cuts;
mod rules;

use super::frame::{write_data_head, write_head};
use super::{DEFAULT_LIST_BYTES, ErrorCode, Event, H3Error, Message, Scope, Sections, write_request, write_response};

/// An event with what it lends.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Head(Vec<(String, String)>),
    Data(Vec<u8>),
    End,
    Failed(Scope, ErrorCode),
}

const GET: [(&str, &str); 4] = [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "/")];

fn pairs<'f>(fields: &'f [(&'f str, &'f str)]) -> impl Iterator<Item = (&'f [u8], &'f [u8])> {
    fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))
}

fn request(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    write_request(&mut out, pairs(fields));
    out
}

fn response(status: u16, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    write_response(&mut out, status, pairs(fields));
    out
}

fn data(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_data_head(&mut out, bytes.len() as u64);
    out.extend_from_slice(bytes);
    out
}

/// A frame of any type.
fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_head(&mut out, kind, payload.len() as u64);
    out.extend_from_slice(payload);
    out
}

fn head(fields: &[(&str, &str)]) -> Seen {
    Seen::Head(fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Reads all of `pieces`, then the end of the stream if there is to be one; adjacent data becomes one.
fn feed<'d>(message: &mut Message, pieces: impl IntoIterator<Item = &'d [u8]>, end: bool) -> Vec<Seen> {
    let (mut seen, mut sections) = (Vec::new(), Sections::new(DEFAULT_LIST_BYTES));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut pieces = pieces.into_iter().peekable();
    let mut next = pieces.next().or(Some(&[]));
    while let Some(mut piece) = next {
        let is_last = end && pieces.peek().is_none();
        loop {
            match message.advance(&mut piece, is_last, &mut sections) {
                Ok(None) => break,
                Ok(Some(Event::Head)) => {
                    let fields = sections.fields().iter().map(|(name, value)| (text(name), text(value)));
                    seen.push(Seen::Head(fields.collect()));
                }
                Ok(Some(Event::Data(bytes))) => match seen.last_mut() {
                    Some(Seen::Data(before)) => before.extend_from_slice(bytes),
                    _ => seen.push(Seen::Data(bytes.to_vec())),
                },
                Ok(Some(Event::End)) => seen.push(Seen::End),
                Err(H3Error { scope, code, .. }) => seen.push(Seen::Failed(scope, code)),
            }
        }
        assert!(piece.is_empty(), "all of it is read");
        next = pieces.next();
    }
    seen
}

fn read_request(bytes: &[u8]) -> Vec<Seen> {
    feed(&mut Message::request(), [bytes], true)
}

fn read_response(bytes: &[u8]) -> Vec<Seen> {
    feed(&mut Message::response(false), [bytes], true)
}

#[test]
fn a_request_and_its_response_are_read_as_they_were_written() {
    let post = [&GET[..], &[("content-length", "5"), ("x-own", "v")]].concat();
    let bytes = [request(&post), data(b"hel"), data(b"lo")].concat();
    assert_eq!(read_request(&bytes), [head(&post), Seen::Data(b"hello".to_vec()), Seen::End]);
    let fields = [("content-type", "text/plain"), ("content-length", "2")];
    let bytes = [response(103, &[("link", "x")]), response(200, &fields), data(b"ok")].concat();
    let all = [&[(":status", "200")][..], &fields].concat();
    assert_eq!(read_response(&bytes), [head(&all), Seen::Data(b"ok".to_vec()), Seen::End]);
}

#[test]
fn sections_that_come_again_keep_their_serial() {
    let mut sections = Sections::new(DEFAULT_LIST_BYTES);
    let mut message = Message::response(false);
    let mut serials = Vec::new();
    let kinds: Vec<String> = (0..6).map(|number| number.to_string()).collect();
    for number in [0, 0, 1, 0, 1, 2, 3, 0, 4, 5, 0, 1] {
        message.reset(false);
        let bytes = response(200 + number as u16, &[("x-number", &kinds[number])]);
        let mut rest = &bytes[..];
        assert_eq!(message.advance(&mut rest, true, &mut sections), Ok(Some(Event::Head)));
        assert_eq!(sections.fields().get(b"x-number"), Some(kinds[number].as_bytes()));
        assert_eq!(sections.status(), 200 + number as u16);
        assert_eq!(message.advance(&mut rest, true, &mut sections), Ok(Some(Event::End)));
        serials.push(sections.serial());
    }
    assert_eq!(serials, [1, 1, 2, 1, 2, 3, 4, 1, 5, 6, 7, 8]);
}

#[test]
fn what_a_section_means_depends_on_what_it_is_the_head_of() {
    let mut sections = Sections::new(DEFAULT_LIST_BYTES);
    let bytes = response(200, &[]);
    let mut answer = Message::response(false);
    assert_eq!(answer.advance(&mut &bytes[..], false, &mut sections), Ok(Some(Event::Head)));
    let refused = Message::request().advance(&mut &bytes[..], false, &mut sections);
    assert_eq!(refused.map_err(|error| error.code), Err(ErrorCode::MESSAGE_ERROR));
    let trailers = answer.advance(&mut &bytes[..], false, &mut sections);
    assert_eq!(trailers.map_err(|error| error.code), Err(ErrorCode::MESSAGE_ERROR));
}
