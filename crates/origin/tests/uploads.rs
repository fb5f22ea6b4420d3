//! What `/upload` answers, whatever is sent to it and however it is cut.

mod support;

use std::io::Write;
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use photofinish_http::BodyHash;
use photofinish_origin::{Settings, Which};
use proptest::prelude::*;
use serde_json::json;
use support::client::{Client, FORM, chunks, form, upload_head};
use support::{with_server, with_settings};

fn xxh3(bytes: &[u8]) -> String {
    let mut hash = BodyHash::default();
    hash.update(bytes, Some(0));
    format!("{:016x}", hash.digest())
}

fn random(length: usize) -> Vec<u8> {
    photofinish_http::payload::bytes(length).expect("memory").to_vec()
}

/// A server that takes bodies of up to 1 MiB.
fn with_small_limit(test: impl Fn(SocketAddr)) {
    with_settings(Which::Origin, &Settings { most_body_bytes: 1 << 20, ..Settings::default() }, test);
}

#[test]
fn a_form_is_answered_with_what_it_consists_of() {
    with_server(Which::Origin, 1, |address| {
        let content = random(300_000);
        let body = form("photo %22x%22.jpg", &content);
        let answer = Client::new(address).upload("/upload", FORM, &body);
        assert!(answer.head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"), "{}", answer.head);
        let expected = json!({
            "bytes": body.len(), "content_length": body.len(), "chunked": false, "content_type": FORM,
            "parts": [{
                "name": "file", "filename": "photo \"x\".jpg", "content_type": "application/octet-stream",
                "bytes": content.len(), "xxh3": xxh3(&content)
            }],
            "xxh3": xxh3(&body), "sha256": null
        });
        assert_eq!(answer.json(), expected);
    });
}

#[test]
fn a_raw_body_in_chunks_has_no_parts_and_no_length() {
    with_server(Which::Origin, 1, |address| {
        let content = random(200_000);
        let mut client = Client::new(address);
        client.say("PUT /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.say(chunks(&content, 999));
        let expected = json!({
            "bytes": content.len(), "content_length": null, "chunked": true, "content_type": null,
            "parts": [], "xxh3": xxh3(&content), "sha256": null
        });
        assert_eq!(client.answer().json(), expected);
    });
}

#[test]
fn sha256_is_added_to_the_body_and_each_part_on_request() {
    with_server(Which::Origin, 1, |address| {
        // FIPS 180-2, B.1: the digest of "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let mut client = Client::new(address);
        let raw = client.upload("/upload?hash=sha256", "text/plain", b"abc").json();
        assert_eq!(raw["sha256"], abc);
        let parts = client.upload("/upload?hash=sha256", FORM, &form("abc", b"abc")).json()["parts"].clone();
        assert_eq!(parts[0]["sha256"], abc);
        assert_eq!(client.upload("/upload?hash=md5", "text/plain", b"abc").status, 400);
    });
}

#[test]
fn an_upload_without_a_body_is_an_empty_one() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        let nothing = client.ask("POST /upload").json();
        assert_eq!((&nothing["bytes"], &nothing["content_length"]), (&json!(0), &json!(null)));
        let empty = client.upload("/upload", "text/plain", b"").json();
        assert_eq!((&empty["bytes"], &empty["content_length"]), (&json!(0), &json!(0)));
        assert_eq!(empty["xxh3"], xxh3(b""));
    });
}

#[test]
fn other_methods_than_post_and_put_are_told_which_are_allowed() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        for method in ["GET", "DELETE", "PATCH"] {
            let answer = client.ask(&format!("{method} /upload"));
            assert_eq!(answer.status, 405);
            assert!(answer.head.contains("Allow: POST, PUT\r\n"), "{}", answer.head);
        }
    });
}

#[test]
fn a_client_that_waits_with_its_body_is_told_to_send_it() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        client.say("POST /upload HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
        client.say("12345");
        let answer = client.answer();
        assert_eq!((answer.status, &answer.json()["bytes"]), (200, &json!(5)));
        assert!(!answer.head.contains("Connection"), "the connection stays: {}", answer.head);
        assert_eq!(client.ask("GET /").text(), "Hello World!");
    });
}

#[test]
fn a_declared_length_beyond_the_limit_is_refused_before_any_of_it_is_sent() {
    with_small_limit(|address| {
        for expect in ["", "Expect: 100-continue\r\n"] {
            let mut client = Client::new(address);
            client.say(format!("POST /upload HTTP/1.1\r\nHost: a\r\n{expect}Content-Length: 1048577\r\n\r\n"));
            let answer = client.answer();
            assert_eq!(answer.status, 413);
            assert!(answer.head.contains("Connection: close\r\n"));
            assert!(client.ended());
        }
        let body = random(1 << 20);
        assert_eq!(Client::new(address).upload("/upload", "text/plain", &body).status, 200, "as long as may be");
    });
}

#[test]
fn a_body_whose_count_passes_the_limit_is_refused() {
    with_small_limit(|address| {
        let mut client = Client::new(address);
        client.say("POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.say(chunks(&random((1 << 20) + 1), 10_000));
        assert_eq!(client.answer().status, 413);
        assert!(client.ended());
    });
}

#[test]
fn a_client_that_sends_everything_before_it_reads_still_gets_its_refusal() {
    with_small_limit(|address| {
        let body = random(30 << 20);
        for head in ["Content-Length: 31457280", "Transfer-Encoding: chunked"] {
            let mut client = Client::new(address);
            client.say(format!("POST /upload HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n"));
            client.say(if head.starts_with('T') { chunks(&body, 1 << 20) } else { body.clone() });
            assert_eq!(client.answer().status, 413);
            assert!(client.ended());
        }
    });
}

#[test]
fn a_client_that_never_stops_sending_is_cut_off() {
    with_small_limit(|address| {
        let mut client = Client::new(address);
        client.say("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\n");
        let piece = random(1 << 20);
        let sent = (0..10_000).take_while(|_| client.stream.write_all(&piece).is_ok()).count();
        assert!(sent < 1_000, "{sent} MiB were taken");
    });
}

#[test]
fn what_is_no_form_although_it_says_so_is_refused_with_the_reason() {
    with_server(Which::Origin, 1, |address| {
        let cases: [(&str, &[u8], &str); 3] = [
            ("multipart/form-data", b"x", "without a boundary"),
            (FORM, b"--b0und\r\nnonsense", "before its closing delimiter"),
            (FORM, b"--b0und\r\nX: 1\r\n\r\nno name\r\n--b0und--", "without Content-Disposition"),
        ];
        for (content_type, body, reason) in cases {
            let answer = Client::new(address).upload("/upload", content_type, body);
            assert_eq!(answer.status, 400);
            assert!(answer.text().contains(reason), "{}", answer.text());
        }
    });
}

#[test]
fn uploads_and_other_requests_follow_each_other_on_one_connection() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        let body = form("f", &random(5_000));
        let mut all = Vec::new();
        for _ in 0..50 {
            all.extend_from_slice(upload_head("POST", "/upload", FORM, body.len()).as_bytes());
            all.extend_from_slice(&body);
            all.extend_from_slice(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            all.extend_from_slice(b"PUT /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
        }
        client.say(all);
        for _ in 0..50 {
            assert_eq!(client.answer().json()["xxh3"], xxh3(&body));
            assert_eq!(client.answer().text(), "Hello World!");
            assert_eq!(client.answer().status, 404);
        }
    });
}

#[test]
fn an_upload_that_asks_for_it_ends_its_connection() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        client.say("POST /upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc");
        let answer = client.answer();
        assert!(answer.head.contains("Connection: close\r\n") && client.ended());
        let mut old = Client::new(address);
        old.say("POST /upload HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc");
        assert!(old.answer().status == 200 && old.ended());
    });
}

#[test]
fn any_cut_of_a_body_gives_the_same_answer() {
    with_server(Which::Origin, 1, |address| {
        let sizes = prop_oneof![0_usize..300, 60_000_usize..140_000];
        let cases = (sizes, 1_usize..40_000, 1_usize..30_000, any::<bool>());
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
        let mut client = Client::new(address);
        let client = std::cell::RefCell::new(&mut client);
        let outcome = runner.run(&cases, |(size, chunk, cut, chunked)| {
            let mut client = client.borrow_mut();
            let body = form("f", &random(size));
            let (head, sent) = if chunked {
                let head = format!(
                    "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n"
                );
                (head, chunks(&body, chunk))
            } else {
                (upload_head("POST", "/upload", FORM, body.len()), body.clone())
            };
            for piece in [head.as_bytes(), &sent].concat().chunks(cut.max(sent.len() / 50 + 1)) {
                client.say(piece);
            }
            let answer = client.answer().json();
            prop_assert_eq!(&answer["xxh3"], &json!(xxh3(&body)));
            prop_assert_eq!(&answer["parts"][0]["bytes"], &json!(size));
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn a_connection_is_closed_after_as_many_bytes_as_the_fault_says() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        client.say(upload_head("POST", "/upload?fault=close:1000", "text/plain", 2000));
        client.say([0; 999]);
        client.stream.set_read_timeout(Some(Duration::from_millis(50))).expect("an option of TCP");
        let early = client.stream.peek(&mut [0]).expect_err("still open");
        assert_eq!(early.kind(), std::io::ErrorKind::WouldBlock);
        client.stream.set_read_timeout(None).expect("an option of TCP");
        client.say([0]);
        assert!(client.ended());
        let whole = Client::new(address).upload("/upload?fault=close:1000", "text/plain", &[0; 999]);
        assert_eq!(whole.status, 200, "a shorter body does not meet it");
    });
}

#[test]
fn a_stalled_upload_stops_its_sender_and_is_never_answered() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        client.stream.set_write_timeout(Some(Duration::from_millis(100))).expect("an option of TCP");
        client.say(upload_head("POST", "/upload?fault=stall:100000", "text/plain", 1 << 30));
        let piece = random(1 << 20);
        let sent = (0..1024).take_while(|_| client.stream.write_all(&piece).is_ok()).count();
        assert!(sent < 64, "{sent} MiB were taken");
        assert_eq!(Client::new(address).ask("GET /").status, 200, "others are served");
        client.stream.shutdown(Shutdown::Both).expect("open");
    });
}

#[test]
fn a_refusal_in_the_middle_and_another_status_are_given_as_asked() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        client.say(upload_head("POST", "/upload?fault=413:10", "text/plain", 1_000_000));
        client.say([0; 10]);
        assert_eq!(client.answer().status, 413);
        assert!(client.ended());
        let mut client = Client::new(address);
        let answer = client.upload("/upload?fault=status:404", "text/plain", &vec![0; 100_000]);
        assert_eq!(answer.status, 404);
        assert_eq!(client.upload("/upload?fault=status:507", "text/plain", b"").status, 507);
        assert_eq!(client.ask("GET /").status, 200, "the body was read: the connection stays");
        assert_eq!(client.upload("/upload?fault=nonsense", "text/plain", b"x").status, 400);
    });
}
