use proptest::prelude::*;

use super::render;
use crate::report::{Distribution, sample};

/// Names of the elements in the order in which they are opened; panics where they are not closed in turn.
fn elements(page: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').unwrap() + at;
        let tag = &rest[at + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed out of turn");
        } else {
            let name = tag.split(' ').next().unwrap().to_owned();
            if name != "meta" {
                open.push(name.clone());
            }
            all.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?} stay open");
    all
}

#[test]
fn a_page_needs_nothing_from_elsewhere_and_forbids_it() {
    let page = render(&sample::full());
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    let all = elements(&page);
    for name in ["script", "img", "link", "iframe"] {
        assert!(!all.iter().any(|element| element == name), "{name}");
    }
    for part in ["@import", "url(", "src=", "onload"] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn each_plot_has_a_name_a_description_and_a_table() {
    let page = render(&sample::full());
    let all = elements(&page);
    let count = |name: &str| all.iter().filter(|element| *element == name).count();
    assert_eq!(count("svg"), 4);
    assert_eq!(count("desc"), 4);
    assert!(count("table") >= 6, "{}", count("table"));
    assert_eq!(page.matches("role=\"img\"").count(), 4);
    for id in ["percentiles", "over-time", "rate", "spread"] {
        assert_eq!(page.matches(&format!("id=\"{id}-title\"")).count(), 1, "{id}");
    }
    for figure in ["1,999", "p99&gt;10ms: p99 is 12.0 ms", "POST /long/", "12.30 µs CPU a request", "99.99 %"] {
        assert!(page.contains(figure), "{figure} is missing");
    }
}

#[test]
fn nothing_from_the_outside_becomes_markup() {
    let mut report = sample::full();
    let hostile = "<script>alert(1)</script>\"'&";
    report.asked.url = hostile.to_owned();
    report.failure_example = Some(hostile.to_owned());
    report.evidence.as_mut().unwrap().head = hostile.to_owned();
    report.entries[0].request = hostile.to_owned();
    report.thresholds[0].text = hostile.to_owned();
    let page = render(&report);
    assert!(!elements(&page).iter().any(|element| element == "script"));
    assert!(!page.contains("alert(1)</script"));
}

#[test]
fn an_empty_report_is_a_whole_page_without_plots() {
    let page = render(&sample::empty());
    assert!(!elements(&page).iter().any(|element| element == "svg"));
    assert!(page.contains("does not say what bound the rate"));
    assert!(!page.contains("NaN"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_times_are_drawn_within_the_paper(times in prop::collection::vec(1_u64..=200_000_000_000, 1..40), slices in 0_usize..6) {
        let mut histogram = crate::latency::empty();
        for time in times {
            histogram.saturating_record(time);
        }
        let mut report = sample::full();
        report.latency.response = Distribution::of(&histogram);
        report.slices.truncate(slices);
        let page = render(&report);
        elements(&page);
        prop_assert!(!page.contains("NaN") && !page.contains("inf"), "a place that is no number");
    }
}
