//! The origin over HTTP/3, on the port of TLS.

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;

use photofinish_http::payload;
use photofinish_net::StopSignal;
use photofinish_origin::{Listening, Settings, Which, serve};
use quinn_proto::VarInt;
use serde_json::{Value, json};
use support::h3::Client;
use support::{client, secured, with_listening};

/// Runs a test with a client by HTTP/3 and the address in clear text.
fn with_client(test: impl Fn(&mut Client, SocketAddr)) {
    with_origin(&secured(), |at| test(&mut connect(at), at.address));
}

fn with_origin(settings: &Settings, test: impl Fn(Listening)) {
    with_listening(Which::Origin, settings, test);
}

fn connect(at: Listening) -> Client {
    Client::new(at.tls.expect("a port for TLS"))
}

fn evidence(address: SocketAddr, id: &str) -> Value {
    client::Client::new(address).ask(&format!("GET /trials/{id}")).json()
}

fn register(address: SocketAddr, id: &str) {
    assert_eq!(client::Client::new(address).ask(&format!("PUT /trials/{id}?mode=count")).status, 201);
}

/// Compares only the keys that `expected` has.
fn assert_has(evidence: &Value, expected: &Value) {
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&evidence[key], value, "{key} of {evidence}");
    }
}

#[test]
fn the_routes_of_http_1_answer_alike() {
    with_client(|client, address| {
        for (method, path) in [
            ("GET", "/"),
            ("HEAD", "/"),
            ("GET", "/info"),
            ("GET", "/test/1000"),
            ("HEAD", "/test/1g"),
            ("GET", "/test/0"),
            ("DELETE", "/"),
            ("GET", "/nothing"),
            ("GET", "/patients/4"),
        ] {
            let answer = client.ask(method, path, &[], None);
            let mut plain = client::Client::new(address);
            plain.say(format!("{method} {path} HTTP/1.1\r\nHost: origin\r\nConnection: close\r\n\r\n"));
            let mut other = Vec::new();
            std::io::Read::read_to_end(&mut plain.stream, &mut other).expect("reads");
            let end = other.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
            let (head, body) = (String::from_utf8_lossy(&other[..end]).into_owned(), &other[end + 4..]);
            assert_eq!(head[9..12], answer.status.to_string());
            assert_eq!((answer.bytes, &answer.begin[..]), (body.len() as u64, &body[..answer.begin.len()]));
            let fields: Vec<String> = answer.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let expected = head.lines().skip(1).filter(|line| *line != "Connection: close").map(|line| {
                let (name, value) = line.split_once(": ").expect("a field");
                format!("{}: {value}", name.to_lowercase())
            });
            assert_eq!(fields, expected.collect::<Vec<_>>());
        }
    });
}

#[test]
fn downloads_of_all_sizes_arrive_whole_over_many_streams_at_once() {
    with_client(|client, _| {
        let sizes = [1_u64, 1_000, 4_095, 4_097, 70_000, 1 << 20, 9_000_000];
        let streams = sizes.map(|size| client.get(&format!("/test/{size}")));
        client.settle();
        for (stream, size) in streams.iter().zip(sizes) {
            let answer = &client.answers[stream];
            assert_eq!((answer.status, answer.bytes), (200, size));
            assert_eq!(answer.hash.digest(), payload::xxh3(size).expect("memory"));
        }
        client.answers.clear();
        // More than the server lets be open at once.
        for _ in 0..400 {
            client.get("/");
        }
        client.settle();
        assert!(client.answers.values().all(|answer| answer.begin == b"Hello World!"));
    });
}

#[test]
fn bodies_go_on_whichever_window_was_used_up() {
    with_origin(&secured(), |at| {
        let address = at.tls.expect("a port for TLS");
        for (stream, connection) in [(20_000, 1 << 20), (1 << 20, 1 << 20), (1 << 20, 20_000), (5_000, 7_000)] {
            let mut client = Client::with_windows(address, stream, connection);
            let streams = [1_u64 << 20, 300_000, 100_000].map(|size| (client.get(&format!("/test/{size}")), size));
            client.settle();
            for (stream, size) in streams {
                assert_eq!(client.answers[&stream].hash.digest(), payload::xxh3(size).expect("memory"));
            }
        }
    });
}

#[test]
fn a_coded_body_is_the_same_as_over_http_1() {
    with_client(|client, address| {
        for coding in ["gzip", "br", "zstd"] {
            let answer = client.ask("GET", "/patients/1?from=cache", &[("accept-encoding", coding)], None);
            let plain = client::Client::new(address);
            assert!(answer.fields.contains(&("content-encoding".to_owned(), coding.to_owned())));
            let mut plain = plain;
            plain.say(format!("GET /patients/1?from=cache HTTP/1.1\r\nHost: o\r\nAccept-Encoding: {coding}\r\n\r\n"));
            assert_eq!(plain.answer().body, answer.begin);
        }
    });
}

#[test]
fn uploads_are_read_whole_and_counted_under_their_protocol() {
    with_client(|client, address| {
        register(address, "t");
        let content: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        let form = client::form("a.bin", &content);
        let kind = ("content-type", client::FORM);
        let checked = client.ask("POST", "/upload", &[kind], Some(&form)).json();
        let over_http_1 = client::Client::new(address).upload("/upload", client::FORM, &form).json();
        assert_eq!((&checked["parts"], &checked["xxh3"]), (&over_http_1["parts"], &over_http_1["xxh3"]));
        let length = form.len().to_string();
        let with_length = [kind, ("content-length", &length[..])];
        for _ in 0..3 {
            client.begin("PUT", "/upload?trial=t", &with_length, Some(&form));
        }
        client.settle();
        assert!(client.answers.values().all(support::h3::Answer::is_over));
        assert_eq!(client.ask("POST", "/upload?trial=t", &[], None).json()["bytes"], 0);
        let expected = json!({
            "requests": 4, "completed": 4, "aborted": 0, "connections": 1, "protocols": {"h3": 4},
            "body_bytes": 3 * form.len(), "with_length": 3,
        });
        assert_has(&evidence(address, "t"), &expected);
    });
}

#[test]
fn a_client_that_waits_to_be_told_is_told_to_continue() {
    with_client(|client, _| {
        let answer = client.ask("POST", "/upload", &[("expect", "100-continue")], Some(b"body"));
        assert_eq!((answer.status, answer.json()["bytes"].as_u64()), (200, Some(4)));
    });
}

#[test]
fn downloads_are_counted_when_quic_has_taken_them_and_broken_ones_as_aborted() {
    with_client(|client, address| {
        register(address, "t");
        let sizes = [1_u64, 5_000, 300_000, 2_000_000];
        for size in sizes {
            client.get(&format!("/test/{size}?trial=t"));
        }
        client.settle();
        assert_eq!(client.ask("HEAD", "/test/1m?trial=t", &[], None).status, 200);
        let sum: u64 = sizes.iter().sum();
        let whole = json!({
            "requests": 5, "completed": 5, "aborted": 0, "connections": 1, "protocols": {"h3": 5},
            "sent_body_bytes": sum,
        });
        assert_has(&evidence(address, "t"), &whole);
        let broken = client.get("/test/50m?trial=t");
        client.until(|client| client.answers[&broken].bytes >= 1_000_000);
        client.connection.recv_stream(broken).stop(VarInt::from_u32(0x10c)).expect("it is open");
        client.answers.remove(&broken);
        while evidence(address, "t")["aborted"] != 1 {
            client.step();
        }
        let left = evidence(address, "t");
        assert_has(&left, &json!({ "requests": 6, "completed": 5, "aborted": 1 }));
        let sent = left["sent_body_bytes"].as_u64().expect("a count") - sum;
        assert!((1_000_000..50_000_000).contains(&sent), "{sent}");
        assert_eq!(client.ask("GET", "/test/1m", &[], None).bytes, 1 << 20, "the connection goes on");
    });
}

#[test]
fn a_client_that_vanishes_in_the_middle_harms_no_other_and_its_downloads_are_aborted() {
    with_origin(&secured(), |at| {
        register(at.address, "t");
        for read in [0, 100_000, 3_000_000] {
            let mut leaving = connect(at);
            let stream = leaving.get("/test/20m?trial=t");
            leaving.until(|client| client.answers[&stream].bytes >= read && client.answers[&stream].status == 200);
            leaving.connection.close(std::time::Instant::now(), VarInt::from_u32(0x100), bytes::Bytes::new());
            leaving.step();
            assert_eq!(connect(at).ask("GET", "/test/1m", &[], None).bytes, 1 << 20);
        }
        let mut left = evidence(at.address, "t");
        while left["aborted"] != 3 {
            assert_eq!((&left["requests"], &left["completed"]), (&json!(3), &json!(0)));
            left = evidence(at.address, "t");
        }
    });
}

#[test]
fn bodies_over_the_limit_are_refused_with_a_request_to_stop_and_the_connection_goes_on() {
    let settings = Settings { most_body_bytes: 100_000, ..secured() };
    with_origin(&settings, |at| {
        let mut client = connect(at);
        let body = vec![b'x'; 5_000_000];
        for further in [&[][..], &[("content-length", "5000000")]] {
            let stream = client.begin("POST", "/upload", further, Some(&body));
            client.until(|client| client.answers[&stream].is_over() && client.answers[&stream].stopped.is_some());
            let answer = &client.answers[&stream];
            assert_eq!((answer.status, answer.ended, answer.stopped), (413, true, Some(0x100)));
        }
        assert_eq!(client.ask("POST", "/upload", &[], Some(&body[..100_000])).status, 200);
    });
}

#[test]
fn faults_are_as_asked_for() {
    with_origin(&secured(), |at| {
        register(at.address, "t");
        let body = vec![b'x'; 12_000_000];
        let mut client = connect(at);
        let upload = |client: &mut Client, fault: &str| {
            client.begin("POST", &format!("/upload?trial=t&fault={fault}"), &[], Some(&body))
        };
        for (fault, status) in [("status:404", 404), ("413:1000", 413)] {
            let stream = upload(&mut client, fault);
            client.settle();
            assert_eq!(client.answers[&stream].status, status, "{fault}");
        }
        let stalled = upload(&mut client, "stall:1000");
        while evidence(at.address, "t")["aborted"] != 1 {
            client.step();
        }
        assert!(!client.answers.remove(&stalled).expect("an answer").is_over());
        let other = client.ask("POST", "/upload", &[], Some(&body[..1_000_000])).json();
        assert_eq!(other["bytes"], 1_000_000);
        assert!(client.has_unsent(stalled), "its window is used up");
        let mut closed = connect(at);
        upload(&mut closed, "close:1000");
        assert_eq!(closed.end().0, 0x100);
        assert_has(
            &evidence(at.address, "t"),
            &json!({ "requests": 4, "completed": 0, "aborted": 2, "refused": {"404": 1, "413": 1} }),
        );
    });
}

#[test]
fn a_reader_that_reads_nothing_makes_the_server_keep_no_more_than_its_windows() {
    with_client(|client, address| {
        register(address, "t");
        client.is_deaf = true;
        client.get("/test/1g?trial=t");
        while evidence(address, "t")["sent_body_bytes"] == 0 {
            client.step();
        }
        for _ in 0..200 {
            client.step();
        }
        let sent = evidence(address, "t")["sent_body_bytes"].as_u64().expect("a count");
        assert!(sent < 32 << 20, "{sent}");
        client.is_deaf = false;
        assert_eq!(client.answers.len(), 1);
    });
}

#[test]
fn a_server_that_ends_says_so() {
    let stop = StopSignal::new().expect("an eventfd");
    let flag = Arc::clone(&stop);
    let (tell, told) = channel();
    let server = std::thread::spawn(move || {
        serve(Which::Origin, &secured(), &flag, |at| tell.send(at).expect("the test waits"))
    });
    let mut client = connect(told.recv().expect("it listens"));
    let stream = client.get("/");
    client.settle();
    assert_eq!(client.answers[&stream].status, 200);
    stop.raise();
    assert_eq!(client.end().0, 0x100);
    assert_eq!(client.left_at, Some(4), "requests behind the first were not looked at");
    server.join().expect("ends well").expect("serves well");
}
