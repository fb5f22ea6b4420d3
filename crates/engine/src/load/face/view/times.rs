//! Response times: their percentiles, how these went, and how they are spread.

use hdrhistogram::Histogram;
use photofinish_load::live::{Marks, Snapshot, Tick};
use photofinish_load::report::figures::{span, span_or_dash};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Paragraph};

use super::{View, words};

/// Decades of time that a chart can show: 1 ns to 1,000 s.
const DECADES: f64 = 12.0;
/// Columns of a row of the histogram that are not its bar.
const BESIDE: u16 = 18;

type Figure = fn(&Marks) -> u64;

/// One curve of the chart.
struct Curve {
    name: &'static str,
    of: Figure,
    style: Style,
    marker: Marker,
}

impl View {
    fn curves(&self) -> [Curve; 3] {
        let colors = self.colors;
        // Without colours the shape of the points has to tell them apart.
        let marker = |shape| if colors.used() { Marker::Braille } else { shape };
        [
            Curve { name: "max", of: |marks| marks.max, style: colors.bad(), marker: marker(Marker::Block) },
            Curve { name: "p99", of: |marks| marks.p99, style: colors.warn(), marker: marker(Marker::Braille) },
            Curve { name: "p50", of: |marks| marks.p50, style: colors.good(), marker: marker(Marker::Dot) },
        ]
    }

    /// Percentiles since the start; those that the chart draws in the colours of their curves.
    pub(super) fn marks(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot<'_>) {
        let marks = Marks::of(snapshot.response);
        let curves = self.curves();
        let mut spans = vec![Span::styled(" so far", self.colors.soft())];
        let figures: [(&str, Figure); 5] = [
            ("p50", |marks| marks.p50),
            ("p90", |marks| marks.p90),
            ("p99", |marks| marks.p99),
            ("p99.9", |marks| marks.p999),
            ("max", |marks| marks.max),
        ];
        for (name, of) in figures {
            let style = curves.iter().find(|curve| curve.name == name).map_or(Style::new(), |curve| curve.style);
            spans.push(Span::styled(format!("  {name} "), style));
            spans.push(Span::styled(span_or_dash(marks.as_ref().map(of)), Style::new().add_modifier(Modifier::BOLD)));
        }
        frame.render_widget(Line::from(spans), area);
    }

    pub(super) fn chart(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot<'_>) {
        let panel = self.panel("response time, from intended start");
        let Some((low, high)) = decades(snapshot.ticks) else {
            let words = Paragraph::new(Span::styled("no response yet", self.colors.soft())).block(panel);
            return frame.render_widget(words, area);
        };
        let curves = self.curves();
        let points = curves.each_ref().map(|curve| points(snapshot.ticks, curve.of));
        let datasets = curves
            .iter()
            .zip(&points)
            .map(|(curve, data)| {
                Dataset::default().marker(curve.marker).graph_type(GraphType::Line).style(curve.style).data(data)
            })
            .collect();
        let (first, last) = (seconds(snapshot.ticks.first()), seconds(snapshot.ticks.last()));
        let labels = |at: f64| words::clock(photofinish_net::Nanos((at * 1e9) as u64));
        let across = Axis::default().bounds([first, last.max(first + 1.0)]).labels([labels(first), labels(last)]);
        let upward = Axis::default().bounds([low, high]).labels(steps(low, high, area.height));
        let chart = Chart::new(datasets)
            .block(panel)
            .x_axis(across.style(self.colors.soft()))
            .y_axis(upward.style(self.colors.soft()))
            .legend_position(None);
        frame.render_widget(chart, area);
    }

    pub(super) fn histogram(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot<'_>) {
        let panel = self.panel("how they are spread");
        let inside = panel.inner(area);
        let rows = bins(snapshot.response, usize::from(inside.height));
        let most = rows.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
        let total = snapshot.response.len().max(1);
        let width = usize::from(inside.width.saturating_sub(BESIDE));
        let lines: Vec<Line<'_>> = rows
            .iter()
            .map(|bin| {
                Line::from(vec![
                    Span::raw(format!("≤{:>7} ", span(bin.up_to))),
                    Span::styled(format!("{:<width$}", bar(bin.count, most, width)), self.colors.accent()),
                    Span::raw(format!(" {}", percent(bin.count, total))),
                ])
            })
            .collect();
        frame.render_widget(Paragraph::new(Text::from(lines)).block(panel), area);
    }
}

fn seconds(tick: Option<&Tick>) -> f64 {
    tick.map_or(0.0, |tick| tick.at.0 as f64 / 1e9)
}

fn log(nanos: u64) -> f64 {
    (nanos.max(1) as f64).log10()
}

fn points(ticks: &[Tick], of: Figure) -> Vec<(f64, f64)> {
    ticks.iter().filter_map(|tick| Some((seconds(Some(tick)), log(of(tick.marks.as_ref()?))))).collect()
}

/// Whole decades around all curves, as log10 of ns; none without a response.
fn decades(ticks: &[Tick]) -> Option<(f64, f64)> {
    let marks = || ticks.iter().filter_map(|tick| tick.marks);
    let low = marks().map(|marks| marks.p50).min().map(log)?.floor();
    let high = marks().map(|marks| marks.max.max(marks.p50)).max().map(log)?.ceil().min(DECADES);
    Some((low, high.max(low + 1.0)))
}

/// A label for each decade, or for the ends alone where there are fewer rows than that takes.
fn steps(low: f64, high: f64, rows: u16) -> Vec<String> {
    let label = |decade: i32| {
        let (unit, digits) = [(9, "s"), (6, "ms"), (3, "µs"), (0, "ns")]
            .into_iter()
            .find(|(from, _)| decade >= *from)
            .unwrap_or((0, "ns"));
        format!("{} {digits}", 10_i64.pow((decade - unit).clamp(0, 12) as u32))
    };
    let (low, high) = (low as i32, high as i32);
    if i32::from(rows) < 2 * (high - low) + 4 {
        vec![label(low), label(high)]
    } else {
        (low..=high).map(label).collect()
    }
}

/// A row of the histogram.
#[derive(Debug, PartialEq, Eq)]
struct Bin {
    up_to: u64,
    count: u64,
}

/// `rows` bins of equal width on a log scale, from the least to the greatest value; none if there are no values.
fn bins(histogram: &Histogram<u64>, rows: usize) -> Vec<Bin> {
    if histogram.is_empty() || rows == 0 {
        return Vec::new();
    }
    let (low, high) = (log(histogram.min()), log(histogram.max()));
    let width = ((high - low) / rows as f64).max(1e-9);
    let mut bins: Vec<Bin> =
        (1..=rows).map(|row| Bin { up_to: 10_f64.powf(low + width * row as f64).round() as u64, count: 0 }).collect();
    for value in histogram.iter_recorded() {
        let row = ((log(value.value_iterated_to()) - low) / width).max(0.0) as usize;
        bins[row.min(rows - 1)].count += value.count_at_value();
    }
    bins
}

/// A bar in eighths of a character; the least that is not nothing is an eighth.
fn bar(count: u64, most: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (count as f64 / most as f64 * (width * 8) as f64).round() as usize;
    let eighths = if count > 0 && width > 0 { eighths.max(1) } else { eighths };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Six columns; small shares keep a digit that is not 0.
fn percent(part: u64, whole: u64) -> String {
    let share = part as f64 * 100.0 / whole as f64;
    match part {
        0 => format!("{:>6}", "–"),
        _ if share < 0.01 => "<.01 %".to_owned(),
        _ if share < 10.0 => format!("{share:>4.2} %"),
        _ => format!("{share:>4.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 120_000_000_000, 3).unwrap();
        values.into_iter().for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    #[test]
    fn every_response_is_in_one_bin() {
        let all = histogram((1..5000).map(|index| index * index));
        let rows = bins(&all, 9);
        assert_eq!(rows.iter().map(|bin| bin.count).sum::<u64>(), all.len());
        assert!(rows.windows(2).all(|pair| pair[0].up_to < pair[1].up_to));
        assert_eq!(bins(&histogram([7; 3]), 4).iter().map(|bin| bin.count).sum::<u64>(), 3);
    }

    #[test]
    fn a_bar_is_never_empty_where_there_is_something() {
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(0, 5, 10), "");
        assert_eq!(bar(5, 5, 3), "███");
        assert_eq!(bar(1, 2, 3), "█▌");
    }

    #[test]
    fn decades_are_labelled_in_their_unit() {
        assert_eq!(steps(4.0, 7.0, 30), ["10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(steps(4.0, 11.0, 10), ["10 µs", "100 s"]);
    }
}
