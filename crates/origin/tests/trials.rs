//! The evidence that the origin keeps of each trial.

mod support;

use std::io::Read;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use photofinish_net::Nanos;
use photofinish_origin::{Settings, Which};
use serde_json::{Value, json};
use support::client::{Client, FORM, chunks, form, upload_head};
use support::{with_server, with_settings};

fn register(address: SocketAddr, id: &str, mode: &str) -> Value {
    Client::new(address).ask(&format!("PUT /trials/{id}?mode={mode}")).json()
}

fn evidence(address: SocketAddr, id: &str) -> Value {
    Client::new(address).ask(&format!("GET /trials/{id}")).json()
}

/// The evidence once `settled` holds: what a client leaves behind without an answer is noticed some time later.
fn evidence_when(address: SocketAddr, id: &str, settled: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let evidence = evidence(address, id);
        if settled(&evidence) {
            return evidence;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{evidence}");
        std::thread::yield_now();
    }
}

/// Compares only the keys that `expected` has.
fn assert_has(evidence: &Value, expected: &Value) {
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&evidence[key], value, "{key} of {evidence}");
    }
}

#[test]
fn a_fresh_trial_has_counted_nothing() {
    with_server(Which::Origin, 1, |address| {
        let put = Client::new(address).ask("PUT /trials/r0-go.x~1_?mode=count");
        assert_eq!(put.status, 201);
        let expected = json!({
            "schema": "photofinish.evidence/1", "trial": "r0-go.x~1_", "mode": "count",
            "requests": 0, "completed": 0, "aborted": 0, "refused": {}, "connections": 0, "protocols": {},
            "codings": {}, "encode_ns": 0,
            "body_bytes": 0, "sent_body_bytes": 0, "wire_in_bytes": 0, "acked_bytes": 0, "packets_in": 0,
            "packets_out": 0, "chunked": 0, "with_length": 0, "least_body_bytes": null, "most_body_bytes": null,
            "first_request_ns": null, "last_request_ns": null, "last": null
        });
        assert_eq!(put.json(), expected);
        assert_eq!(evidence(address, "r0-go.x~1_"), expected);
    });
}

#[test]
fn uploads_are_counted_looked_into_or_not_and_the_counters_outlive_a_change_of_mode() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "check");
        let mut client = Client::new(address);
        let body = form("f", &vec![7; 200_000]);
        let checked = client.upload("/upload?trial=a", FORM, &body).json();
        assert_eq!(client.ask("PUT /trials/a?mode=count").status, 200);
        for length in [0, 1, 70_000, 3_000_000] {
            let answer = client.upload("/upload?trial=a", "text/plain", &vec![1; length]);
            assert_eq!(answer.text(), format!("{{\"bytes\":{length}}}"));
        }
        client.say("POST /upload?trial=a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.say(chunks(&vec![1; 500_000], 60_000));
        assert_eq!(client.answer().text(), "{\"bytes\":500000}");
        let total = body.len() + 1 + 70_000 + 3_000_000 + 500_000;
        assert_has(
            &client.ask("GET /trials/a").json(),
            &json!({
                "mode": "count", "requests": 6, "completed": 6, "aborted": 0, "refused": {}, "connections": 1,
                "protocols": {"http/1.1": 6}, "body_bytes": total, "sent_body_bytes": 0, "chunked": 1,
                "with_length": 5, "least_body_bytes": 0, "most_body_bytes": 3_000_000, "last": checked
            }),
        );
    });
}

#[test]
fn a_pipelined_request_behind_a_counted_body_is_answered() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "count");
        let mut client = Client::new(address);
        for length in [100, 66_000, 1_000_000, 5_000_000] {
            client.say(upload_head("POST", "/upload?trial=a", "text/plain", length));
            client.say([vec![b'x'; length], b"GET /test/3 HTTP/1.1\r\nHost: a\r\n\r\n".to_vec()].concat());
            assert_eq!(client.answer().json(), json!({ "bytes": length }));
            assert_eq!(client.answer().body.len(), 3);
        }
    });
}

#[test]
fn a_request_of_an_unknown_trial_is_served_and_not_counted() {
    with_server(Which::Origin, 1, |address| {
        register(address, "known", "count");
        let mut client = Client::new(address);
        let answer = client.upload("/upload?trial=unknown", FORM, &form("f", b"x")).json();
        assert_eq!(answer["parts"][0]["name"], "file", "looked into, as without a trial");
        assert_eq!(client.ask("GET /test/1k?trial=unknown").body.len(), 1024);
        assert_eq!(client.ask("GET /trials/unknown").status, 404);
        assert_has(&evidence(address, "known"), &json!({ "requests": 0, "connections": 0 }));
    });
}

#[test]
fn a_deleted_trial_shows_its_evidence_a_last_time() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "count");
        let mut client = Client::new(address);
        client.upload("/upload?trial=a", "text/plain", b"abc");
        assert_has(&client.ask("DELETE /trials/a").json(), &json!({ "completed": 1, "body_bytes": 3 }));
        assert_eq!(client.ask("DELETE /trials/a").status, 404);
        client.upload("/upload?trial=a", "text/plain", b"abc");
        assert_has(&register(address, "a", "count"), &json!({ "requests": 0 }));
    });
}

#[test]
fn a_trial_needs_a_good_id_a_mode_and_a_method_that_there_is() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        let long = "x".repeat(101);
        for id in ["", "a%20b", "a/b", "ä", &long] {
            assert_eq!(Client::new(address).ask(&format!("PUT /trials/{id}?mode=check")).status, 400, "{id}");
        }
        assert_eq!(client.ask("PUT /trials/a").status, 400);
        assert_eq!(client.ask("PUT /trials/a?mode=guess").status, 400);
        let post = client.ask("POST /trials/a?mode=check");
        assert_eq!(post.status, 405);
        assert!(post.head.contains("Allow: GET, HEAD, PUT, DELETE\r\n"), "{}", post.head);
    });
}

#[test]
fn no_more_than_4096_trials_are_kept() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        for id in 0..4096 {
            assert_eq!(client.ask(&format!("PUT /trials/{id}?mode=count")).status, 201);
        }
        assert_eq!(client.ask("PUT /trials/more?mode=count").status, 507);
        assert_eq!(client.ask("PUT /trials/0?mode=check").status, 200);
        assert_eq!(client.ask("DELETE /trials/0").status, 200);
        assert_eq!(client.ask("PUT /trials/more?mode=count").status, 201);
    });
}

#[test]
fn downloads_are_counted_when_the_kernel_has_taken_them_whole() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "check");
        let mut client = Client::new(address);
        let sizes = [1, 1000, 1 << 20, (1 << 20) + 1, 5_000_000];
        for (at, size) in sizes.into_iter().enumerate() {
            let answer = client.ask(&format!("GET /test/{size}?trial=a"));
            assert!(answer.body == photofinish_http::payload::bytes(size).expect("memory"), "{size}");
            let total: usize = sizes[..=at].iter().sum();
            assert_has(&evidence(address, "a"), &json!({ "completed": at + 1, "sent_body_bytes": total }));
        }
        client.say("HEAD /test/1g?trial=a HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(client.head().contains("Content-Length: 1073741824\r\n"));
        let total: usize = sizes.iter().sum();
        assert_has(
            &evidence(address, "a"),
            &json!({
                "requests": 6, "completed": 6, "aborted": 0, "connections": 1, "sent_body_bytes": total,
                "body_bytes": 0, "chunked": 0, "with_length": 0, "least_body_bytes": null, "last": null
            }),
        );
    });
}

#[test]
fn pipelined_downloads_of_a_trial_arrive_in_order() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "check");
        let mut client = Client::new(address);
        let asks = [3_000_000, 5, 70_000, 2_000_000, 1].map(|size| {
            let rest = "HTTP/1.1\r\nHost: a\r\n\r\n";
            format!("GET /test/{size}?trial=a {rest}GET / {rest}")
        });
        client.say(asks.concat());
        for size in [3_000_000, 5, 70_000, 2_000_000, 1] {
            assert!(client.answer().body == photofinish_http::payload::bytes(size).expect("memory"), "{size}");
            assert_eq!(client.answer().text(), "Hello World!");
        }
        assert_has(&evidence(address, "a"), &json!({ "completed": 5, "sent_body_bytes": 5_070_006 }));
    });
}

#[test]
fn a_download_that_asks_for_the_end_of_its_connection_gets_it_when_all_has_left() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "check");
        let mut client = Client::new(address);
        client.say("GET /test/3m?trial=a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert_eq!(client.answer().body.len(), 3 << 20);
        // The end is that of the output alone, so that everything can be acknowledged: the client ends the connection.
        assert!(client.ended());
        drop(client);
        let closed = evidence_when(address, "a", |evidence| evidence["acked_bytes"].as_u64() > Some(3 << 20));
        assert_has(&closed, &json!({ "completed": 1, "aborted": 0 }));
    });
}

#[test]
fn what_ends_before_its_end_is_aborted_and_its_bytes_count() {
    with_server(Which::Origin, 1, |address| {
        for (id, mode) in [("check", "check"), ("count", "count")] {
            register(address, id, mode);
            let mut client = Client::new(address);
            client.say(upload_head("POST", &format!("/upload?trial={id}"), "text/plain", 1_000_000));
            client.say(vec![0; 300_000]);
            drop(client);
            let mut client = Client::new(address);
            client.say(format!("GET /test/1g?trial={id} HTTP/1.1\r\nHost: a\r\n\r\n"));
            client.stream.read_exact(&mut vec![0; 100_000]).expect("a beginning");
            drop(client);
            let aborted = evidence_when(address, id, |evidence| evidence["aborted"] == 2);
            assert_has(&aborted, &json!({ "requests": 2, "completed": 0, "connections": 2, "body_bytes": 300_000 }));
            let sent = aborted["sent_body_bytes"].as_u64().expect("a number");
            assert!((50_000..1 << 29).contains(&sent), "{aborted}");
        }
    });
}

#[test]
fn malformed_bodies_are_aborted() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "check");
        let form = Client::new(address).upload("/upload?trial=a", FORM, b"--b0und\r\nnonsense\r\n\r\n");
        assert_eq!(form.status, 400);
        let mut client = Client::new(address);
        client.say("POST /upload?trial=a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n");
        assert_eq!(client.answer().status, 400);
        assert_has(&evidence(address, "a"), &json!({ "requests": 2, "completed": 0, "aborted": 2, "refused": {} }));
    });
}

#[test]
fn refusals_are_counted_by_status() {
    let settings = Settings { most_body_bytes: 1000, ..Settings::default() };
    with_settings(Which::Origin, &settings, |address| {
        register(address, "a", "count");
        for (query, length) in [("", 1001), ("&fault=413:5", 10), ("&fault=status:404", 10), ("&fault=status:404", 0)] {
            Client::new(address).upload(&format!("/upload?trial=a{query}"), "text/plain", &vec![0; length]);
        }
        let mut client = Client::new(address);
        client.say("POST /upload?trial=a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.say(chunks(&[0; 1001], 100));
        assert_eq!(client.answer().status, 413);
        assert_has(
            &evidence(address, "a"),
            &json!({
                "requests": 5, "completed": 0, "aborted": 0, "refused": {"404": 2, "413": 3}, "connections": 5,
                "least_body_bytes": null, "body_bytes": 5 + 10 + 1001
            }),
        );
    });
}

#[test]
fn faults_without_an_answer_are_aborted() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "count");
        for fault in ["close", "stall"] {
            let mut client = Client::new(address);
            client.say(upload_head("POST", &format!("/upload?trial=a&fault={fault}:100000"), "text/plain", 200_000));
            client.say(vec![0; 100_000]);
            let aborts = if fault == "close" { 1 } else { 2 };
            evidence_when(address, "a", |evidence| evidence["aborted"] == aborts);
        }
        assert_has(&evidence(address, "a"), &json!({ "requests": 2, "completed": 0, "body_bytes": 200_000 }));
    });
}

#[test]
fn protocols_connections_and_times_are_those_of_the_requests() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "count");
        let before = Nanos::now();
        let mut client = Client::new(address);
        client.upload("/upload?trial=a", "text/plain", b"abc");
        client.ask("GET /test/1?trial=a");
        let between = Nanos::now();
        let mut old = Client::new(address);
        old.say("GET /test/1?trial=a HTTP/1.0\r\n\r\n");
        old.answer();
        let after = Nanos::now();
        client.ask("GET /");
        let evidence = evidence(address, "a");
        assert_has(&evidence, &json!({ "protocols": {"http/1.0": 1, "http/1.1": 2}, "connections": 2, "requests": 3 }));
        let time = |key: &str| Nanos(evidence[key].as_u64().expect("a time"));
        assert!((before..between).contains(&time("first_request_ns")));
        assert!((between..after).contains(&time("last_request_ns")));
    });
}

#[test]
fn the_wire_is_that_of_the_trials_connections_open_and_closed() {
    with_server(Which::Origin, 1, |address| {
        register(address, "a", "count");
        let head = upload_head("POST", "/upload?trial=a", "text/plain", 2_000_000);
        let (mut sent, mut read) = (0, 0);
        let mut open = Vec::new();
        for keep in [false, true] {
            let mut client = Client::new(address);
            client.say(&head);
            client.say(vec![0; 2_000_000]);
            let answer = client.answer();
            sent += head.len() + 2_000_000;
            read += answer.head.len() + answer.body.len();
            if keep {
                open.push(client);
            }
        }
        let counted = evidence_when(address, "a", |evidence| evidence["acked_bytes"] == read);
        assert_has(&counted, &json!({ "wire_in_bytes": sent, "connections": 2, "body_bytes": 4_000_000 }));
        assert!(counted["packets_in"].as_u64() > Some(10) && counted["packets_out"].as_u64() > Some(2), "{counted}");
    });
}

#[test]
fn several_workers_share_their_trials() {
    with_server(Which::Origin, 3, |address| {
        register(address, "a", "count");
        let clients: Vec<Client> = (0..20)
            .map(|_| {
                let mut client = Client::new(address);
                client.upload("/upload?trial=a", "text/plain", b"abc");
                client
            })
            .collect();
        let open = evidence(address, "a");
        assert_has(&open, &json!({ "requests": 20, "completed": 20, "connections": 20, "body_bytes": 60 }));
        // The sockets of other workers can't be asked from this one, so nothing is said before they have ended.
        assert_eq!(open["wire_in_bytes"], Value::Null);
        drop(clients);
        let head = upload_head("POST", "/upload?trial=a", "text/plain", 3).len() as u64;
        evidence_when(address, "a", |evidence| evidence["wire_in_bytes"] == 20 * (head + 3));
    });
}
