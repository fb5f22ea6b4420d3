//! Peers that break the rules of HTTP/3: each is told which one, and no other feels it.

mod support;

use photofinish_http::h3::frame::{kind, write_data_head, write_head, write_settings};
use photofinish_http::h3::{Control, write_request};
use photofinish_origin::{Listening, Which};
use quinn_proto::{Dir, VarInt};
use support::h3::Client;
use support::{secured, with_listening};

fn with_origin(test: impl Fn(Listening)) {
    with_listening(Which::Origin, &secured(), test);
}

fn connect(at: Listening) -> Client {
    Client::new(at.tls.expect("a port for TLS"))
}

/// A client that has said nothing yet.
fn silent(at: Listening) -> Client {
    Client::silent(at.tls.expect("a port for TLS"))
}

fn greeting() -> Vec<u8> {
    let mut out = Vec::new();
    Control::write_greeting(&mut out, 16_384);
    out
}

/// The head of `GET /`, with these fields behind.
fn get(further: &[(&str, &str)]) -> Vec<u8> {
    let own = [(":method", "GET"), (":scheme", "https"), (":authority", "origin"), (":path", "/")];
    let fields = own.iter().chain(further).map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    let mut out = Vec::new();
    write_request(&mut out, fields);
    out
}

fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_head(&mut out, kind, payload.len() as u64);
    out.extend_from_slice(payload);
    out
}

#[test]
fn what_is_wrong_with_a_control_stream_ends_the_connection_by_its_code() {
    let mut twice = greeting();
    write_settings(&mut twice, &[]);
    let mut of_http_2 = vec![0];
    write_settings(&mut of_http_2, &[(4, 1)]);
    let cases: [(&str, Vec<u8>, bool, u64); 8] = [
        ("closed", greeting(), true, 0x104),
        ("SETTINGS twice", twice, false, 0x105),
        ("no SETTINGS", [&[0][..], &frame(kind::GOAWAY, &[0])].concat(), false, 0x10a),
        ("DATA", [greeting(), frame(kind::DATA, b"x")].concat(), false, 0x105),
        ("settings of HTTP/2", of_http_2, false, 0x109),
        ("a push", vec![1, 0], false, 0x103),
        ("an insertion into no table", vec![2, 0x3f, 0xbd, 0x01], false, 0x201),
        ("an acknowledgement of nothing", vec![3, 0x84], false, 0x202),
    ];
    with_origin(|at| {
        let mut good = connect(at);
        for (what, bytes, end, code) in &cases {
            let mut client = silent(at);
            let stream = client.open(Dir::Uni);
            client.write(stream, bytes, *end);
            assert_eq!(client.end().0, *code, "{what}");
        }
        let mut two = connect(at);
        let second = two.open(Dir::Uni);
        two.write(second, &greeting(), false);
        assert_eq!(two.end().0, 0x103, "a second control stream");
        assert_eq!(good.ask("GET", "/test/1m", &[], None).bytes, 1 << 20);
    });
}

#[test]
fn frames_out_of_place_end_the_connection_and_malformed_requests_only_their_stream() {
    with_origin(|at| {
        for (what, bytes, code) in [
            ("DATA before HEADERS", frame(kind::DATA, b"x"), 0x105),
            ("SETTINGS", frame(kind::SETTINGS, &[]), 0x105),
            ("PING of HTTP/2", frame(6, &[0; 8]), 0x105),
            ("a dynamic table", frame(kind::HEADERS, &[2, 0, 0x80]), 0x200),
            ("an end within a frame", get(&[])[..5].to_vec(), 0x106),
        ] {
            let mut client = connect(at);
            client.begin_raw(&bytes, true);
            assert_eq!(client.end().0, code, "{what}");
        }
        let mut client = connect(at);
        for (what, bytes, code) in [
            ("nothing at all", Vec::new(), 0x10d),
            ("a field of HTTP/1", get(&[("connection", "close")]), 0x10e),
            ("two paths", get(&[(":path", "/")]), 0x10e),
            ("less than declared", get(&[("content-length", "5"), ("expect", "x")]), 0x10e),
            ("far too many fields", frame(kind::HEADERS, &vec![0; 70_000]), 0x107),
        ] {
            let stream = client.begin_raw(&bytes, true);
            client.until(|client| client.lost.is_some() || client.answers[&stream].is_over());
            assert_eq!(client.answers[&stream].reset, Some(code), "{what}");
        }
        assert_eq!(client.ask("GET", "/", &[("x-long", &"x".repeat(17_000))], None).status, 431);
        assert_eq!(client.ask("GET", "/", &[], None).status, 200, "the connection goes on");
    });
}

#[test]
fn what_nobody_knows_is_passed_over() {
    with_origin(|at| {
        let mut client = connect(at);
        let grease = frame(0x1f * 7 + 0x21, &[9; 3_000]);
        let stream = client.begin_raw(&[grease.clone(), get(&[]), grease.clone(), grease].concat(), true);
        let unknown = client.open(Dir::Uni);
        client.write(unknown, &[0x40, 0x54, 1, 2, 3], false);
        client.settle();
        assert_eq!(client.answers[&stream].begin, b"Hello World!");
        assert_eq!(client.ask("GET", "/", &[], None).status, 200);
    });
}

#[test]
fn floods_end_the_connection_or_their_stream() {
    with_origin(|at| {
        let mut good = connect(at);
        let mut idle = connect(at);
        let stream = idle.begin_raw(&[get(&[]), frame(0x21, b"").repeat(500)].concat(), false);
        idle.until(|client| client.answers[&stream].stopped.is_some());
        assert_eq!(idle.answers[&stream].stopped, Some(0x107));
        let mut rapid = connect(at);
        let mut upload = Vec::new();
        let fields = [(":method", "POST"), (":scheme", "https"), (":authority", "o"), (":path", "/upload")];
        write_request(&mut upload, fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())));
        write_data_head(&mut upload, 1_000);
        let mut begun = 0;
        while rapid.lost.is_none() && begun < 5_000 {
            // Nothing is left of a stream that both ends have reset.
            rapid.answers.clear();
            let Some(stream) = rapid.connection.streams().open(Dir::Bi) else {
                rapid.step();
                continue;
            };
            begun += 1;
            rapid.write(stream, &upload, false);
            rapid.step();
            let _ = rapid.connection.send_stream(stream).reset(VarInt::from_u32(0x10c));
            let _ = rapid.connection.recv_stream(stream).stop(VarInt::from_u32(0x10c));
        }
        assert_eq!(rapid.end().0, 0x107, "after {begun} requests");
        assert!((1_000..2_000).contains(&begun), "{begun}");
        assert_eq!(good.ask("GET", "/test/1m", &[], None).bytes, 1 << 20);
    });
}

#[test]
fn a_response_that_nobody_reads_and_one_that_is_given_up_leave_the_others_alone() {
    with_origin(|at| {
        let mut client = connect(at);
        for _ in 0..300 {
            let stream = client.get("/test/10m");
            client.until(|client| client.answers[&stream].status == 200);
            client.connection.recv_stream(stream).stop(VarInt::from_u32(0x10c)).expect("it is open");
            client.answers.remove(&stream);
        }
        assert_eq!(client.ask("GET", "/test/1m", &[], None).bytes, 1 << 20);
    });
}
