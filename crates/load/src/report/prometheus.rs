//! A report in Prometheus' text exposition format 0.0.4, for the textfile collector of the node exporter.
//!
//! All are gauges of one finished load, in base units (seconds, bytes), labelled with URL and method. The response times
//! are a histogram, so that those of several loads can be added.

use std::fmt::{self, Display, Formatter, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use hdrhistogram::Histogram;

use crate::report::hlog::whole_distributions;
use crate::report::{Distribution, Report};

/// Upper bounds of the buckets of response times in ns: 1, 2.5, 5 in each decade from 10 µs to 100 s.
fn bounds() -> impl Iterator<Item = u64> {
    (4..=10).flat_map(|decade| [10, 25, 50].map(|tenths| tenths * 10_u64.pow(decade - 1))).chain([100_000_000_000])
}

/// A label's value: backslash, quote and line feed escaped.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => out.write_str("\\\\")?,
                '"' => out.write_str("\\\"")?,
                '\n' => out.write_str("\\n")?,
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Text under way, with the labels that every sample has.
struct Page {
    text: String,
    labels: String,
}

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP photofinish_load_{name} {help}"));
        self.line(format_args!("# TYPE photofinish_load_{name} {kind}"));
    }

    fn sample(&mut self, name: &str, own: &[(&str, &str)], value: f64) {
        let mut labels = self.labels.clone();
        for (label, text) in own {
            write!(labels, ",{label}=\"{}\"", Escaped(text)).expect("writing to memory succeeds");
        }
        self.line(format_args!("photofinish_load_{name}{{{labels}}} {value}"));
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, "gauge", help);
        self.sample(name, &[], value);
    }

    /// Nothing where the value is not known.
    fn known(&mut self, name: &str, help: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.gauge(name, help, value);
        }
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("writing to memory succeeds");
    }
}

/// The page. `ended` is when the load was over.
#[must_use]
pub fn render(report: &Report, ended: SystemTime) -> String {
    let (url, method) = (Escaped(&report.asked.url), Escaped(&report.asked.method));
    let mut page = Page { text: String::new(), labels: format!("url=\"{url}\",method=\"{method}\"") };
    about(&mut page, report, ended);
    requests(&mut page, report);
    response(&mut page, &report.latency.response);
    quantiles(&mut page, report);
    costs(&mut page, report);
    thresholds(&mut page, report);
    page.text
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn about(page: &mut Page, report: &Report, ended: SystemTime) {
    page.head("info", "gauge", "What was asked for, and what bound the rate; always 1.");
    let labels = [
        ("mode", report.asked.mode),
        ("backend", report.backend),
        ("protocol", report.asked.protocol),
        ("insecure", if report.asked.insecure { "true" } else { "false" }),
        ("verdict", report.verdict.bound.code()),
        ("schema", report.schema),
    ];
    page.sample("info", &labels, 1.0);
    let since_epoch = ended.duration_since(UNIX_EPOCH).map_or(0.0, |span| span.as_secs_f64());
    page.gauge("end_timestamp_seconds", "When the load was over.", since_epoch);
    page.gauge("measured_seconds", "Length of sending that counts.", seconds(report.measured_ns));
    page.gauge("interrupted", "1 if a signal ended the load before its time.", f64::from(u8::from(report.interrupted)));
    page.gauge("connections", "Connections of all threads.", f64::from(report.asked.connections));
    page.known("intended_per_second", "Requests a second that the schedule asked for.", report.asked.rate_per_s);
}

fn requests(page: &mut Page, report: &Report) {
    let requests = &report.requests;
    page.head("requests", "gauge", "Requests by how they ended; censored were in flight at the end.");
    let failed = requests.failed_total;
    for (outcome, count) in [
        ("accepted", requests.accepted),
        ("failed", failed),
        ("censored", requests.censored),
        ("unsent", requests.unsent),
    ] {
        page.sample("requests", &[("outcome", outcome)], count as f64);
    }
    page.head("failed_requests", "gauge", "Failed requests by reason.");
    for (reason, count) in requests.failed.occurred() {
        page.sample("failed_requests", &[("reason", reason.code())], count as f64);
    }
    let rates = &report.throughput;
    page.gauge("accepted_per_second", "Accepted responses a second.", rates.accepted_per_s);
    page.gauge("body_bytes_per_second", "Bytes of accepted bodies a second.", rates.body_bytes_per_s);
    page.gauge("received_bytes_per_second", "All bytes received a second.", rates.wire_bytes_per_s);
    page.known("rate_error_ratio", "(sent - intended) / intended.", report.rate.as_ref().map(|rate| rate.error));
}

fn response(page: &mut Page, times: &Distribution) {
    let histogram = times.decoded();
    page.head("response_seconds", "histogram", "Completion minus intended start of accepted requests.");
    for bound in bounds() {
        let text = seconds(bound).to_string();
        page.sample("response_seconds_bucket", &[("le", &text)], at_most(&histogram, bound) as f64);
    }
    page.sample("response_seconds_bucket", &[("le", "+Inf")], times.count as f64);
    page.sample("response_seconds_sum", &[], times.mean_ns.unwrap_or(0.0) * times.count as f64 / 1e9);
    page.sample("response_seconds_count", &[], times.count as f64);
}

/// How many values are not above `bound`, within the resolution of the histogram.
fn at_most(histogram: &Histogram<u64>, bound: u64) -> u64 {
    histogram
        .iter_recorded()
        .take_while(|value| value.value_iterated_to() <= bound)
        .map(|value| value.count_at_value())
        .sum()
}

fn quantiles(page: &mut Page, report: &Report) {
    page.head("time_quantile_seconds", "gauge", "Quantiles of each time of a request; 1 is the greatest value.");
    for (name, times) in whole_distributions(report) {
        let marks = [
            ("0.5", times.p50_ns),
            ("0.9", times.p90_ns),
            ("0.99", times.p99_ns),
            ("0.999", times.p999_ns),
            ("0.9999", times.p9999_ns),
            ("1", times.max_ns),
        ];
        for (quantile, value) in marks {
            if let Some(value) = value {
                page.sample("time_quantile_seconds", &[("time", name), ("quantile", quantile)], seconds(value));
            }
        }
    }
}

fn costs(page: &mut Page, report: &Report) {
    let engine = &report.engine;
    page.gauge("generator_busy_ratio", "Share of the time in which the busiest thread worked.", engine.busy_share);
    page.gauge("generator_cpu_seconds", "CPU time of the generator.", seconds(engine.cpu_ns));
    let Some(server) = &report.server else { return };
    page.known("server_cpu_seconds", "CPU time of the watched processes.", server.cpu_ns.map(seconds));
    let resident = server.rss_bytes.map(|bytes| bytes as f64);
    page.known("server_resident_bytes", "Resident memory of the watched processes at the end.", resident);
    let peak = server.rss_peak_bytes.map(|bytes| bytes as f64);
    page.known("server_resident_peak_bytes", "Greatest resident memory of the watched processes.", peak);
}

fn thresholds(page: &mut Page, report: &Report) {
    if report.thresholds.is_empty() {
        return;
    }
    page.head("threshold_crossed", "gauge", "1 if a condition of --fail-if came true.");
    for one in &report.thresholds {
        page.sample("threshold_crossed", &[("condition", &one.condition)], f64::from(u8::from(one.crossed)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::report::sample;

    fn page(report: &Report) -> String {
        render(report, UNIX_EPOCH + Duration::from_secs(1_777_000_000))
    }

    /// Name, labels and value of a sample line; panics where the grammar of the format is broken.
    fn parsed(line: &str) -> (String, Vec<(String, String)>, f64) {
        let (name, rest) = line.split_once('{').unwrap();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
        let mut labels = Vec::new();
        let mut rest = rest;
        loop {
            let (label, quoted) = rest.split_once("=\"").unwrap();
            let (mut value, mut chars) = (String::new(), quoted.char_indices());
            let end = loop {
                match chars.next().unwrap() {
                    (_, '\\') => value.push(match chars.next().unwrap().1 {
                        'n' => '\n',
                        c @ ('\\' | '"') => c,
                        c => panic!("\\{c} is no escape"),
                    }),
                    (at, '"') => break at,
                    (_, c) => value.push(c),
                }
            };
            labels.push((label.to_owned(), value));
            match quoted[end + 1..].strip_prefix(',') {
                Some(more) => rest = more,
                None => {
                    return (name.to_owned(), labels, quoted[end + 1..].strip_prefix("} ").unwrap().parse().unwrap());
                }
            }
        }
    }

    #[test]
    fn every_sample_follows_its_type_and_no_series_comes_twice() {
        for report in [sample::full(), sample::empty()] {
            let (mut typed, mut seen) = (HashSet::new(), HashSet::new());
            for line in page(&report).lines() {
                if let Some(words) = line.strip_prefix("# TYPE ") {
                    let (name, _) = words.split_once(' ').unwrap();
                    assert!(typed.insert(name.to_owned()), "{name} is typed twice");
                } else if !line.starts_with('#') {
                    let (name, labels, value) = parsed(line);
                    let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
                    assert!(typed.contains(&name) || family.is_some_and(|family| typed.contains(family)), "{name}");
                    assert!(value.is_finite(), "{line}");
                    assert!(seen.insert((name, labels)), "{line} comes twice");
                }
            }
        }
    }

    #[test]
    fn buckets_only_grow_and_end_with_all_requests() {
        let report = sample::full();
        let counts: Vec<f64> = page(&report)
            .lines()
            .filter(|line| line.starts_with("photofinish_load_response_seconds_bucket"))
            .map(|line| parsed(line).2)
            .collect();
        assert!(counts.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(counts.last().map(|count| *count as u64), Some(report.latency.response.count));
        assert!(counts[0] < 1.0 && counts[10] > 0.0, "{counts:?}");
    }

    #[test]
    fn figures_are_in_base_units() {
        let text = page(&sample::full());
        for line in [
            "photofinish_load_server_cpu_seconds{url=\"http://127.0.0.1:8080/items?a=1&b=<2>\",method=\"GET\"} 8\n",
            ",reason=\"status\"} 1\n",
            ",condition=\"p99>10ms\"} 1\n",
            ",verdict=\"schedule-bound\",",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
    }

    proptest! {
        #[test]
        fn any_url_survives_as_a_label(url in any::<String>()) {
            let mut report = sample::empty();
            report.asked.url.clone_from(&url);
            let text = page(&report);
            let line = text.split('\n').find(|line| line.starts_with("photofinish_load_info{")).unwrap();
            prop_assert_eq!(&parsed(line).1[0], &("url".to_owned(), url));
        }
    }
}
