//! The origin over HTTP/2, with prior knowledge, on the port of HTTP/1.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use photofinish_http::h2::frame::{PREFACE, kind, write_settings};
use photofinish_http::h2::{ErrorCode, FrameReader, Limits, Piece};
use photofinish_http::payload;
use photofinish_origin::{Settings, Which};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::h2::Client;
use support::{client, with_server, with_settings};

fn connect(address: SocketAddr) -> Client {
    Client::new(address, Limits::default())
}

fn evidence(address: SocketAddr, id: &str) -> Value {
    client::Client::new(address).ask(&format!("GET /trials/{id}")).json()
}

fn register(address: SocketAddr, id: &str, mode: &str) {
    assert_eq!(connect(address).ask("PUT", &format!("/trials/{id}?mode={mode}"), &[], None).status, 201);
}

/// Compares only the keys that `expected` has.
fn assert_has(evidence: &Value, expected: &Value) {
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&evidence[key], value, "{key} of {evidence}");
    }
}

#[test]
fn the_routes_of_http_1_answer_alike() {
    with_server(Which::Origin, 1, |address| {
        let mut client = connect(address);
        for (method, path) in [
            ("GET", "/"),
            ("HEAD", "/"),
            ("GET", "/info"),
            ("GET", "/test/1000"),
            ("HEAD", "/test/1g"),
            ("GET", "/test/0"),
            ("DELETE", "/"),
            ("GET", "/nothing"),
        ] {
            let answer = client.ask(method, path, &[], None);
            let mut plain = client::Client::new(address);
            plain.say(format!("{method} {path} HTTP/1.1\r\nHost: origin\r\nConnection: close\r\n\r\n"));
            let mut other = Vec::new();
            plain.stream.read_to_end(&mut other).expect("reads");
            let other = String::from_utf8_lossy(&other).into_owned();
            let (head, body) = other.split_once("\r\n\r\n").expect("a head");
            assert_eq!(head[9..12], answer.status.to_string());
            assert_eq!(String::from_utf8_lossy(&answer.begin), body);
            let fields: Vec<String> = answer.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let mut expected: Vec<String> = head.lines().skip(1).map(str::to_owned).collect();
            expected.retain(|line| line != "Connection: close");
            let lower = |line: &String| {
                let (name, value) = line.split_once(": ").expect("a field");
                format!("{}: {value}", name.to_lowercase())
            };
            assert_eq!(fields, expected.iter().map(lower).collect::<Vec<_>>());
        }
    });
}

#[test]
fn downloads_over_many_streams_arrive_whole_through_any_windows_and_cuts() {
    with_server(Which::Origin, 1, |address| {
        let size = prop_oneof![1_u64..300, 4_000_u64..20_000, 100_000_u64..2_000_000];
        let cases = (prop::collection::vec(size, 1..30), 1_u32..200_000, 65_535_u32..1_000_000, 200_usize..100_000);
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
        let outcome = runner.run(&cases, |(sizes, stream_window, connection_window, cut)| {
            // Windows of a few bytes make a frame of each.
            let stream_window = stream_window.max(sizes.iter().max().map_or(1, |most| *most as u32 / 200));
            let limits = Limits { stream_window, connection_window, ..Limits::default() };
            let mut client = Client::new(address, limits);
            client.cut = cut;
            let streams: Vec<_> = sizes.iter().map(|size| client.get(&format!("/test/{size}"))).collect();
            client.settle();
            for (stream, &size) in streams.iter().zip(&sizes) {
                let answer = &client.answers[stream];
                prop_assert_eq!((answer.status, answer.bytes), (200, size));
                prop_assert_eq!(answer.hash.digest(), payload::xxh3(size).expect("memory"));
            }
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn streams_take_turns() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address, Limits { stream_window: 64 << 20, ..Limits::default() });
        let large = client.get("/test/50m");
        let small = client.get("/test/100k");
        while !client.answers[&small].ended {
            client.step().expect("no fault");
        }
        assert!(client.answers[&large].bytes < 25 << 20, "the small one waits");
        client.settle();
        assert_eq!(client.answers[&large].hash.digest(), payload::xxh3(50 << 20).expect("memory"));
    });
}

#[test]
fn a_connection_becomes_http_2_by_its_first_line_however_it_is_cut() {
    with_server(Which::Origin, 1, |address| {
        let mut client = connect(address);
        client.cut = 1;
        assert_eq!(client.ask("GET", "/", &[], None).begin, b"Hello World!");
        for (begin, status) in [("PRI / HTTP/1.1", 405), ("PUT /test/1 HTTP/1.1", 405), ("P", 400)] {
            let mut plain = client::Client::new(address);
            for byte in format!("{begin}\r\nHost: origin\r\n\r\n").as_bytes() {
                plain.say([*byte]);
            }
            assert_eq!(plain.answer().status, status, "{begin}");
        }
    });
}

#[test]
fn uploads_are_read_whole_and_counted_under_their_protocol() {
    with_server(Which::Origin, 1, |address| {
        for mode in ["check", "count"] {
            register(address, mode, mode);
        }
        let content: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        let form = client::form("a.bin", &content);
        let mut client = connect(address);
        let kind = ("content-type", client::FORM);
        let length = form.len().to_string();
        let checked = client.ask("POST", "/upload?trial=check", &[kind], Some(&form)).json();
        assert_eq!((&checked["content_length"], &checked["chunked"]), (&Value::Null, &json!(false)));
        assert_eq!(checked["parts"][0]["bytes"], json!(content.len()));
        let over_http_1 = client::Client::new(address).upload("/upload", client::FORM, &form).json();
        assert_eq!(checked["parts"], over_http_1["parts"]);
        assert_eq!(checked["xxh3"], over_http_1["xxh3"]);
        let with_length = [kind, ("content-length", &length)];
        let counted = client.ask("PUT", "/upload?trial=count", &with_length, Some(&form)).json();
        assert_eq!(counted, json!({ "bytes": form.len() }));
        let many: Vec<_> =
            (0..20).map(|_| client.begin("POST", "/upload?trial=count", &with_length, Some(&form))).collect();
        client.settle();
        assert!(many.iter().all(|stream| client.answers[stream].json() == counted));
        assert_eq!(client.ask("POST", "/upload?trial=count", &[("content-length", "0")], None).json()["bytes"], 0);
        assert_has(
            &evidence(address, "count"),
            &json!({
                "requests": 22, "completed": 22, "aborted": 0, "connections": 1, "protocols": {"h2": 22},
                "body_bytes": 21 * form.len(), "with_length": 22, "chunked": 0,
                "least_body_bytes": 0, "most_body_bytes": form.len(),
            }),
        );
        let expected = json!({ "completed": 1, "protocols": {"h2": 1}, "with_length": 0, "last": checked });
        assert_has(&evidence(address, "check"), &expected);
    });
}

#[test]
fn downloads_are_counted_when_the_kernel_has_taken_them_and_broken_ones_as_far_as_it_has() {
    with_server(Which::Origin, 1, |address| {
        register(address, "t", "count");
        let mut client = Client::new(address, Limits { stream_window: 100_000, ..Limits::default() });
        let sizes = [1_u64, 5_000, 300_000, 2_000_000];
        for size in sizes {
            client.get(&format!("/test/{size}?trial=t"));
        }
        client.settle();
        assert_eq!(client.ask("HEAD", "/test/1m?trial=t", &[], None).status, 200);
        let sum: u64 = sizes.iter().sum();
        let whole = json!({
            "requests": 5, "completed": 5, "aborted": 0, "connections": 1, "protocols": {"h2": 5},
            "sent_body_bytes": sum,
        });
        assert_has(&evidence(address, "t"), &whole);
        let broken = client.get("/test/50m?trial=t");
        while client.answers[&broken].bytes < 1_000_000 {
            client.step().expect("no fault");
        }
        client.connection.reset(broken, ErrorCode::CANCEL);
        client.answers.remove(&broken);
        // The answer to this one is behind all that was sent of that.
        assert_eq!(client.ask("GET", "/", &[], None).status, 200);
        let left = evidence(address, "t");
        assert_has(&left, &json!({ "requests": 6, "completed": 5, "aborted": 1 }));
        let sent = left["sent_body_bytes"].as_u64().expect("a count") - sum;
        assert!((1_000_000..=1_200_000).contains(&sent), "{sent}");
    });
}

#[test]
fn bodies_over_the_limit_are_refused_and_the_connection_goes_on() {
    let settings = Settings { most_body_bytes: 100_000, ..Settings::default() };
    with_settings(Which::Origin, &settings, |address| {
        let mut client = connect(address);
        let body = vec![b'x'; 5_000_000];
        for further in [&[][..], &[("content-length", "5000000")]] {
            let stream = client.begin("POST", "/upload", further, Some(&body));
            client.settle();
            while client.answers[&stream].reset.is_none() && client.connection.may_send(stream) {
                client.step().expect("no fault");
            }
            let answer = &client.answers[&stream];
            assert_eq!((answer.status, answer.ended), (413, true));
            assert_eq!(answer.reset, Some(ErrorCode::NO_ERROR), "so that the client stops");
        }
        assert_eq!(client.ask("POST", "/upload", &[], Some(&body[..100_000])).status, 200);
    });
}

#[test]
fn faults_are_as_asked_for() {
    with_server(Which::Origin, 1, |address| {
        register(address, "t", "count");
        let body = vec![b'x'; 3_000_000];
        let mut client = connect(address);
        let upload = |client: &mut Client, fault: &str| {
            client.begin("POST", &format!("/upload?trial=t&fault={fault}"), &[], Some(&body))
        };
        let stream = upload(&mut client, "status:404");
        client.settle();
        assert_eq!((client.answers[&stream].status, client.answers[&stream].reset), (404, None));
        let stream = upload(&mut client, "413:1000");
        client.settle();
        assert_eq!(client.answers[&stream].status, 413);
        let stalled = upload(&mut client, "stall:1000");
        client.write();
        assert_eq!(client.connection.sendable(stalled), 0, "its window is used up");
        client.answers.remove(&stalled);
        let other = client.ask("POST", "/upload", &[], Some(&body)).json();
        assert_eq!(other["bytes"], body.len());
        assert!(client.connection.may_send(stalled) && client.connection.sendable(stalled) == 0);
        let mut closed = connect(address);
        upload(&mut closed, "close:1000");
        closed.write();
        let mut rest = Vec::new();
        // A reset, as there is input that nobody has read, or an end.
        let _ = closed.stream.read_to_end(&mut rest);
        assert_has(
            &evidence(address, "t"),
            &json!({
                "requests": 4, "completed": 0, "aborted": 2, "refused": {"404": 1, "413": 1},
                "body_bytes": body.len() + 3_000,
            }),
        );
    });
}

#[test]
fn a_client_that_waits_to_be_told_is_told_to_continue() {
    with_server(Which::Origin, 1, |address| {
        let mut client = connect(address);
        let further = [("expect", "100-continue")];
        let answer = client.ask("POST", "/upload", &further, Some(b"body"));
        assert_eq!((answer.status, answer.json()["bytes"].as_u64()), (200, Some(4)));
    });
}

#[test]
fn a_list_of_fields_that_is_too_large_is_refused_and_the_connection_goes_on() {
    with_server(Which::Origin, 1, |address| {
        let mut client = connect(address);
        let long = "x".repeat(17_000);
        assert_eq!(client.ask("GET", "/", &[("x-long", &long)], None).status, 431);
        assert_eq!(client.ask("GET", "/", &[], None).status, 200);
    });
}

#[test]
fn a_peer_that_breaks_the_rules_is_told_and_cut_off_and_no_other() {
    with_server(Which::Origin, 1, |address| {
        let mut good = connect(address);
        assert_eq!(good.ask("GET", "/", &[], None).status, 200);
        let mut breaker = TcpStream::connect(address).expect("connects");
        let mut out = PREFACE.to_vec();
        write_settings(&mut out, &[(2, 7)]);
        breaker.write_all(&out).expect("writes");
        let mut answer = Vec::new();
        breaker.read_to_end(&mut answer).expect("an orderly end");
        let (mut reader, mut data, mut last) = (FrameReader::new(false), &answer[..], (0, Vec::new()));
        while let Some(piece) = reader.advance(&mut data).expect("well-formed") {
            if let Piece::Control(head, payload) = piece {
                last = (head.kind, payload.to_vec());
            }
        }
        assert_eq!((last.0, &last.1[4..8]), (kind::GOAWAY, &[0, 0, 0, 1][..]));
        assert_eq!(good.ask("GET", "/test/1m", &[], None).bytes, 1 << 20);
    });
}

#[test]
fn a_reader_that_leaves_in_the_middle_harms_no_other() {
    with_server(Which::Origin, 1, |address| {
        register(address, "t", "count");
        for read in [0, 100_000, 3_000_000] {
            let mut leaving = Client::new(address, Limits { stream_window: 32 << 20, ..Limits::default() });
            let stream = leaving.get("/test/20m?trial=t");
            leaving.write();
            while leaving.answers[&stream].bytes < read {
                leaving.step().expect("no fault");
            }
            drop(leaving);
            let mut other = connect(address);
            assert_eq!(other.ask("GET", "/test/1m", &[], None).bytes, 1 << 20);
        }
        let mut left = evidence(address, "t");
        while left["aborted"] != 3 {
            assert_eq!((&left["requests"], &left["completed"]), (&json!(3), &json!(0)));
            left = evidence(address, "t");
        }
    });
}

/// What Java's client asks with.
const UPGRADE: &str = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";

/// Asks over HTTP/1.1 and to go over to HTTP/2, with `behind` behind; the head of the first answer.
fn upgrade(address: SocketAddr, line: &str, behind: &[u8]) -> (client::Client, String) {
    let mut client = client::Client::new(address);
    let head = format!("{line} HTTP/1.1\r\nHost: origin\r\n{UPGRADE}\r\n");
    client.say([head.as_bytes(), behind].concat());
    let head = client.head();
    (client, head)
}

#[test]
fn a_request_may_go_over_to_http_2_and_is_answered_there() {
    with_server(Which::Origin, 1, |address| {
        register(address, "t", "count");
        let mut preface = PREFACE.to_vec();
        write_settings(&mut preface, &[]);
        for (at, line) in ["GET /", "HEAD /", "GET /test/60000?trial=t", "GET /nothing"].into_iter().enumerate() {
            let (behind, later) = preface.split_at(at * 9);
            let (mut client, head) = upgrade(address, line, behind);
            assert_eq!(head, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
            client.say(later);
            let (mut reader, mut body, mut ended) = (FrameReader::new(false), 0, false);
            while !ended {
                let byte = client.bytes(1);
                let mut data = &byte[..];
                while let Some(piece) = reader.advance(&mut data).expect("well-formed") {
                    match piece {
                        Piece::Control(head, _) => ended |= head.kind == kind::HEADERS && head.has(1),
                        Piece::DataBegin(head, bytes) => {
                            assert_eq!(head.stream, 1);
                            (body, ended) = (body + bytes, ended || bytes == 0);
                        }
                        Piece::Data(_) | Piece::DataEnd => {}
                    }
                }
                let expected = [("GET /", 12), ("GET /test/60000?trial=t", 60_000), ("GET /nothing", 24)];
                ended |= expected.contains(&(line, body));
            }
        }
        assert_has(&evidence(address, "t"), &json!({ "requests": 1, "protocols": {"h2": 1} }));
    });
}

#[test]
fn a_wish_to_go_over_that_can_not_be_granted_is_passed_over() {
    with_server(Which::Origin, 1, |address| {
        let (_, head) = upgrade(address, "POST /upload", b"");
        assert!(head.starts_with("HTTP/1.1 101 "), "no body, no obstacle");
        let mut with_body = client::Client::new(address);
        with_body.say(format!("POST /upload HTTP/1.1\r\nHost: origin\r\n{UPGRADE}Content-Length: 4\r\n\r\nbody"));
        assert_eq!(with_body.answer().json()["bytes"], 4);
        for settings in ["AAM", "A", "%%%%", "AAIAAAAH"] {
            let mut client = client::Client::new(address);
            let fields = UPGRADE.replace("AAMAAABkAAQAAP__", settings);
            client.say(format!("GET / HTTP/1.1\r\nHost: origin\r\n{fields}\r\n"));
            assert_eq!(client.answer().text(), "Hello World!", "{settings}");
        }
    });
}
