//! Rates that were asked for, and rates that are said.

use crate::peers::number;
use crate::scripted::both;

/// wrk2 (#28) misses its rate, and does not say so.
#[test]
fn an_open_loop_offers_exactly_its_rate() {
    for (rate, offered) in [("333", 333), ("2500", 2500)] {
        let (report, truth) = both(&["--delay", "const:300us"], &["-d", "1s", "-c", "60", "--rate", rate]);
        assert_eq!(number(&report, "/requests/offered"), offered);
        assert_eq!(number(&report, "/requests/sent"), offered);
        assert_eq!(number(&truth, "/requests"), offered);
        // From the first request to the last answer, the server saw the whole schedule; a machine under load may have
        // let it read the first one late.
        let span = number(&truth, "/last_response_ns") - number(&truth, "/first_request_ns");
        assert!(span >= 900_000_000, "{span} ns for {offered} requests");
    }
}

/// bombardier's mean rate is a mean of rates of 20 ms each, which a freeze or a burst bends.
#[test]
fn the_mean_rate_is_responses_over_time_whatever_happened_in_between() {
    let (report, truth) = both(&["--freeze", "every:200ms,150ms", "--delay", "const:1ms"], &["-d", "900ms", "-c", "5"]);
    let measured = number(&report, "/measured_ns");
    let in_time = number(&report, "/requests/accepted_in_time");
    let per_s = report["throughput"]["accepted_per_s"].as_f64().expect("a rate");
    assert!((per_s / (in_time as f64 * 1e9 / measured as f64) - 1.0).abs() < 1e-9);
    assert!((900_000_000..950_000_000).contains(&measured), "{measured}");
    assert!(number(&truth, "/responses") - in_time <= 5, "the rest was in flight at the end");
}
