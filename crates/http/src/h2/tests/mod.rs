//! The codec against itself, against bytes cut in any way, and against peers that break the rules.

mod cuts;
mod floods;
mod rules;
mod transfers;

use super::frame::{FrameHead, PREFACE, begin_headers, end_headers, flag, kind, write_settings, write_settings_ack};
use super::hpack::encode;
use super::{Connection, ErrorCode, Event, FrameReader, H2Error, Limits, Piece};

/// An event with what it lends.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Head(u32, bool, Vec<(Vec<u8>, Vec<u8>)>),
    Data(u32, Vec<u8>),
    End(u32),
    Reset(u32, ErrorCode),
    GoAway(u32, ErrorCode),
    Failed(ErrorCode),
}

/// Feeds `pieces` one after another, calling `answer` for each event; adjacent data of one stream becomes one.
fn feed<'d>(
    connection: &mut Connection,
    pieces: impl IntoIterator<Item = &'d [u8]>,
    mut answer: impl FnMut(&mut Connection, &Event<'_>),
) -> Vec<Seen> {
    let mut seen = Vec::new();
    for mut piece in pieces {
        loop {
            let event = match connection.advance(&mut piece) {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(H2Error { code, .. }) => {
                    seen.push(Seen::Failed(code));
                    continue;
                }
            };
            match event {
                Event::Head { stream, end } => {
                    let fields = connection.fields().iter().map(|(name, value)| (name.to_vec(), value.to_vec()));
                    seen.push(Seen::Head(stream, end, fields.collect()));
                }
                Event::Data { stream, bytes } => match seen.last_mut() {
                    Some(Seen::Data(last, before)) if *last == stream => before.extend_from_slice(bytes),
                    _ => seen.push(Seen::Data(stream, bytes.to_vec())),
                },
                Event::End { stream } => seen.push(Seen::End(stream)),
                Event::Reset { stream, code } => seen.push(Seen::Reset(stream, code)),
                Event::GoAway { last, code } => seen.push(Seen::GoAway(last, code)),
            }
            answer(connection, &event);
        }
        assert!(piece.is_empty(), "all of it is read");
    }
    seen
}

/// What every client begins with, and how it takes the server's settings.
fn hello() -> Vec<u8> {
    let mut out = PREFACE.to_vec();
    write_settings(&mut out, &[]);
    write_settings_ack(&mut out);
    out
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&FrameHead { length: payload.len() as u32, kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

const GET: [(&str, &str); 4] = [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/")];

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        encode(&mut out, name.as_bytes(), value.as_bytes());
    }
    out
}

fn headers(out: &mut Vec<u8>, stream: u32, fields: &[(&str, &str)], end: bool) {
    let at = begin_headers(out);
    out.extend_from_slice(&block(fields));
    end_headers(out, at, stream, end, 16_384);
}

/// A frame as written: its head and its payload.
type Written = (FrameHead, Vec<u8>);

/// The frames of some output, which begins with a preface if a client wrote it.
fn frames(output: &[u8]) -> Vec<Written> {
    let mut reader = FrameReader::new(output.starts_with(PREFACE));
    let (mut data, mut frames) = (output, Vec::<Written>::new());
    while let Some(piece) = reader.advance(&mut data).expect("well-formed") {
        match piece {
            Piece::Control(head, payload) => frames.push((head, payload.to_vec())),
            Piece::DataBegin(head, _) => frames.push((head, Vec::new())),
            Piece::Data(bytes) => frames.last_mut().expect("it has begun").1.extend_from_slice(bytes),
            Piece::DataEnd => {}
        }
    }
    frames
}

/// The code of the `RST_STREAM` for `stream`, or of the GOAWAY for stream 0, in what a connection wants sent.
fn told(connection: &mut Connection, stream: u32) -> Option<ErrorCode> {
    let output = std::mem::take(connection.output());
    let (wanted, at) = if stream == 0 { (kind::GOAWAY, 4) } else { (kind::RST_STREAM, 0) };
    let of = |frame: &Written| frame.0.kind == wanted && frame.0.stream == stream;
    frames(&output)
        .into_iter()
        .find(of)
        .map(|(_, payload)| ErrorCode(u32::from_be_bytes(payload[at..at + 4].try_into().expect("a code"))))
}

/// A server that a well-behaved client has begun to talk to.
fn greeted() -> Connection {
    let mut server = Connection::server(Limits::default());
    assert_eq!(feed(&mut server, [&hello()[..]], |_, _| {}), []);
    server.output().clear();
    server
}

#[test]
fn a_request_and_its_response_pass_between_the_two_ends() {
    let (mut client, mut server) = (Connection::client(Limits::default()), Connection::server(Limits::default()));
    let fields = GET.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    assert_eq!(client.request(fields, true, false), Some(1));
    let sent = std::mem::take(client.output());
    let seen = feed(&mut server, [&sent[..]], |_, _| {});
    assert_eq!(seen, [Seen::Head(1, true, fields.map(|(name, value)| (name.to_vec(), value.to_vec())).to_vec())]);
    assert!(server.respond(1, 200, [(&b"content-length"[..], &b"5"[..])], false));
    assert_eq!(server.sendable(1), 1 << 20, "the client's window");
    server.data_head(1, 5, true);
    server.output().extend_from_slice(b"hello");
    let sent = std::mem::take(server.output());
    let seen = feed(&mut client, [&sent[..]], |_, _| {});
    let head = vec![(b":status".to_vec(), b"200".to_vec()), (b"content-length".to_vec(), b"5".to_vec())];
    assert_eq!(seen, [Seen::Head(1, false, head), Seen::Data(1, b"hello".to_vec()), Seen::End(1)]);
    assert_eq!((client.open_streams(), server.open_streams()), (0, 0));
    let kinds: Vec<_> = frames(client.output()).iter().map(|frame| (frame.0.kind, frame.0.flags)).collect();
    assert_eq!(kinds, [(kind::SETTINGS, flag::ACK)]);
}

#[test]
fn an_upgraded_connection_owes_the_response_to_stream_1() {
    let mut server = Connection::upgraded(Limits::default(), &[0, 4, 0, 0, 0, 100]).expect("settings");
    assert!(server.respond(1, 200, [], false));
    assert_eq!(server.sendable(1), 100);
    server.data_head(1, 100, true);
    let mut next = hello();
    headers(&mut next, 3, &GET, true);
    assert!(matches!(feed(&mut server, [&next[..]], |_, _| {})[..], [Seen::Head(3, true, _)]));
    assert!(Connection::upgraded(Limits::default(), &[0, 4, 0]).is_err());
}
