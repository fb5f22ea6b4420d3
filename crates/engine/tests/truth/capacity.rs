//! Beyond what a server can do: said, not hidden.

use crate::peers::number;
use crate::scripted::both;

#[test]
fn a_rate_beyond_the_servers_capacity_is_said_to_be_not_reached() {
    let (report, truth) = both(&["--max-rate", "400"], &["-d", "1s", "-c", "10", "--rate", "1000", "--timeout", "1s"]);
    assert_eq!(number(&report, "/requests/offered"), 1000);
    // Server-bound; on a busy machine the generator may have to doubt itself as well.
    assert!(["server-bound", "generator-bound"].contains(&report["verdict"]["bound"].as_str().expect("a verdict")));
    let per_s = report["throughput"]["accepted_per_s"].as_f64().expect("a rate");
    // The capacity is an upper bound that no pause of the machine can lift.
    assert!((300.0..404.0).contains(&per_s), "{per_s}");
    // What was answered just when the drain ended is censored.
    let (accepted, answered) = (number(&report, "/requests/accepted"), number(&truth, "/responses"));
    assert!(
        accepted <= answered && answered - accepted <= number(&report, "/requests/censored"),
        "{accepted} {answered}"
    );
    // Waiting shows: at the end of the second, 600 requests are behind.
    assert!(number(&report, "/latency/response/p90_ns") > 300_000_000, "{}", report["latency"]["response"]);
}

#[test]
fn a_closed_loop_finds_the_servers_capacity() {
    let (report, _) = both(&["--max-rate", "500"], &["-d", "1s", "-c", "10"]);
    let per_s = report["throughput"]["accepted_per_s"].as_f64().expect("a rate");
    assert!((400.0..505.0).contains(&per_s), "{per_s}");
    assert_ne!(report["verdict"]["bound"], "generator-bound");
    // Little's law with 10 connections at 500 a second: 20 ms.
    let p50 = number(&report, "/latency/response/p50_ns");
    assert!((19_000_000..26_000_000).contains(&p50), "{p50}");
}
