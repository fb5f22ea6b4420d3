//! Constant memory: what was measured is not kept one by one.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::peers::{engine, number};
use crate::scripted::{Scripted, status_kib};

/// oha (#475) keeps every request, k6 (#763) every value: their memory grows for as long as they run.
#[test]
fn memory_does_not_grow_with_the_number_of_requests() {
    let server = Scripted::start(&[]);
    let url = format!("http://{}/", server.address);
    let mut child = engine(&["load", &url, "--json", "-q", "-d", "4s", "-c", "20"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let begun = Instant::now();
    let mut seen = Vec::new();
    for at in [1500, 3800] {
        std::thread::sleep(Duration::from_millis(at).saturating_sub(begun.elapsed()));
        seen.push(status_kib(child.id(), "VmRSS").expect("it is running"));
    }
    let text = std::io::read_to_string(child.stdout.take().expect("a pipe")).expect("a report");
    child.wait().expect("it ends");
    let report: serde_json::Value = serde_json::from_str(&text).expect("a report");
    let accepted = number(&report, "/requests/accepted");
    assert!(accepted > 5_000, "{accepted} are too few to tell");
    // What grows until their number is bounded are the slices, 8 to 20 a second, by less than 70 KiB each. More than half of
    // the requests lie between the two readings, and those peers keep some 100 bytes for each.
    let allowed = 1024 + 46 * 70;
    assert!(seen[1] <= seen[0] + allowed, "{seen:?} KiB for {accepted} requests");
    assert!(text.len() < 1 << 20, "a report of {} bytes", text.len());
}

/// hey's percentiles know the first million responses only.
#[test]
fn percentiles_know_the_responses_after_the_first_million() {
    use photofinish_load::Latencies;
    use photofinish_load::latency::Moments;
    use photofinish_net::Nanos;
    let mut latencies = Latencies::new(false);
    for number in 0..3_000_000_u64 {
        let took = if number < 1_200_000 { 1_000_000 } else { 9_000_000 };
        latencies.completed(Moments {
            intended: Nanos(5),
            sent: Nanos(5),
            first_byte: Nanos(5 + took),
            completed: Nanos(5 + took),
        });
    }
    assert_eq!(latencies.response.len(), 3_000_000);
    let near = |quantile: f64, nanos: u64| latencies.response.value_at_quantile(quantile).abs_diff(nanos) < nanos / 500;
    assert!(near(0.39, 1_000_000) && near(0.5, 9_000_000));
}
