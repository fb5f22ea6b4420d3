//! The tables: each figure of the plots, and what has no plot.

use maud::{Markup, html};

use super::plots::bins;
use crate::report::figures::{bytes, grouped, grouped_f64, seconds, span, span_or_dash};
use crate::report::hlog::whole_distributions;
use crate::report::{Report, SlicePart};

/// Rows of the table of the spread.
const BINS: usize = 20;

fn table(caption: &str, heads: &[&str], rows: &Markup) -> Markup {
    framed(caption, heads, true, rows)
}

/// A table that may be wider than the page; `figures`: all columns but the first are.
fn framed(caption: &str, heads: &[&str], figures: bool, rows: &Markup) -> Markup {
    html! {
        div class="wide" role="region" tabindex="0" aria-label=(format!("Table: {caption}")) {
            table {
                caption { (caption) }
                thead { tr {
                    @for (index, head) in heads.iter().enumerate() {
                        th scope="col" class=[(index > 0 && figures).then_some("n")] { (head) }
                    }
                } }
                tbody { (rows) }
            }
        }
    }
}

fn row(head: &str, cells: &[String]) -> Markup {
    html! { tr { th scope="row" { (head) } @for cell in cells { td class="n" { (cell) } } } }
}

pub fn percentiles(report: &Report) -> Markup {
    let heads = ["time", "count", "mean", "min", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "max"];
    let rows = html! {
        @for (name, times) in whole_distributions(report) {
            (row(&name.replace('_', " "), &[
                grouped(times.count),
                span_or_dash(times.mean_ns.map(|mean| mean as u64)),
                span_or_dash(times.min_ns),
                span_or_dash(times.p50_ns),
                span_or_dash(times.p90_ns),
                span_or_dash(times.p99_ns),
                span_or_dash(times.p999_ns),
                span_or_dash(times.p9999_ns),
                span_or_dash(times.max_ns),
            ]))
        }
    };
    table("All times of a request, by percentile", &heads, &rows)
}

pub fn slices(report: &Report) -> Markup {
    let heads = ["from", "accepted/s", "sent", "failed", "in flight", "generator busy", "p50", "p99", "max"];
    let one = |slice: &SlicePart| {
        row(
            &seconds(slice.from_ns),
            &[
                slice.accepted_per_s().map_or_else(|| "–".to_owned(), grouped_f64),
                grouped(slice.sent),
                grouped(slice.failed),
                grouped(slice.in_flight),
                format!("{:.0} %", slice.busy_share * 100.0),
                span_or_dash(slice.response.p50_ns),
                span_or_dash(slice.response.p99_ns),
                span_or_dash(slice.response.max_ns),
            ],
        )
    };
    table("Slices of the load", &heads, &html! { @for slice in &report.slices { (one(slice)) } })
}

pub fn spread(report: &Report) -> Markup {
    let histogram = report.latency.response.decoded();
    let total = histogram.len().max(1) as f64;
    let mut below = 0;
    let rows: Vec<Markup> = bins(&histogram, BINS)
        .iter()
        .map(|bin| {
            below += bin.count;
            let share = |count: u64| format!("{:.3} %", count as f64 * 100.0 / total);
            row(
                &format!("{} to {}", span(bin.from_ns), span(bin.to_ns)),
                &[grouped(bin.count), share(bin.count), share(below)],
            )
        })
        .collect();
    table(
        "Response times",
        &["response time", "responses", "share", "up to here"],
        &html! { @for one in rows { (one) } },
    )
}

pub fn counts(report: &Report) -> Markup {
    let requests = &report.requests;
    let rows = html! {
        @if let Some(offered) = requests.offered { (row("offered by the schedule", &[grouped(offered)])) }
        (row("sent", &[grouped(requests.sent)]))
        (row("accepted", &[grouped(requests.accepted)]))
        @for (reason, count) in requests.failed.occurred() {
            tr { th scope="row" { "failed: " code { (reason.code()) } } td class="n bad" { (grouped(count)) } }
        }
        (row("in flight at the end", &[grouped(requests.censored)]))
        @if requests.offered.is_some() { (row("never sent", &[grouped(requests.unsent)])) }
        (row("connections made", &[grouped(report.connects)]))
        @if let Some(fairness) = &report.fairness {
            (row("responses a connection", &[format!("{} to {}, mean {}", grouped(fairness.accepted_min),
                grouped(fairness.accepted_max), grouped_f64(fairness.accepted_mean))]))
            @if let Some(jain) = fairness.jain { (row("Jain's index of fairness (1 is even)", &[format!("{jain:.4}")])) }
        }
        (row("bodies a second", &[bytes(report.throughput.body_bytes_per_s)]))
        (row("received a second", &[bytes(report.throughput.wire_bytes_per_s)]))
    };
    table("Every request is counted once", &["", "count"], &rows)
}

pub fn entries(report: &Report) -> Markup {
    let heads = ["request", "weight", "sent", "accepted", "failed", "p50", "p99", "max"];
    let rows = html! {
        @for entry in &report.entries {
            (row(&entry.request, &[
                format!("{}", entry.weight),
                grouped(entry.sent),
                grouped(entry.accepted),
                grouped(entry.failed),
                span_or_dash(entry.p50_ns),
                span_or_dash(entry.p99_ns),
                span_or_dash(entry.max_ns),
            ]))
        }
    };
    table("Kinds of request", &heads, &rows)
}

pub fn thresholds(report: &Report) -> Markup {
    let rows = html! {
        @for one in &report.thresholds {
            tr {
                th scope="row" { code { (one.condition) } }
                td class="text" { (one.text) }
                td class=(if one.crossed { "bad" } else { "good" }) { (if one.crossed { "✗ came true" } else { "✓ did not" }) }
            }
        }
    };
    framed("Conditions that fail the load", &["condition", "seen", "came true"], false, &rows)
}

pub fn threads(report: &Report) -> Markup {
    let heads = ["thread", "sent", "accepted", "CPU", "busy"];
    let rows = html! {
        @for (index, thread) in report.engine.threads.iter().enumerate() {
            (row(&index.to_string(), &[
                grouped(thread.sent),
                grouped(thread.accepted),
                span(thread.cpu_ns),
                format!("{:.0} %", thread.busy_share * 100.0),
            ]))
        }
    };
    table("Threads of the generator", &heads, &rows)
}
