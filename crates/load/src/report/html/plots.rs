//! The four plots: percentiles, percentiles over time, rate over time, spread.

use hdrhistogram::Histogram;
use maud::{Markup, html};

use super::axis::Axis;
use super::drawing::{BOTTOM, Curve, LEFT, RIGHT, TOP, Words, at, plot, ticks};
use crate::report::figures::{asked_rate, grouped, grouped_f64, seconds, span, span_or_dash};
use crate::report::{Distribution, Report, SlicePart};

/// Bars of the plot of the spread.
const BINS: usize = 60;

/// A time on a logarithmic axis with room above and below.
fn time_axis(low: u64, high: u64) -> Axis {
    Axis::logarithmic((low as f64 / 1.15, high as f64 * 1.15), (BOTTOM, TOP))
}

/// `log10(1/(1 − q))`: 90 % is 1, 99 % is 2, 99.9 % is 3.
fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile).log10()
}

/// Percentile curves; nothing without a response.
pub fn percentiles(report: &Report) -> Option<Markup> {
    let latency = &report.latency;
    let mut drawn: Vec<(&'static str, &'static str, &Distribution)> = vec![("response", "c0", &latency.response)];
    if let Some(lag) = &latency.lag {
        drawn.push(("service", "c1", &latency.service));
        drawn.push(("lag", "c2", lag));
    }
    if latency.first_byte.count > 0 {
        drawn.push(("first byte", "c3", &latency.first_byte));
    }
    drawn.retain(|(_, _, times)| times.count > 0);
    let most = drawn.iter().map(|(_, _, times)| times.count).max()?;
    let low = drawn.iter().filter_map(|(_, _, times)| times.min_ns).min()?;
    let high = drawn.iter().filter_map(|(_, _, times)| times.max_ns).max()?;
    let across = Axis::linear((0.0, (most as f64).log10().max(1.0)), (LEFT, RIGHT));
    let upward = time_axis(low, high);
    let curves: Vec<Curve> = drawn
        .iter()
        .map(|(name, class, times)| Curve { name, class, points: steps(&times.decoded(), &across, &upward) })
        .collect();
    let told = drawn
        .iter()
        .map(|(name, _, times)| {
            format!("{name}: median {}, 99 % {}", span_or_dash(times.p50_ns), span_or_dash(times.p99_ns))
        })
        .collect::<Vec<_>>()
        .join("; ");
    let shares = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
    let shares: Vec<(f64, String)> = shares
        .into_iter()
        .take_while(|share| nines(*share) <= (most as f64).log10().max(1.0))
        .map(|share| (across.place(nines(share)), format!("{} %", (share * 1e8).round() / 1e6)))
        .collect();
    let words = Words {
        id: "percentiles",
        title: "Percentile curves",
        told: &told,
        across: "share of requests that took at most … (both axes logarithmic)",
        upward: "time",
    };
    Some(plot(&words, &shares, &ticks(&upward, |tick| round(tick as u64)), &html! {}, &curves))
}

/// The curve, without its last step: 100 % has no place on this axis.
fn steps(histogram: &Histogram<u64>, across: &Axis, upward: &Axis) -> Vec<(f64, f64)> {
    let mut points = vec![(across.place(0.0), upward.place(histogram.min() as f64))];
    let (total, mut below) = (histogram.len() as f64, 0);
    for value in histogram.iter_recorded() {
        below += value.count_at_value();
        let place = if below < histogram.len() { nines(below as f64 / total) } else { total.log10() };
        points.push((across.place(place), upward.place(value.value_iterated_to() as f64)));
    }
    points
}

/// A tick's time without decimals that say nothing.
fn round(nanos: u64) -> String {
    let text = span(nanos);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

fn end_ns(slices: &[SlicePart]) -> u64 {
    slices.last().map_or(0, |slice| slice.from_ns + slice.span_ns)
}

fn middle(slice: &SlicePart) -> f64 {
    (slice.from_ns + slice.span_ns / 2) as f64
}

fn time_ticks(axis: &Axis) -> Vec<(f64, String)> {
    axis.ticks().into_iter().map(|tick| (axis.place(tick * 1.0), format!("{tick} s"))).collect()
}

/// What the warm-up took, as a shade.
fn cut(report: &Report, across: &Axis) -> Markup {
    let end = across.place(report.warmup.cut_ns as f64 / 1e9);
    html! {
        @if report.warmup.cut_ns > 0 {
            rect class="cut" x=(at(LEFT)) y=(TOP) width=(at(end - LEFT)) height=(BOTTOM - TOP) {
                title { "warm-up, left out: " (seconds(report.warmup.cut_ns)) }
            }
        }
    }
}

/// Percentiles of each slice; nothing without two slices that hold responses.
pub fn over_time(report: &Report) -> Option<Markup> {
    let slices = &report.slices;
    let known = || slices.iter().filter(|slice| slice.response.count > 0);
    if known().count() < 2 {
        return None;
    }
    let low = known().filter_map(|slice| slice.response.p50_ns).min()?;
    let high = known().filter_map(|slice| slice.response.max_ns).max()?;
    let across = Axis::linear((0.0, end_ns(slices) as f64 / 1e9), (LEFT, RIGHT));
    let upward = time_axis(low, high);
    let curve = |name, class, of: fn(&Distribution) -> Option<u64>| Curve {
        name,
        class,
        points: known()
            .filter_map(|slice| Some((across.place(middle(slice) / 1e9), upward.place(of(&slice.response)? as f64))))
            .collect(),
    };
    let curves = [
        curve("max", "c1", |times| times.max_ns),
        curve("p99", "c2", |times| times.p99_ns),
        curve("p50", "c0", |times| times.p50_ns),
    ];
    let told = format!("Response time by slice: medians from {} up, greatest {}.", span(low), span(high));
    let words = Words {
        id: "over-time",
        title: "Response time over time",
        told: &told,
        across: "time since the start of sending",
        upward: "response time (logarithmic)",
    };
    Some(plot(&words, &time_ticks(&across), &ticks(&upward, |tick| round(tick as u64)), &cut(report, &across), &curves))
}

/// Accepted responses a second of each slice; nothing without two slices.
pub fn rate(report: &Report) -> Option<Markup> {
    let slices = &report.slices;
    let rates: Vec<(f64, f64)> =
        slices.iter().filter_map(|slice| Some((middle(slice) / 1e9, slice.accepted_per_s()?))).collect();
    if rates.len() < 2 {
        return None;
    }
    let intended = report.asked.rate_per_s.filter(|_| report.asked.stages.is_none());
    let most = rates.iter().map(|(_, rate)| *rate).fold(intended.unwrap_or(0.0), f64::max);
    let least = rates.iter().map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min);
    let across = Axis::linear((0.0, end_ns(slices) as f64 / 1e9), (LEFT, RIGHT));
    let upward = Axis::linear((0.0, most * 1.05), (BOTTOM, TOP));
    let points = rates.iter().map(|(at, rate)| (across.place(*at), upward.place(*rate))).collect();
    let curves = [Curve { name: "accepted", class: "c0", points }];
    let under = html! {
        (cut(report, &across))
        @if let Some(rate) = intended {
            line class="intended" x1=(LEFT) x2=(RIGHT) y1=(at(upward.place(rate))) y2=(at(upward.place(rate))) {
                title { (asked_rate(rate)) " intended" }
            }
        }
    };
    let told = format!("Accepted responses a second by slice: {} to {}.", grouped_f64(least), grouped_f64(most));
    let words = Words {
        id: "rate",
        title: "Rate over time",
        told: &told,
        across: "time since the start of sending",
        upward: "accepted responses a second",
    };
    let labels = ticks(&upward, |tick| if tick < 10.0 { tick.to_string() } else { grouped(tick.round() as u64) });
    Some(plot(&words, &time_ticks(&across), &labels, &under, &curves))
}

/// One bar of the spread.
pub struct Bin {
    pub from_ns: u64,
    pub to_ns: u64,
    pub count: u64,
}

/// `count` bins of equal width on a logarithmic scale; none without values.
pub fn bins(histogram: &Histogram<u64>, count: usize) -> Vec<Bin> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let (low, high) = ((histogram.min().max(1) as f64).ln(), (histogram.max().max(1) as f64).ln());
    let width = ((high - low) / count as f64).max(1e-9);
    let edge = |index: usize| (low + width * index as f64).exp().round() as u64;
    let mut bins: Vec<Bin> =
        (0..count).map(|index| Bin { from_ns: edge(index), to_ns: edge(index + 1), count: 0 }).collect();
    for value in histogram.iter_recorded() {
        let index = (((value.value_iterated_to().max(1) as f64).ln() - low) / width).max(0.0) as usize;
        bins[index.min(count - 1)].count += value.count_at_value();
    }
    bins
}

/// How response times are spread; nothing without a response.
pub fn spread(report: &Report) -> Option<Markup> {
    let histogram = report.latency.response.decoded();
    let bars = bins(&histogram, BINS);
    let most = bars.iter().map(|bar| bar.count).max()?;
    let across = Axis::logarithmic((bars.first()?.from_ns as f64, bars.last()?.to_ns as f64), (LEFT, RIGHT));
    let share = |count: u64| count as f64 * 100.0 / histogram.len() as f64;
    let upward = Axis::linear((0.0, share(most) * 1.05), (BOTTOM, TOP));
    let under = html! {
        @for bar in bars.iter().filter(|bar| bar.count > 0) {
            @let (left, right) = (across.place(bar.from_ns as f64), across.place(bar.to_ns as f64));
            @let top = upward.place(share(bar.count)).min(BOTTOM - 1.0);
            rect class="bar" x=(at(left)) width=(at((right - left - 1.0).max(1.0))) y=(at(top)) height=(at(BOTTOM - top)) {
                title { (span(bar.from_ns)) " to " (span(bar.to_ns)) ": " (grouped(bar.count)) }
            }
        }
    };
    let told = format!("Response times from {} to {}.", span(histogram.min()), span(histogram.max()));
    let words = Words {
        id: "spread",
        title: "Spread of response times",
        told: &told,
        across: "response time (logarithmic)",
        upward: "share of responses; a bar is never lower than a pixel",
    };
    let labels = ticks(&upward, |tick| format!("{} %", (tick * 1000.0).round() / 1000.0));
    Some(plot(&words, &ticks(&across, |tick| round(tick as u64)), &labels, &under, &[]))
}
