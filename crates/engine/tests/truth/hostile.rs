//! Servers that send too much, too little, too slowly or nothing: a load ends in time, counts, and stays small.

use std::time::Duration;

use crate::peers::number;
use crate::scripted::{Scripted, failed, watched_load};

/// Time and memory that no hostile response may exceed; the load itself takes a second, and some megabytes.
const LIMIT: Duration = Duration::from_secs(20);
const MOST_KIB: u64 = 64 << 10;

fn endure(script: &[&str], reason: &str) -> serde_json::Value {
    let server = Scripted::start(script);
    let arguments = ["-d", "500ms", "-c", "8", "--timeout", "300ms"];
    for backend in ["auto", "epoll"] {
        let (report, most) = watched_load(server.address, &[&arguments[..], &["--backend", backend]].concat(), LIMIT);
        assert!(most < MOST_KIB, "{script:?}: {most} KiB");
        assert_eq!(number(&report, "/requests/accepted"), 0, "{script:?}: {}", report["requests"]);
        assert!(failed(&report, reason) >= 8, "{script:?}: {}", report["requests"]);
        if backend == "epoll" {
            let truth = server.truth();
            assert!(number(&truth, "/requests") >= number(&report, "/requests/sent"));
            return report;
        }
    }
    unreachable!("the second back end returns")
}

#[test]
fn a_gigantic_head_is_refused_and_not_kept() {
    let report = endure(&["--fault", "big-head:1m"], "malformed");
    assert!(report["failure_example"].as_str().expect("an example").contains("head"), "{}", report["failure_example"]);
}

#[test]
fn a_head_of_a_reasonable_size_is_read() {
    let server = Scripted::start(&["--fault", "big-head:8k"]);
    let (code, report) = server.load(&["-d", "200ms", "-c", "2"]);
    assert_eq!((code, number(&report, "/requests/failed_total")), (0, 0), "{}", report["failure_example"]);
}

#[test]
fn endless_chunks_end_with_the_time_out_and_are_not_kept() {
    endure(&["--fault", "endless-chunks"], "timeout");
}

#[test]
fn a_length_that_promises_more_than_comes_ends_with_the_time_out() {
    endure(&["--fault", "lying-length:+5"], "timeout");
}

#[test]
fn a_length_of_terabytes_takes_no_memory() {
    endure(&["--fault", "lying-length:+1099511627776"], "timeout");
}

#[test]
fn a_length_that_promises_less_than_comes_is_malformed() {
    endure(&["--fault", "lying-length:-5"], "malformed");
}

#[test]
fn a_response_that_comes_byte_by_byte_ends_with_the_time_out() {
    endure(&["--fault", "slow-head"], "timeout");
}

#[test]
fn a_body_that_drips_for_too_long_ends_with_the_time_out() {
    endure(&["--drip", "1/100ms"], "timeout");
}

#[test]
fn a_server_that_never_answers_ends_with_the_time_out() {
    endure(&["--fault", "silent"], "timeout");
}

#[test]
fn a_server_that_resets_everything_is_counted() {
    endure(&["--fault", "reset"], "reset");
}

#[test]
fn garbage_is_malformed_and_costs_the_connection() {
    endure(&["--fault", "garbage"], "malformed");
}
