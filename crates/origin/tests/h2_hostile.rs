//! Peers that wear HTTP/2 out, in clear text and inside TLS: each is told so and cut off, and no other feels it.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use photofinish_http::h2::frame::{
    FrameHead, PREFACE, begin_headers, end_headers, kind, write_goaway, write_ping, write_reset, write_settings,
    write_window_update,
};
use photofinish_http::h2::hpack::encode;
use photofinish_http::h2::{ErrorCode, FrameReader, Limits, Piece};
use photofinish_net::tls::Alpn;
use photofinish_origin::Which;
use support::h2::Client;
use support::relay::through_tls;
use support::{secured, with_listening};

/// What a client may send in one frame before anybody has said otherwise.
const FRAME_BYTES: usize = 16 * 1024;

/// Runs a test in clear text and inside TLS, once per back end.
fn with_both(test: impl Fn(SocketAddr)) {
    with_listening(Which::Origin, &secured(), |at| {
        test(at.address);
        through_tls(at.tls.expect("a port with TLS"), Alpn::H2, &test);
    });
}

/// The bytes of a client that greets first.
fn greeted(settings: &[(u16, u32)]) -> Vec<u8> {
    let mut out = PREFACE.to_vec();
    write_settings(&mut out, settings);
    out
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&FrameHead { length: payload.len() as u32, kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

fn request(out: &mut Vec<u8>, stream: u32, method: &str, path: &str, end: bool) {
    let at = begin_headers(out);
    for (name, value) in [(":method", method), (":scheme", "http"), (":authority", "o"), (":path", path)] {
        encode(out, name.as_bytes(), value.as_bytes());
    }
    end_headers(out, at, stream, end, FRAME_BYTES);
}

/// Says `bytes`, and what the server's last GOAWAY says by the time that it has ended the connection.
fn told(address: SocketAddr, bytes: Vec<u8>) -> Option<ErrorCode> {
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("an option of TCP");
    let mut saying = stream.try_clone().expect("a second handle");
    // It may be cut off before it has said all, and has to listen meanwhile.
    let speaker = std::thread::spawn(move || drop(saying.write_all(&bytes)));
    let mut answer = Vec::new();
    // Input that the server did not read may make a reset of its end.
    let _ = stream.read_to_end(&mut answer);
    speaker.join().expect("ends well");
    let (mut reader, mut data, mut code) = (FrameReader::new(false), &answer[..], None);
    while let Some(piece) = reader.advance(&mut data).expect("well-formed") {
        if let Piece::Control(head, payload) = piece
            && head.kind == kind::GOAWAY
        {
            code = payload[4..].first_chunk().map(|code| ErrorCode(u32::from_be_bytes(*code)));
        }
    }
    code
}

#[test]
fn floods_end_their_connection_and_no_other() {
    with_both(|address| {
        let mut good = Client::new(address, Limits::default());
        let mut pings = greeted(&[]);
        (0..3_000).for_each(|_| write_ping(&mut pings, false, [7; 8]));
        let mut settings = greeted(&[]);
        (0..3_000).for_each(|_| write_settings(&mut settings, &[]));
        let mut continuations = greeted(&[]);
        frame(&mut continuations, kind::HEADERS, 0, 1, &[]);
        (0..200).for_each(|_| frame(&mut continuations, kind::CONTINUATION, 0, 1, &[]));
        let mut resets = greeted(&[]);
        for stream in (0..3_000).map(|number| 2 * number + 1) {
            request(&mut resets, stream, "POST", "/upload", false);
            write_reset(&mut resets, stream, ErrorCode::CANCEL);
        }
        let mut farewells = greeted(&[]);
        (0..3_000).for_each(|_| write_goaway(&mut farewells, 0, ErrorCode::NO_ERROR, ""));
        for (what, bytes) in [
            ("PING", pings),
            ("SETTINGS", settings),
            ("CONTINUATION", continuations),
            ("rapid reset", resets),
            ("GOAWAY", farewells),
        ] {
            assert_eq!(told(address, bytes), Some(ErrorCode::ENHANCE_YOUR_CALM), "{what}");
            assert_eq!(good.ask("GET", "/", &[], None).begin, b"Hello World!", "behind {what}");
        }
    });
}

#[test]
fn windows_that_never_open_hold_nobody_else_up_and_those_that_open_too_far_end_the_connection() {
    with_both(|address| {
        let mut shut = TcpStream::connect(address).expect("connects");
        let mut bytes = greeted(&[(4, 0)]);
        (0..100).for_each(|number| request(&mut bytes, 2 * number + 1, "GET", "/test/50m", true));
        shut.write_all(&bytes).expect("writes");
        let mut good = Client::new(address, Limits::default());
        assert_eq!(good.ask("GET", "/test/1m", &[], None).bytes, 1 << 20);
        let mut wide = greeted(&[]);
        write_window_update(&mut wide, 0, 0x7fff_ffff);
        assert_eq!(told(address, wide), Some(ErrorCode::FLOW_CONTROL_ERROR));
        drop(shut);
        assert_eq!(good.ask("GET", "/", &[], None).status, 200);
    });
}

#[test]
fn a_client_that_says_it_leaves_gets_what_it_has_asked_for() {
    with_both(|address| {
        let mut client = Client::new(address, Limits::default());
        let stream = client.get("/test/1m");
        write_goaway(client.connection.output(), 0, ErrorCode::NO_ERROR, "");
        client.settle();
        assert_eq!(client.answers[&stream].bytes, 1 << 20);
    });
}
