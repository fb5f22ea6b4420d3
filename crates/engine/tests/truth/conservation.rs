//! Every request is counted once, and only what happened is counted.

use std::time::Duration;

use crate::peers::number;
use crate::scripted::{Scripted, both, count_from, failed, histogram};

const MS: u64 = 1_000_000;

/// wrk (#326, #438, #485) adds samples of its own wherever a latency is twice the mean interval or more: slow responses
/// appear several times.
#[test]
fn no_sample_is_made_up_for_slow_responses() {
    let script = ["--delay", "steps:1ms*0.9,60ms*0.1", "--seed", "5"];
    for arguments in [&["-d", "800ms", "-c", "8"][..], &["-d", "800ms", "-c", "200", "--rate", "400"]] {
        let (report, truth) = both(&script, arguments);
        let (measured, made) = (histogram(&report, "/latency/service"), histogram(&truth, "/delay"));
        assert_eq!(measured.len(), number(&report, "/requests/accepted"));
        assert_eq!(measured.len(), number(&truth, "/responses"));
        let slow = count_from(&made, 50 * MS);
        assert!(slow > 10, "the server was slow {slow} times");
        // A busy machine may slow a few others down by 49 ms; made-up samples would be as many again.
        let seen = count_from(&measured, 50 * MS);
        assert!(seen >= slow && seen <= slow + slow / 2 + 3, "{seen} slow samples of {slow} slow responses");
    }
}

/// wrk forgets what is in flight when its time is over.
#[test]
fn what_is_in_flight_at_the_end_is_counted() {
    let server = Scripted::start(&["--fault", "silent"]);
    let url = format!("http://{}/", server.address);
    let mut child = crate::peers::engine(&["load", &url, "--json", "-q", "-d", "60s", "-c", "7", "--timeout", "50s"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(700));
    // SAFETY: no pointers; the child has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let text = std::io::read_to_string(child.stdout.take().expect("a pipe")).expect("a report");
    child.wait().expect("it ends");
    let report: serde_json::Value = serde_json::from_str(&text).expect("a report");
    crate::peers::assert_conserved(&report);
    assert_eq!(number(&report, "/requests/sent"), 7);
    assert_eq!(number(&report, "/requests/censored"), 7);
    assert_eq!(number(&server.truth(), "/requests"), 7);
}

/// oha (#387) drops the requests that its deadline cuts off: here they are waited for, and counted as what they became.
#[test]
fn requests_that_the_deadline_meets_do_not_vanish() {
    let (report, truth) = both(&["--delay", "const:150ms"], &["-d", "400ms", "-c", "10", "--timeout", "5s"]);
    let (sent, accepted) = (number(&report, "/requests/sent"), number(&report, "/requests/accepted"));
    assert_eq!((sent, accepted), (number(&truth, "/requests"), number(&truth, "/responses")));
    assert!(number(&report, "/requests/accepted_in_time") + 10 <= accepted, "the last of each connection came late");
    let (report, truth) = both(&["--delay", "const:900ms"], &["-d", "200ms", "-c", "10", "--timeout", "300ms"]);
    assert_eq!(number(&report, "/requests/sent"), number(&truth, "/requests"));
    assert_eq!(failed(&report, "timeout") + number(&report, "/requests/censored"), 10, "{}", report["requests"]);
    assert_eq!(number(&report, "/latency/response/count"), 0);
}

/// rewrk counts any response as a success.
#[test]
fn responses_with_status_400_are_no_successes() {
    let (report, truth) =
        both(&["--delay", "const:1ms", "--fault", "wrong-status:400:1/2"], &["-d", "500ms", "-c", "4"]);
    let wrong = number(&truth, "/faults/wrong-status");
    assert_eq!(failed(&report, "status"), wrong);
    assert_eq!(number(&report, "/requests/accepted"), number(&truth, "/requests") - wrong);
    assert_eq!(number(&report, "/latency/response/count"), number(&report, "/requests/accepted"));
    let per_s = report["throughput"]["accepted_per_s"].as_f64().expect("a rate");
    let in_time = number(&report, "/requests/accepted_in_time") as f64;
    assert!(
        (per_s * number(&report, "/measured_ns") as f64 / 1e9 / in_time - 1.0).abs() < 1e-6,
        "failures in the rate"
    );
}

#[test]
fn each_fault_is_counted_by_its_reason_on_both_ends() {
    let script = [
        &["--delay", "const:500us", "--seed", "9"][..],
        &["--fault", "reset:1/11", "--fault", "close-early:1/13", "--fault", "wrong-status:500:1/17"],
        &["--fault", "garbage:1/19", "--fault", "lying-length:-5:1/23"],
        &["--fault", "interim-103:1/3", "--fault", "trailers:1/2"],
    ]
    .concat();
    for backend in ["auto", "epoll"] {
        let (report, truth) = both(&script, &["-d", "600ms", "-c", "6", "--backend", backend]);
        let fault = |name: &str| truth["faults"][name].as_u64().unwrap_or(0);
        assert!(fault("reset") > 3, "{}", truth["faults"]);
        assert_eq!(failed(&report, "reset"), fault("reset"), "{report}");
        assert_eq!(failed(&report, "closed-early"), fault("close-early"), "{}", report["requests"]);
        assert_eq!(failed(&report, "status"), fault("wrong-status"));
        assert_eq!(failed(&report, "malformed"), fault("garbage") + fault("lying-length"));
        assert_eq!(number(&report, "/requests/sent"), number(&truth, "/requests"));
    }
}

#[test]
fn a_connection_that_ends_unannounced_costs_at_most_the_request_on_its_way() {
    let (report, truth) = both(&["--delay", "const:1ms", "--fault", "close-idle:1/5"], &["-d", "500ms", "-c", "5"]);
    let lost = failed(&report, "closed-early") + failed(&report, "reset");
    assert_eq!(number(&report, "/requests/accepted"), number(&truth, "/responses"));
    assert_eq!(number(&report, "/requests/sent"), number(&truth, "/requests") + lost);
    assert!(lost <= number(&truth, "/faults/close-idle"));
}

#[test]
fn a_freeze_loses_no_arrival_and_makes_none_up() {
    let (report, truth) =
        both(&["--freeze", "200ms+400ms", "--delay", "const:200us"], &["-d", "1s", "-c", "5", "--rate", "500"]);
    assert_eq!(number(&report, "/requests/offered"), 500);
    assert_eq!(number(&report, "/requests/sent"), number(&truth, "/requests"));
    assert_eq!(number(&report, "/latency/response/count"), number(&truth, "/responses"));
}
