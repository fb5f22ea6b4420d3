//! The port with TLS: the same server, by whichever protocol was agreed on.

mod support;

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;

use photofinish_http::h2::Limits;
use photofinish_http::payload;
use photofinish_net::tls::{Alpn, Authority, Identity, IdentityOptions};
use photofinish_origin::{Listening, Settings, TlsPort, Which};
use support::client::Client;
use support::relay::through_tls;
use support::{h2, with_listening};

/// Runs a server with both ports, once per back end; `test` gets the clear one and the other.
fn with_tls(which: Which, workers: usize, test: impl Fn(SocketAddr, SocketAddr)) {
    let authority = Authority::for_localhost().expect("made");
    let identity = Arc::new(Identity::of(&authority, &IdentityOptions::default()).expect("made"));
    let settings = Settings { workers, tls: Some(TlsPort { port: 0, identity }), ..Settings::default() };
    with_listening(which, &settings, |Listening { address, tls }| test(address, tls.expect("a port with TLS")));
}

fn protocols(clear: SocketAddr, trial: &str) -> serde_json::Value {
    Client::new(clear).ask(&format!("GET /trials/{trial}")).json()["protocols"].clone()
}

#[test]
fn both_protocols_answer_inside_tls_and_evidence_says_so() {
    with_tls(Which::Origin, 2, |clear, tls| {
        assert_eq!(Client::new(clear).ask("PUT /trials/t?mode=check").status, 201);
        through_tls(tls, Alpn::Http1, |address| {
            let mut client = Client::new(address);
            assert_eq!(client.ask("GET /test/1m?trial=t").body.len(), 1 << 20);
            let body: Vec<u8> = (0..3_u32 << 20).map(|at| (at % 251) as u8).collect();
            assert_eq!(client.upload("/upload?trial=t", "application/octet-stream", &body).json()["bytes"], 3 << 20);
        });
        assert_eq!(protocols(clear, "t"), serde_json::json!({"http/1.1+tls": 2}));
        through_tls(tls, Alpn::H2, |address| {
            let mut client = h2::Client::new(address, Limits::default());
            let body = vec![7; 3 << 20];
            let answer = client.ask("POST", "/upload?trial=t", &[], Some(&body));
            assert_eq!(answer.json()["bytes"], 3 << 20);
            assert_eq!(client.ask("GET", "/test/1m?trial=t", &[], None).bytes, 1 << 20);
        });
        assert_eq!(protocols(clear, "t"), serde_json::json!({"http/1.1+tls": 2, "h2+tls": 2}));
        assert_eq!(Client::new(clear).ask("GET /").text(), "Hello World!");
    });
}

#[test]
fn long_bodies_arrive_whole_inside_tls() {
    const BYTES: usize = 40 << 20;
    with_tls(Which::Origin, 1, |_, tls| {
        through_tls(tls, Alpn::Http1, |address| {
            let mut client = Client::new(address);
            client.say("GET /test/40m HTTP/1.1\r\nHost: origin\r\n\r\n");
            assert!(client.head().starts_with("HTTP/1.1 200 "));
            let body = client.bytes(BYTES);
            assert!(body == payload::piece(0, BYTES).expect("made"));
        });
        through_tls(tls, Alpn::H2, |address| {
            let mut client = h2::Client::new(address, Limits::default());
            let answer = client.ask("GET", "/test/40m", &[], None);
            assert_eq!((answer.status, answer.bytes), (200, BYTES as u64));
        });
    });
}

#[test]
fn what_was_agreed_on_is_what_is_spoken() {
    with_tls(Which::Origin, 1, |_, tls| {
        through_tls(tls, Alpn::H2, |address| {
            let mut client = Client::new(address);
            let mut settings = [0; 9];
            client.stream.read_exact(&mut settings).expect("the server speaks first");
            assert_eq!(settings[3], 4, "a frame of settings");
            client.say("GET / HTTP/1.1\r\nHost: origin\r\n\r\n");
            let mut rest = Vec::new();
            let _ = client.stream.read_to_end(&mut rest);
            assert!(!rest.starts_with(b"HTTP/1.1"), "no other protocol is fallen back to");
        });
        through_tls(tls, Alpn::Http1, |address| {
            let mut client = Client::new(address);
            client.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
            assert!(client.head().starts_with("HTTP/1.1 "), "an answer of HTTP/1.1");
        });
    });
}

#[test]
fn the_least_server_has_a_port_with_tls_too() {
    with_tls(Which::Limit, 1, |clear, tls| {
        for _ in 0..2 {
            through_tls(tls, Alpn::Http1, |address| {
                assert_eq!(Client::new(address).ask("GET /").text(), "Hello World!");
            });
        }
        assert_eq!(Client::new(clear).ask("GET /").text(), "Hello World!");
    });
}
