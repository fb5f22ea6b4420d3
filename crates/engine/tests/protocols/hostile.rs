//! Servers of HTTP/2 that break the rules, leave, or say nothing: each is a reason, nothing is counted twice, nothing hangs.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use photofinish_http::h2::ErrorCode;
use photofinish_http::h2::frame::{self, kind, setting};
use serde_json::Value;

use super::peers::{load, number};
use super::scripted::{After, control, head, hello, serve};

const MANNER: [&str; 10] = ["--http", "2", "--streams", "8", "-c", "2", "-d", "400ms", "--timeout", "300ms"];

fn run(address: SocketAddr, more: &[&str]) -> Value {
    let begun = Instant::now();
    let (_, report) = load(address, &[&MANNER[..], more].concat());
    assert!(begun.elapsed() < Duration::from_secs(20), "it hung");
    let requests = &report["requests"];
    let ended = number(requests, "/accepted") + number(requests, "/failed_total") + number(requests, "/censored");
    assert_eq!(number(requests, "/sent"), ended, "{requests}");
    report
}

fn failed(report: &Value, reason: &str) -> u64 {
    report["requests"]["failed"][reason].as_u64().unwrap_or(0)
}

/// Loads a server whose every answer is `answer`, and finds `reason` and nothing else among the failures.
fn fails(reason: &str, answer: fn(&mut Vec<u8>, u32, usize) -> After) -> Value {
    let report = run(serve(&[], answer), &[]);
    let all = report["requests"]["failed"].as_object().unwrap();
    assert!(
        all.len() == 1 && failed(&report, reason) > 0,
        "{reason}: {} {}",
        report["requests"],
        report["failure_example"]
    );
    report
}

#[test]
fn a_good_server_is_counted_response_by_response() {
    let report = run(
        serve(&[], |out, stream, _| {
            hello(out, stream);
            After::Keep
        }),
        &[],
    );
    assert_eq!(number(&report, "/requests/failed_total"), 0, "{}", report["failure_example"]);
    assert_eq!((number(&report, "/evidence/body_bytes"), number(&report, "/evidence/streams")), (12, 8));
    assert_eq!(report["evidence"]["protocol"], "h2");
}

#[test]
fn a_server_that_leaves_midway_fails_what_it_did_not_look_at_and_is_connected_anew() {
    let report = run(
        serve(&[], |out, stream, count| {
            if count == 20 {
                frame::write_goaway(out, stream - 2, ErrorCode::NO_ERROR, "");
            } else if count < 20 {
                hello(out, stream);
            }
            After::Keep
        }),
        &[],
    );
    assert!(failed(&report, "reset") > 0 && number(&report, "/requests/accepted") >= 40, "{}", report["requests"]);
    assert!(number(&report, "/connects") > 2);
}

#[test]
fn streams_that_are_refused_are_reset_and_a_storm_of_them_ends_the_connection() {
    let report = run(
        serve(&[], |out, stream, _| {
            frame::write_reset(out, stream, ErrorCode::REFUSED_STREAM);
            After::Keep
        }),
        &[],
    );
    assert!(failed(&report, "reset") > 0 && number(&report, "/requests/accepted") == 0, "{}", report["requests"]);
    let report = run(
        serve(&[], |out, stream, _| {
            (0..3000).for_each(|_| frame::write_reset(out, stream, ErrorCode::CANCEL));
            After::Keep
        }),
        &[],
    );
    assert!(failed(&report, "malformed") > 0, "{}", report["requests"]);
}

#[test]
fn silence_ends_with_the_time_out() {
    fails("timeout", |_, _, _| After::Keep);
}

#[test]
fn a_window_that_never_opens_ends_an_upload_with_the_time_out() {
    let address = serve(&[(setting::INITIAL_WINDOW_SIZE, 0)], |_, _, _| After::Keep);
    let report = run(address, &["-m", "POST", "--body", "some bytes"]);
    assert!(failed(&report, "timeout") > 0, "{}", report["requests"]);
}

#[test]
fn what_breaks_the_protocol_is_malformed() {
    fails("malformed", |out, stream, _| {
        control(out, kind::HEADERS, 0, stream, &[]);
        (0..100).for_each(|_| control(out, kind::CONTINUATION, 0, stream, &[]));
        After::Keep
    });
    fails("malformed", |out, stream, _| {
        control(out, kind::DATA, 0, stream, &vec![0; 16_385]);
        After::Keep
    });
    fails("malformed", |out, stream, _| {
        let mut bomb = vec![0x88, 0x40, 1, b'a', 0x7f, 0x81, 0x1f];
        bomb.extend_from_slice(&[b'x'; 4096 - 48]);
        bomb.extend(std::iter::repeat_n(0xbe, 12_000));
        control(out, kind::HEADERS, 5, stream, &bomb);
        After::Keep
    });
    fails("malformed", |out, stream, _| {
        head(out, stream, &[(":status", "200"), ("content-length", "12")], false);
        control(out, kind::DATA, 1, stream, b"Hello");
        After::Keep
    });
}

#[test]
fn a_response_that_is_cut_off_is_closed_early() {
    fails("closed-early", |out, stream, _| {
        head(out, stream, &[(":status", "200"), ("content-length", "12")], false);
        control(out, kind::DATA, 0, stream, b"Hello");
        After::Close
    });
}

#[test]
fn a_server_of_http_1_is_no_server_of_http_2_and_the_load_ends_at_once() {
    let address = super::peers::always(b"HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\n\r\n");
    let begun = Instant::now();
    let (code, report) = load(address, &["--http", "2", "-c", "3", "-d", "30s", "--timeout", "1s"]);
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert_eq!((code, number(&report, "/requests/accepted")), (1, 0));
    assert!(failed(&report, "protocol") >= 3, "{}", report["requests"]);
    assert!(report["failure_example"].as_str().unwrap().contains("does not speak HTTP/2"));
}
