//! Percentiles against the server's own record.

use hdrhistogram::Histogram;

use crate::peers::number;
use crate::scripted::{both, count_from, histogram};

const MS: u64 = 1_000_000;
/// What scheduling on a busy machine may add to a median.
const GRACE: u64 = 2 * MS;

fn at(histogram: &Histogram<u64>, quantile: f64) -> u64 {
    histogram.value_at_quantile(quantile)
}

/// The client sees each response later than the server sends it, so that no percentile may be below the truth; the
/// median may be above it by what a busy machine adds.
#[test]
fn no_percentile_is_below_the_truth_and_the_median_is_near_it() {
    for law in ["exp:8ms", "lognormal:5ms,0.5", "uniform:1ms..15ms", "steps:3ms*0.98,40ms*0.02"] {
        let (report, truth) = both(&["--delay", law], &["-d", "1s", "-c", "100", "--rate", "1000"]);
        let (seen, made) = (histogram(&report, "/latency/response"), histogram(&truth, "/delay"));
        assert_eq!(seen.len(), made.len(), "{law}");
        for quantile in [0.25, 0.5, 0.75, 0.9, 0.99, 0.999] {
            let (seen, made) = (at(&seen, quantile) as f64, at(&made, quantile) as f64);
            assert!(seen >= made * 0.998, "{law}: {quantile} is {seen} and was {made}");
        }
        assert!(at(&seen, 0.5) <= at(&made, 0.5) + GRACE, "{law}: {} and {}", at(&seen, 0.5), at(&made, 0.5));
    }
}

/// wrk2 (#78) rounds its timers to whole milliseconds, so that requests leave up to 1 ms late and in bunches;
/// autocannon shows 0 for a median under 1 ms.
#[test]
fn latencies_below_a_millisecond_are_told_apart() {
    let (report, truth) = both(&["--delay", "steps:150us*0.5,600us*0.5"], &["-d", "800ms", "-c", "4", "--rate", "700"]);
    let service = histogram(&report, "/latency/service");
    assert!(service.min() >= 149_000, "{}", service.min());
    let short = service.len() - count_from(&service, 590_000);
    let made = number(&truth, "/requests") / 2;
    assert!(short > made / 2 && short < made * 3 / 2, "{short} of {made} below 590 µs");
    assert!(at(&service, 0.25) > 0 && at(&service, 0.25) < MS, "{}", at(&service, 0.25));
    // Rounded to whole milliseconds, half of the requests would leave 500 µs late or later.
    let lag = histogram(&report, "/latency/lag");
    assert!(at(&lag, 0.5) < 300_000, "half of the requests leave {} ns late", at(&lag, 0.5));
}

/// autocannon's median is 0 where responses take less than 1 ms.
#[test]
fn a_median_under_a_millisecond_is_not_zero() {
    let (report, _) = both(&[], &["-d", "300ms", "-c", "1"]);
    assert!(number(&report, "/latency/response/min_ns") >= 1_000);
    assert!(number(&report, "/latency/response/p50_ns") >= number(&report, "/latency/response/min_ns"));
    assert_ne!(number(&report, "/latency/response/p50_ns") % MS, 0);
}

/// oha's "corrected" latency leaves out how late it was itself: here response = lag + service for every request.
#[test]
fn lateness_is_part_of_the_response_time() {
    let (report, _) =
        both(&["--freeze", "200ms+300ms", "--delay", "const:1ms"], &["-d", "800ms", "-c", "3", "--rate", "600"]);
    let mean = |name: &str| report["latency"][name]["mean_ns"].as_f64().expect(name);
    assert!(mean("lag") > 20e6, "waiting for a connection is no lag: {}", mean("lag"));
    let apart = (mean("response") - mean("lag") - mean("service")).abs() / mean("response");
    assert!(apart < 0.005, "{} is not {} and {}", mean("response"), mean("lag"), mean("service"));
}

/// The truth of a freeze: whoever meant to send while the server stood still waited from then to its end at least.
#[test]
fn arrivals_in_a_freeze_wait_from_their_intended_time() {
    let (report, truth) = both(&["--freeze", "300ms+400ms"], &["-d", "1s", "-c", "4", "--rate", "1000"]);
    let freeze = number(&truth, "/freezes/0/to_ns") - number(&truth, "/freezes/0/from_ns");
    let seen = histogram(&report, "/latency/response");
    // One arrival a millisecond, evenly spread over the freeze.
    for (waited, share) in [(freeze / 4, 0.75), (freeze / 2, 0.5), (freeze * 3 / 4, 0.25)] {
        let (got, wanted) = (count_from(&seen, waited) as f64, freeze as f64 / MS as f64 * share);
        assert!(got >= wanted - 5.0, "{got} instead of {wanted} waited {waited} ns or more");
        assert!(got <= wanted * 1.25 + 25.0, "{got} instead of {wanted} waited {waited} ns or more");
    }
}
