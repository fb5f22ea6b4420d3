//! HTTP/3: `load` and `visit` against the origin, and against servers that don't do what they should.

mod peers;

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::channel;

use peers::{lines, load_urls, number, visit};
use photofinish_net::quic::{Piece, Quic, Settings as QuicSettings, Stream, StreamKind, listen};
use photofinish_net::tls::{Alpn, Authority, Identity, IdentityOptions};
use photofinish_net::{Closed, Conn, Handler, Net, Options, StopSignal};
use photofinish_origin::{Settings, TlsPort, Which, serve};
use serde_json::{Value, json};

fn identity() -> Identity {
    let options = IdentityOptions { protocols: vec![Alpn::H3], ..IdentityOptions::default() };
    Identity::of(&Authority::for_localhost().expect("a certificate"), &options).expect("an identity")
}

/// Runs an origin while `test` talks to its port for QUIC.
fn with_origin(test: impl FnOnce(SocketAddr)) {
    let stop = StopSignal::new().expect("an eventfd");
    let (flag, (tell, told)) = (Arc::clone(&stop), channel());
    let tls = TlsPort { port: 0, identity: Arc::new(identity()) };
    let origin = std::thread::spawn(move || {
        let settings = Settings { tls: Some(tls), ..Settings::default() };
        serve(Which::Origin, &settings, &flag, |at| tell.send(at.tls.expect("asked for")).expect("the test waits"))
    });
    test(told.recv().expect("it listens"));
    stop.raise();
    origin.join().expect("ends well").expect("serves well");
}

fn load(at: SocketAddr, path: &str, flags: &[&str]) -> (i32, Value) {
    load_urls(&[&format!("https://{at}{path}")], &[&["--http", "3", "--insecure"], flags].concat())
}

#[test]
fn requests_on_many_streams_are_answered_checked_and_told() {
    with_origin(|origin| {
        for backend in ["epoll", "auto"] {
            let flags = ["-n", "500", "-c", "3", "--streams", "20", "--backend", backend];
            let (code, report) = load(origin, "/", &flags);
            assert_eq!((code, number(&report, "/requests/accepted")), (0, 500), "{}", report["failure_example"]);
            let evidence = &report["evidence"];
            assert_eq!((&evidence["protocol"], &evidence["alpn"]), (&"h3".into(), &"h3".into()));
            assert_eq!((&evidence["tls_version"], &evidence["resumed"]), (&"1.3".into(), &false.into()));
            assert!(number(evidence, "/streams") > 1 && number(evidence, "/wire_bytes") > 20, "{evidence}");
        }
    });
}

#[test]
fn bodies_both_ways_arrive_whole() {
    with_origin(|origin| {
        let (code, report) = load(origin, "/test/3000000", &["-n", "6", "-c", "1", "--streams", "3"]);
        assert_eq!((code, number(&report, "/requests/accepted")), (0, 6), "{}", report["failure_example"]);
        assert_eq!(number(&report, "/evidence/body_bytes"), 3_000_000);
        let body = std::env::temp_dir().join(format!("photofinish-h3-{}", std::process::id()));
        std::fs::write(&body, vec![b'x'; 700_000]).expect("written");
        let data = body.display().to_string();
        let flags = ["-n", "20", "-c", "2", "--streams", "4", "-m", "POST", "--body-file", &data];
        let (code, report) = load(origin, "/upload", &flags);
        assert_eq!((code, number(&report, "/requests/accepted")), (0, 20), "{}", report["failure_example"]);
        std::fs::remove_file(body).expect("there");
    });
}

#[test]
fn a_visit_speaks_it_beside_other_protocols_of_the_same_server() {
    with_origin(|origin| {
        let request = json!({"method": "GET", "path": "/", "headers": []});
        let expect = json!({"status": 200, "body_bytes": null, "body_xxh3": null});
        let target = |id: &str, protocol: &str| {
            json!({"id": id, "address": origin.to_string(), "cpu": null, "protocol": protocol,
                "request": request, "expect": expect})
        };
        let output = visit(&json!({
            "schema": "photofinish.visit/1", "deadline_ms": 60_000, "backend": "auto", "threads": 1, "cpus": [],
            "window_ms": 20, "settle_ms": 2, "drain_ms": 2000, "reconnect": true,
            "load": {"mode": "closed", "connections": 2, "streams": 4},
            "tls": {"ca": null, "insecure": true, "server_name": "localhost", "resume": false, "early_data": false},
            "targets": [target("one", "h3"), target("two", "h2+tls")],
            "phases": [{"name": "measure", "order": [[0, 1], [1, 0]]}],
        }));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = lines(&output);
        let found: Vec<&Value> = lines.iter().filter(|line| line["event"] == "target").collect();
        for (line, protocol) in found.iter().zip(["h3", "h2+tls"]) {
            assert_eq!((&line["failed"], &line["evidence"]["protocol"]), (&json!({}), &protocol.into()), "{line}");
            assert!(number(line, "/requests") > 0, "{line}");
        }
    });
}

#[test]
fn a_server_that_is_not_there_or_not_trusted_fails_for_that_and_never_falls_back() {
    let gone = UdpSocket::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound");
    let (code, report) = load(gone, "/", &["-n", "2", "-c", "1"]);
    assert_ne!(code, 0);
    assert!(number(&report, "/requests/failed/protocol") > 0, "{report}");
    with_origin(|origin| {
        let url = format!("https://{origin}/");
        let ca = std::env::temp_dir().join(format!("photofinish-h3-{}.pem", std::process::id()));
        std::fs::write(&ca, Authority::for_localhost().expect("another").ca_pem()).expect("written");
        let (code, report) =
            load_urls(&[&url], &["--http", "3", "-n", "2", "-c", "1", "--ca", &ca.display().to_string()]);
        assert_ne!(code, 0);
        assert!(number(&report, "/requests/failed/tls") > 0, "{report}");
        std::fs::remove_file(ca).expect("there");
    });
}

/// What a server does with each request.
#[derive(Clone, Copy)]
enum Deed {
    /// Sends these bytes and ends the stream.
    Answer(&'static [u8]),
    /// The same, without end.
    Hang(&'static [u8]),
    Reset(u64),
    /// Sends these on its control stream.
    Control(&'static [u8]),
    Close(u64),
}

struct Bad {
    deed: Deed,
    control: Option<Stream>,
}

impl Handler for Bad {
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        self.control = net.open_stream(conn, StreamKind::Sending);
        if let Some(control) = self.control {
            // The control stream and empty SETTINGS.
            net.send_on(conn, control, Piece::Static(b"\x00\x04\x00"), false);
        }
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, _data: &[u8], end: bool) {
        if stream.kind() == StreamKind::Sending || !end {
            return;
        }
        match self.deed {
            Deed::Answer(bytes) => drop(net.send_on(conn, stream, Piece::Static(bytes), true)),
            Deed::Hang(bytes) => drop(net.send_on(conn, stream, Piece::Static(bytes), false)),
            Deed::Reset(code) => net.reset_stream(conn, stream, code),
            Deed::Control(bytes) => {
                if let Some(control) = self.control {
                    net.send_on(conn, control, Piece::Static(bytes), false);
                }
            }
            Deed::Close(code) => net.close_quic(conn, code, b"enough"),
        }
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

/// The only reason for which the requests to such a server failed.
fn reason(deed: Deed) -> String {
    let socket = listen("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let address = socket.local_addr().expect("bound");
    let stop = StopSignal::new().expect("an eventfd");
    let options = Options { max_connections: 10, stop: Some(Arc::clone(&stop)), ..Options::default() };
    let bad = Quic::new(Bad { deed, control: None }, QuicSettings::beside(&options));
    let mut bad = bad.listening(socket, &identity(), 0).expect("an identity for QUIC");
    let server = std::thread::spawn(move || photofinish_net::run(&options, Vec::new(), &mut bad).map(drop));
    let (_, report) = load(address, "/", &["-n", "3", "-c", "1", "--timeout", "300ms"]);
    stop.raise();
    server.join().expect("ends well").expect("runs well");
    let failed = report["requests"]["failed"].as_object().expect("an object");
    let reasons: Vec<&String> =
        failed.iter().filter(|(_, count)| count.as_u64() > Some(0)).map(|(name, _)| name).collect();
    assert_eq!(number(&report, "/requests/accepted"), 0);
    assert!(reasons.len() == 1, "{failed:?}: {}", report["failure_example"]);
    reasons[0].clone()
}

#[test]
fn whatever_a_server_does_wrong_its_requests_fail_for_the_right_reason() {
    // HEADERS with `:status: 200` of the static table (25); DATA of two bytes.
    let cases = [
        (Deed::Answer(b"\x01\x03\x00\x00\xdc"), "status"),
        (Deed::Answer(b""), "malformed"),
        (Deed::Answer(b"\x00\x02hi"), "malformed"),
        (Deed::Answer(b"\x01\x03\x00\x00\xd9\x00\x05hi"), "malformed"),
        (Deed::Answer(b"\x01\x02\x00\x00"), "malformed"),
        (Deed::Answer(b"\x01\x02\x05\x00"), "malformed"),
        (Deed::Answer(b"\x04\x00"), "malformed"),
        (Deed::Hang(b"\x01\x03\x00\x00\xd9\x00\x02h"), "timeout"),
        (Deed::Reset(0x10b), "reset"),
        (Deed::Control(b"\x07\x01\x00"), "reset"),
        (Deed::Control(b"\x00\x00"), "malformed"),
        (Deed::Close(0x102), "reset"),
        (Deed::Close(0x100), "closed-early"),
    ];
    for (index, (deed, expected)) in cases.into_iter().enumerate() {
        assert_eq!(reason(deed), expected, "case {index}");
    }
}
