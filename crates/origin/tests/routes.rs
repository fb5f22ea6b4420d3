//! Both servers over loopback, on each back end that this kernel has.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use photofinish_http::payload;
use photofinish_net::StopSignal;
use photofinish_origin::{ServeError, Settings, Which, serve};
use support::with_server;

/// Sends `request` and reads until the server closes.
fn talk(address: SocketAddr, request: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.write_all(request.as_bytes()).expect("writes");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("reads to the end");
    answer
}

/// The head, as text, and the body of one closing request.
fn ask(address: SocketAddr, line: &str) -> (String, Vec<u8>) {
    let answer = talk(address, &format!("{line} HTTP/1.1\r\nHost: origin\r\nConnection: close\r\n\r\n"));
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    (String::from_utf8(answer[..end].to_vec()).expect("ASCII"), answer[end..].to_vec())
}

#[test]
fn the_greeting_is_the_one_that_every_contestant_owes() {
    with_server(Which::Origin, 1, |address| {
        let (head, body) = ask(address, "GET /");
        assert_eq!(
            head,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(body, b"Hello World!");
    });
}

#[test]
fn sized_downloads_are_the_payload_with_the_fields_that_clients_need() {
    with_server(Which::Origin, 1, |address| {
        for (size, bytes) in [("1", 1), ("1k", 1024), ("5000", 5000), ("100K", 102_400), ("10m", 10 << 20)] {
            let (head, body) = ask(address, &format!("GET /test/{size}"));
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
            assert!(head.contains("Content-Type: application/octet-stream\r\n"));
            assert!(head.contains(&format!("Content-Length: {bytes}\r\n")));
            assert!(head.contains("Cache-Control: no-cache\r\n"));
            assert!(head.contains("Access-Control-Allow-Origin: *\r\n"));
            assert!(body == payload::bytes(bytes).expect("memory"), "{size}");
        }
    });
}

#[test]
fn info_names_the_server_and_its_endpoints_as_json() {
    with_server(Which::Origin, 1, |address| {
        let (head, body) = ask(address, "GET /info");
        assert!(head.contains("Content-Type: application/json\r\n"));
        let info: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert!(info["server"].as_str().expect("a name").starts_with("photofinish-origin/"));
        assert!(info["endpoints"].as_array().expect("a list").contains(&"/test/10m".into()));
    });
}

#[test]
fn head_is_get_without_the_body() {
    with_server(Which::Origin, 1, |address| {
        for path in ["/", "/info", "/test/1m", "/test/0", "/nowhere"] {
            let (get, _) = ask(address, &format!("GET {path}"));
            let (head, body) = ask(address, &format!("HEAD {path}"));
            assert_eq!((head, body.len()), (get, 0), "{path}");
        }
    });
}

#[test]
fn what_can_not_be_served_gets_the_fitting_status() {
    with_server(Which::Origin, 1, |address| {
        let statuses = [
            ("GET /test/0", "400 "),
            ("GET /test/-1", "400 "),
            ("GET /test/1025m", "400 "),
            ("GET /test/big", "404 "),
            ("GET /nowhere", "404 "),
            ("POST /", "405 "),
            ("OPTIONS *", "404 "),
            ("nonsense", "400 "),
        ];
        for (line, status) in statuses {
            let (head, body) = ask(address, line);
            assert_eq!(&head[9..13], status, "{line}");
            assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{line}");
        }
        assert!(ask(address, "DELETE /info").0.contains("Allow: GET, HEAD\r\n"));
    });
}

#[test]
fn a_malformed_request_is_answered_and_ends_the_connection() {
    with_server(Which::Origin, 1, |address| {
        let answer = talk(address, "GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let text = String::from_utf8(answer).expect("ASCII");
        assert!(text.starts_with("HTTP/1.1 400 Bad Request\r\n") && text.contains("Connection: close\r\n"), "{text}");
        assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{text}");
    });
}

#[test]
fn pipelined_requests_are_answered_in_order_on_one_connection() {
    with_server(Which::Origin, 2, |address| {
        let mut requests = String::new();
        for _ in 0..1000 {
            requests.push_str("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            requests.push_str("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
        }
        requests.push_str("GET /test/20k HTTP/1.0\r\n\r\n");
        let answer = talk(address, &requests);
        let heads = answer.windows(9).filter(|nine| nine == b"HTTP/1.1 ").count();
        assert_eq!(heads, 2001);
        assert!(answer.ends_with(payload::bytes(20 << 10).expect("memory")));
    });
}

#[test]
fn a_client_that_pipelines_more_than_it_reads_still_gets_everything() {
    with_server(Which::Origin, 1, |address| {
        let mut stream = TcpStream::connect(address).expect("connects");
        // More than MOST_QUEUED waits while these arrive one by one.
        for _ in 0..12 {
            stream.write_all(b"GET /test/3m HTTP/1.1\r\nHost: a\r\n\r\n").expect("writes");
        }
        stream.write_all(b"GET /test/1 HTTP/1.0\r\n\r\n").expect("writes");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("reads to the end");
        let body = payload::bytes(3 << 20).expect("memory");
        assert!(answer.len() > 12 * body.len());
        assert_eq!(memchr::memmem::find_iter(&answer, &body[..64]).count(), 12);
        assert_eq!(answer.last(), body.first());
    });
}

#[test]
fn http_1_0_connections_stay_only_when_asked() {
    with_server(Which::Origin, 1, |address| {
        let answer = talk(address, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n");
        let text = String::from_utf8(answer).expect("ASCII");
        assert_eq!(text.matches("Hello World!").count(), 2);
        assert_eq!(text.matches("Connection: keep-alive\r\n").count(), 1);
        assert_eq!(text.matches("Connection: close\r\n").count(), 1);
    });
}

#[test]
fn the_limit_answers_every_end_of_a_head_alike() {
    with_server(Which::Limit, 1, |address| {
        let mut stream = TcpStream::connect(address).expect("connects");
        let mut answer = [0; 78 * 3];
        let one = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World!";
        for piece in ["GET / HTTP/1.1\r\nHost: a\r", "\n\r\nanything\r\n", "\r\nat all\r\n\r\n"] {
            stream.write_all(piece.as_bytes()).expect("writes");
        }
        stream.read_exact(&mut answer[..one.len() * 3]).expect("three answers");
        assert_eq!(&answer[..one.len() * 3], one.repeat(3));
    });
}

#[test]
fn a_second_server_on_the_same_port_is_refused() {
    with_server(Which::Origin, 1, |address| {
        let stop = StopSignal::new().expect("an eventfd");
        let settings = Settings { port: address.port(), ..Settings::default() };
        let refused = serve(Which::Origin, &settings, &stop, |_| panic!("must not listen"));
        assert!(matches!(refused, Err(ServeError::InUse { address: there, .. }) if there == address), "{refused:?}");
    });
}
