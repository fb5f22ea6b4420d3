//! `load` against servers that do right and wrong in every way that has a reason code.

mod peers;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use peers::{After, HELLO, always, engine, load, number, serve};

const BRIEF: [&str; 4] = ["-d", "300ms", "-c", "5"];

fn failed(report: &serde_json::Value, reason: &str) -> u64 {
    report["requests"]["failed"][reason].as_u64().unwrap_or(0)
}

#[test]
fn a_good_server_is_measured_on_both_back_ends() {
    let address = always(HELLO);
    for backend in ["auto", "epoll"] {
        let (code, report) = load(address, &[&BRIEF[..], &["--backend", backend, "-t", "2"]].concat());
        assert_eq!(code, 0);
        assert!(number(&report, "/requests/accepted") > 0);
        assert_eq!(number(&report, "/requests/failed_total"), 0);
        assert_eq!(number(&report, "/connects"), 5);
        assert_eq!(number(&report, "/evidence/body_bytes"), 12);
        let hash = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(b"Hello World!"));
        assert_eq!(report["evidence"]["body_xxh3"], hash.as_str());
        assert_eq!(number(&report, "/latency/response/count"), number(&report, "/requests/accepted"));
    }
}

#[test]
fn a_freeze_shows_in_the_response_time_of_all_who_meant_to_send_meanwhile() {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let address = serve(|stream, _| {
        let since = BEGAN.get_or_init(Instant::now).elapsed();
        let (from, to) = (Duration::from_millis(500), Duration::from_millis(1500));
        if since >= from && since < to {
            sleep(to.saturating_sub(since));
        }
        let _ = stream.write_all(HELLO);
        After::Keep
    });
    let (code, report) = load(address, &["-d", "3s", "-c", "50", "--rate", "2000"]);
    assert_eq!(code, 0);
    assert_eq!(number(&report, "/requests/offered"), 6000);
    assert!(number(&report, "/latency/response/p99_ns") >= 500_000_000, "{}", report["latency"]);
    assert!(number(&report, "/latency/lag/p99_ns") >= 500_000_000);
    // Only one request a connection was on its way when the server froze; the others waited to be sent.
    assert!(number(&report, "/latency/service/p90_ns") < number(&report, "/latency/response/p90_ns") / 2);
    assert!(number(&report, "/latency/service/max_ns") >= 500_000_000);
}

#[test]
fn a_404_is_no_answer() {
    let (code, report) = load(always(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope"), &BRIEF);
    assert_eq!(code, 1);
    assert_eq!(number(&report, "/requests/accepted"), 0);
    assert!(failed(&report, "status") > 0);
    assert_eq!(report["evidence"]["status"], 404);
    assert_eq!(report["verdict"]["bound"], "undecided");
    assert!(report["failure_example"].as_str().unwrap().contains("404"));
}

#[test]
fn a_body_cut_off_by_a_close_is_closed_early() {
    let address = serve(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello");
        After::Close
    });
    let (code, report) = load(address, &BRIEF);
    assert_eq!((code, number(&report, "/requests/accepted")), (1, 0));
    assert!(failed(&report, "closed-early") > 1, "{}", report["requests"]);
}

#[test]
fn other_bytes_of_the_right_length_are_found_by_their_hash() {
    let address = serve(|stream, count| {
        let bytes: &[u8] = match count {
            0 => HELLO,
            _ => b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello W0rld!",
        };
        let _ = stream.write_all(bytes);
        After::Keep
    });
    let (_, report) = load(address, &["-d", "300ms", "-c", "1"]);
    assert_eq!(number(&report, "/requests/accepted"), 1);
    assert!(failed(&report, "hash") > 0);
    let (_, report) = load(address, &["-d", "300ms", "-c", "1", "--expect-body", "any"]);
    assert_eq!(number(&report, "/requests/failed_total"), 0);
}

#[test]
fn a_body_of_another_length_is_named_so() {
    let (code, report) = load(always(HELLO), &[&BRIEF[..], &["--expect-bytes", "13"]].concat());
    assert_eq!(code, 1);
    assert!(failed(&report, "length") > 0);
}

#[test]
fn expectations_that_hold_end_with_zero() {
    let hash = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(b"Hello World!"));
    let expect = ["--expect-status", "200", "--expect-bytes", "12", "--expect-xxh3", &hash];
    assert_eq!(load(always(HELLO), &[&BRIEF[..], &expect].concat()).0, 0);
}

#[test]
fn a_stalled_response_times_out_and_costs_its_connection() {
    let address = serve(|stream, count| {
        let _ = stream.write_all(if count == 0 { HELLO } else { b"HTTP/1.1 200 OK\r\nContent-Le" });
        After::Keep
    });
    let (_, report) = load(address, &["-d", "700ms", "-c", "2", "--timeout", "200ms"]);
    assert!(failed(&report, "timeout") >= 2, "{}", report["requests"]);
    assert!(number(&report, "/connects") > 2);
}

#[test]
fn garbage_is_malformed() {
    for garbage in [&b"\x00\x01\x02 this is no HTTP\r\n\r\n"[..], b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"] {
        let (code, report) = load(always(garbage), &BRIEF);
        assert_eq!(code, 1);
        assert!(failed(&report, "malformed") > 0);
    }
}

#[test]
fn bytes_beyond_the_response_are_malformed() {
    let (_, report) = load(always(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello World!"), &BRIEF);
    assert!(failed(&report, "malformed") > 0);
    assert_eq!(number(&report, "/requests/accepted"), 0);
}

#[test]
fn chunks_with_trailers_and_interim_responses_are_read() {
    let (code, report) = load(
        always(
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
              6\r\nHello \r\n6;a=b\r\nWorld!\r\n0\r\nX-Sum: 1\r\n\r\n",
        ),
        &BRIEF,
    );
    assert_eq!(code, 0);
    assert_eq!(number(&report, "/evidence/body_bytes"), 12);
    assert_eq!(number(&report, "/requests/failed_total"), 0);
}

#[test]
fn a_reset_is_told_from_a_close() {
    let address = serve(|_, _| After::Reset);
    let (_, report) = load(address, &BRIEF);
    assert!(failed(&report, "reset") > 0, "{}", report["requests"]);
    let address = serve(|_, _| After::Close);
    let (_, report) = load(address, &BRIEF);
    assert!(failed(&report, "closed-early") > 0);
    assert_eq!(failed(&report, "reset"), 0);
}

#[test]
fn a_server_that_closes_after_each_response_is_followed_and_its_connects_are_counted() {
    let address = serve(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end");
        After::Close
    });
    let (code, report) = load(address, &BRIEF);
    assert_eq!(code, 0);
    assert_eq!(number(&report, "/requests/failed_total"), 0, "{report}");
    assert!(number(&report, "/connects") >= number(&report, "/requests/accepted"));
}

#[test]
fn head_has_no_body_whatever_its_length_says() {
    let address = always(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
    let (code, report) = load(address, &[&BRIEF[..], &["--method", "HEAD"]].concat());
    assert_eq!((code, number(&report, "/evidence/body_bytes")), (0, 0));
}

#[test]
fn a_server_that_dies_midway_is_counted_and_never_fatal() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let address = serve(|stream, _| {
        if COUNT.fetch_add(1, Ordering::Relaxed) < 50 {
            let _ = stream.write_all(HELLO);
            return After::Keep;
        }
        After::Reset
    });
    let (code, report) = load(address, &["-d", "400ms", "-c", "5", "--rate", "500", "--arrivals", "poisson"]);
    assert_eq!(code, 0);
    assert_eq!(number(&report, "/requests/accepted"), 50);
}

#[test]
fn requests_that_a_frozen_server_never_let_out_are_counted_as_unsent() {
    let address = serve(|_, _| {
        sleep(Duration::from_secs(30));
        After::Close
    });
    let (code, report) = load(address, &["-d", "400ms", "-c", "3", "--rate", "1000", "--timeout", "2s"]);
    assert_eq!(code, 1);
    assert_eq!(number(&report, "/requests/offered"), 400);
    assert!(number(&report, "/requests/unsent") > 300);
}

#[test]
fn an_interrupt_ends_the_load_with_a_report_of_what_was_measured() {
    let url = format!("http://{}/", always(HELLO));
    let mut child = engine(&["load", &url, "--json", "-d", "60s", "-c", "2"]).stdout(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_millis(500));
    // SAFETY: no pointers; the child has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let output = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(report["interrupted"], true);
    assert!(number(&report, "/requests/accepted") > 0);
    peers::assert_conserved(&report);
}

#[test]
fn a_load_whose_reader_is_gone_ends_by_itself() {
    let url = format!("http://{}/", always(HELLO));
    let mut child = engine(&["load", &url, "-d", "600s", "-c", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn the_text_report_names_rate_checks_latencies_and_verdict() {
    let url = format!("http://{}/", always(HELLO));
    let output = engine(&["load", &url, "-d", "200ms", "--rate", "500", "-c", "2"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for wanted in
        ["accepted responses/s", "xxh3", "response", "service", "lag", "p99.9", "verdict", "of the generator a request"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn mistakes_end_with_one_line_that_says_what_mends_them() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = format!("http://{free}/");
    for (url, code, wanted) in [
        ("ftp://127.0.0.1/", 2, "scheme that can't be loaded"),
        ("127.0.0.1:80", 2, "write http://"),
        (refused.as_str(), 3, "start the server"),
    ] {
        let output = engine(&["load", url]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{url}");
        let errors: Vec<String> = BufReader::new(output.stderr.as_slice()).lines().map(Result::unwrap).collect();
        assert!(errors.len() == 1 && errors[0].contains(wanted), "{errors:?}");
    }
}
