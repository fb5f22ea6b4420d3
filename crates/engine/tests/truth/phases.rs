//! The parts of a response time.

use crate::peers::number;
use crate::scripted::{both, histogram};

const MS: u64 = 1_000_000;

/// h2load's time to the first byte is one value for each connection, from the begin of connecting to its first response.
#[test]
fn the_first_byte_is_timed_for_every_request_from_its_own_sending() {
    // The first request of each connection waits for 300 ms, all others 2 ms; the body ends 20 ms after the head.
    let script = ["--delay", "const:2ms", "--drip", "4/10ms", "--freeze", "0s+300ms"];
    let (report, truth) = both(&script, &["-d", "1s", "-c", "3"]);
    let (seen, made) = (histogram(&report, "/latency/first_byte"), histogram(&truth, "/first_byte"));
    assert_eq!(seen.len(), number(&report, "/requests/accepted"));
    assert_eq!(seen.len(), made.len());
    for quantile in [0.25, 0.5, 1.0] {
        let (seen, made) = (seen.value_at_quantile(quantile), made.value_at_quantile(quantile));
        assert!(seen as f64 >= made as f64 * 0.998, "{quantile}: {seen} and was {made}");
    }
    let median = seen.value_at_quantile(0.5);
    assert!((2 * MS..10 * MS).contains(&median), "{median}: neither the freeze nor the body is in it");
    assert!(seen.max() >= 290 * MS, "the freeze is in the first ones");
    let body = number(&report, "/latency/body/p50_ns");
    assert!((10 * MS..40 * MS).contains(&body), "{body}");
    assert_eq!(number(&report, "/latency/connect/count"), number(&report, "/connects"));
    assert!(number(&report, "/latency/connect/p50_ns") < 100 * MS, "connecting did not wait for the freeze");
}
