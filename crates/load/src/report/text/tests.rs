use super::Text;
use crate::report::{Report, sample};
use crate::verdict::Bound;

fn text(report: &Report) -> String {
    Text { report, color: false }.to_string()
}

fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn a_full_report_shows_each_part_once() {
    let text = text(&sample::full());
    assert_says(
        &text,
        &[
            "GET http://127.0.0.1:8080/items?a=1&b=<2>  (127.0.0.1:8080)\n",
            "open loop, 2,000 requests/s, poisson arrivals · 50 connections · 2 threads",
            "h2+tls, 16 streams a\n",
            "TLS 1.3, TLS13_AES_128_GCM_SHA256, resumed",
            "insecure: any certificate was trusted",
            "pipelined, 16 deep: not comparable with unpipelined figures",
            "warm-up: the first 1.00 s are left out: the figures change there",
            "reached: 2,000 sent/s of 2,000 intended (-0.03 %)",
            "1,900 to 1,990/s",
            "1 × status",
            "fairness   380 to 421 responses a connection, mean 399.8; Jain's index 0.999",
            "p99.99",
            "first byte",
            "GET /items/{{seq}}",
            "server     pid 4711 (1 process, 4 threads)",
            "12.30 µs CPU a request · 8.00 s CPU in all · 34.0 MB resident, at most 41.0 MB",
            "differences below 31.0 µs of a percentile or 0.012 % of a rate are not measurable",
            "fail if    ✗ p99>10ms: p99 is 12.0 ms",
            "           ✓ errors>1%: errors are 0.01 %",
        ],
    );
}

#[test]
fn no_line_is_wider_than_a_hundred_columns() {
    let mut report = sample::full();
    report.failure_example = Some("word ".repeat(60));
    report.verdict.reasons.push("a long sentence with figures ".repeat(12));
    report.asked.stages = Some("10s@1000,30s@1000..5000,10s@0".to_owned());
    for line in text(&report).lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn an_empty_report_names_what_is_missing_and_how_to_get_it() {
    let text = text(&sample::empty());
    assert_says(&text, &["closed loop", "there was no complete response", "--self-check", "undecided", "use --rate"]);
    for absent in ["over time", "fairness", "pipelined", "warm-up", "server  ", "fail if", "first byte", "NaN"] {
        assert!(!text.contains(absent), "`{absent}` stands in\n{text}");
    }
}

#[test]
fn a_rate_that_was_not_reached_says_so_with_its_error() {
    let mut report = sample::full();
    let rate = report.rate.as_mut().unwrap();
    (rate.sent_per_s, rate.error, rate.reached) = (1500.0, -0.25, false);
    assert_says(&text(&report), &["not reached: 1,500 sent/s of 2,000 intended (-25.00 %)"]);
}

#[test]
fn a_warm_up_that_counts_says_how_to_leave_it_out() {
    let mut report = sample::full();
    report.warmup.cut_ns = 0;
    assert_says(&text(&report), &["1.00 s after the start, and it counts; leave it out with --warmup auto"]);
}

#[test]
fn what_a_peer_sent_can_not_steer_the_terminal() {
    assert!(!text(&sample::full()).contains('\u{1b}'));
}

#[test]
fn colors_only_surround_words_that_are_there_without_them() {
    let mut report = sample::full();
    report.verdict.bound = Bound::GeneratorBound;
    let colored = Text { report: &report, color: true }.to_string();
    assert!(colored.contains("\u{1b}[1;31mgenerator-bound\u{1b}[0m"));
    let mut plain = String::new();
    let mut inside = false;
    for c in colored.chars() {
        match c {
            '\u{1b}' => inside = true,
            'm' if inside => inside = false,
            _ if !inside => plain.push(c),
            _ => {}
        }
    }
    assert_eq!(plain, text(&report));
}
