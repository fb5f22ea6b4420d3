use hdrhistogram::Histogram;
use proptest::prelude::*;

use super::*;

struct Seen {
    response: Histogram<u64>,
    empty: Histogram<u64>,
}

impl Seen {
    /// 1,000 responses of 1 ms to 1 s, a millisecond apart.
    fn new() -> Self {
        let empty = Histogram::new_with_bounds(1, 120_000_000_000, 3).unwrap();
        let mut response = empty.clone();
        (1..=1000_u64).for_each(|millis| response.record(millis * 1_000_000).unwrap());
        Self { response, empty }
    }

    fn observations(&self) -> Observations<'_> {
        Observations {
            response: &self.response,
            service: &self.response,
            lag: None,
            connect: &self.empty,
            first_byte: &self.response,
            accepted: 1000,
            failed: 2,
            sent: 1004,
            unsent: 1,
            accepted_per_s: 999.5,
            bound: Bound::ServerBound,
        }
    }
}

fn check(text: &str) -> Outcome {
    text.parse::<Threshold>().unwrap().check(&Seen::new().observations())
}

#[test]
fn thresholds_are_crossed_where_the_figure_lies_beyond() {
    for (text, crossed) in [
        ("p99>985ms", true),
        ("p99>995ms", false),
        ("p50 <= 501ms", true),
        ("p50<400ms", false),
        ("max>=0.999s", true),
        ("mean>500000us", true),
        ("min>2ms", false),
        ("p99.9 service>900ms", true),
        ("first-byte p1>100ms", false),
        ("errors>0.1%", true),
        ("errors>0.2%", false),
        ("errors>=2", true),
        ("errors>2", false),
        ("rate<1000", true),
        ("rate<999/s", false),
        ("unsent>0", true),
        ("unsent>0.1%", false),
        ("server-bound", true),
        ("generator-bound", false),
    ] {
        let outcome = check(text);
        assert_eq!(outcome.crossed, crossed, "{text}: {}", outcome.text);
        assert_eq!(text.parse::<Threshold>().unwrap().holds(&Seen::new().observations()), crossed, "{text}");
    }
}

#[test]
fn the_outcome_says_what_was_seen() {
    assert_eq!(check("rate < 1000").text, "rate<1000: it is 999.5/s");
    assert_eq!(check("errors>0.1%").text, "errors>0.1%: it is 0.1992 %");
    assert_eq!(check("errors>1").text, "errors>1: it is 2");
    assert_eq!(check("generator-bound").text, "generator-bound: the verdict is server-bound");
    assert_eq!(check("p50>1s").text, "p50>1s: it is 500 ms");
    assert_eq!(check("p99.99>2s").text, "p99.99>2s: it is 1.00 s, of only 1,000 values, which is their greatest");
    assert!((check("p50>1s").observed.unwrap() / 5e8 - 1.0).abs() < 0.002, "in ns");
}

#[test]
fn what_was_not_measured_counts_as_crossed_and_never_holds() {
    for (text, wanted) in [
        ("lag p99>1ms", "use --rate"),
        ("lag p99<1s", "use --rate"),
        ("connect p99>1ms", "no connect time"),
        ("connect p99<1s", "no connect time"),
    ] {
        let outcome = check(text);
        assert!(outcome.crossed && outcome.observed.is_none() && outcome.text.contains(wanted), "{}", outcome.text);
        assert!(!text.parse::<Threshold>().unwrap().holds(&Seen::new().observations()), "{text}");
    }
    let seen = Seen::new();
    let nothing = Observations { sent: 0, unsent: 0, failed: 0, accepted_per_s: f64::NAN, ..seen.observations() };
    for text in ["errors>1%", "errors<1%", "unsent>1%", "rate>5", "rate<5"] {
        assert!(text.parse::<Threshold>().unwrap().check(&nothing).crossed, "{text}");
    }
}

#[test]
fn what_is_wrong_in_a_threshold_is_named() {
    for (text, wanted) in [
        ("", "no operator in it"),
        ("p99", "no operator in it"),
        ("p99=5ms", "`=` is no operator"),
        ("p99>>5ms", "`>>` is no operator"),
        ("p99!=5ms", "`!=` is no operator"),
        ("q99>5ms", "`q99` is no figure"),
        (">5ms", "`` is no figure"),
        ("service lag>5ms", "`service lag` is no figure"),
        ("service>5ms", "`service` is no figure"),
        ("a b c>5ms", "`a b c` is no figure"),
        ("p0>5ms", "`p0` is no percentile"),
        ("p101>5ms", "`p101` is no percentile"),
        ("p9x>5ms", "`p9x` is no percentile"),
        ("p99>5", "a time with its unit"),
        ("p99>5%", "a time with its unit"),
        ("p99>5ms/s", "a time with its unit"),
        ("p99>-5ms", "`-5ms` is no value"),
        ("p99>infs", "`infs` is no value"),
        ("rate<5ms", "requests a second"),
        ("errors>5ms", "0.1% or 5"),
        ("errors>5/s", "0.1% or 5"),
        ("errors>", "`` is no value"),
    ] {
        let error = text.parse::<Threshold>().unwrap_err().to_string();
        assert!(error.contains(wanted) && error.starts_with("threshold `"), "{text}: {error}");
    }
}

#[test]
fn a_condition_tells_a_chart_where_its_line_is() {
    let slo: Threshold = "p99<5ms".parse().unwrap();
    assert_eq!((slo.limit_ns(), slo.is_upper(), slo.figure()), (Some(5e6), true, "p99".to_owned()));
    let errors: Threshold = "errors<1%".parse().unwrap();
    assert_eq!((errors.limit_ns(), errors.figure()), (None, "errors".to_owned()));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,30}") {
        let _ = text.parse::<Threshold>();
    }

    #[test]
    fn what_is_read_is_written_and_read_alike(
        part in prop::sample::select(vec!["", "response ", "service ", "lag ", "connect ", "first-byte "]),
        statistic in prop::sample::select(vec!["p50", "p99.99", "p100", "mean", "min", "max", "median"]),
        operator in prop::sample::select(vec!["<", "<=", ">", ">=", "≤", " ≥ "]),
        number in 0_f64..1e6,
        unit in prop::sample::select(vec!["ns", "us", "µs", "ms", " s"]),
    ) {
        let threshold: Threshold = format!("{part}{statistic}{operator}{number}{unit}").parse().unwrap();
        prop_assert_eq!(threshold.to_string().parse::<Threshold>().unwrap(), threshold);
    }
}
