//! The curve drawn in characters: latency, logarithmic, against rate.

use super::Standing;
use crate::report::figures::{grouped, span};

/// Columns of the labels left of the axis.
const LABELS: usize = 9;
/// Columns right of the axis.
const COLUMNS: usize = 66;
/// Lines above the axis.
const ROWS: usize = 16;
/// Columns that a label below the axis takes, with its distance to the next.
const RATE_LABEL: usize = 10;

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    /// Rate, latency in ns, and what the rate stands for; by rising rate.
    pub(super) points: Vec<(f64, f64, Standing)>,
    /// Rate and latency of the knee.
    pub(super) knee: Option<(f64, f64)>,
    /// Limit of the latency, in ns.
    pub(super) limit: Option<f64>,
    /// Highest rate that holds.
    pub(super) highest: Option<f64>,
}

/// The mark of a standing.
pub(super) const fn mark(standing: Standing) -> char {
    match standing {
        Standing::Holds => '●',
        Standing::Breaks => '○',
        Standing::GeneratorBound => '△',
        Standing::Open => '?',
    }
}

/// Where values lie on the field.
struct Scale {
    /// Rate at the right edge; the left is 0.
    right: f64,
    /// Decimal logarithms of the latencies at the lower and upper edge.
    low: f64,
    high: f64,
}

impl Scale {
    fn of(chart: &Chart) -> Option<Self> {
        let right = chart.points.last()?.0;
        let latencies = chart.points.iter().map(|point| point.1).chain(chart.limit).filter(|ns| *ns > 0.0);
        let (low, high) = latencies.fold((f64::INFINITY, 0.0_f64), |(low, high), ns| (low.min(ns), high.max(ns)));
        if right <= 0.0 || high <= 0.0 {
            return None;
        }
        // At least half a decade, so that what differs by some percent does not look like a mountain.
        let (low, high) = (low.log10(), high.log10());
        let widen = (0.5 - (high - low)).max(0.1) / 2.0;
        Some(Self { right, low: low - widen, high: high + widen })
    }

    fn column(&self, rate: f64) -> usize {
        ((rate / self.right * (COLUMNS - 1) as f64).round() as usize).min(COLUMNS - 1)
    }

    fn row(&self, ns: f64) -> usize {
        let share = (ns.max(1.0).log10() - self.low) / (self.high - self.low);
        ROWS - 1 - ((share * (ROWS - 1) as f64).round().max(0.0) as usize).min(ROWS - 1)
    }
}

impl Chart {
    /// Lines of at most 80 columns; none if there is nothing to draw.
    pub(super) fn lines(&self) -> Vec<String> {
        let Some(scale) = Scale::of(self) else { return Vec::new() };
        let mut field = vec![[' '; COLUMNS]; ROWS];
        if let Some(rate) = self.highest {
            let column = scale.column(rate);
            for row in &mut field {
                row[column] = '┊';
            }
        }
        if let Some(limit) = self.limit {
            field[scale.row(limit)] = ['┄'; COLUMNS];
        }
        self.connect(&scale, &mut field);
        for (rate, ns, standing) in &self.points {
            field[scale.row(*ns)][scale.column(*rate)] = mark(*standing);
        }
        if let Some((rate, ns)) = self.knee {
            field[scale.row(ns)][scale.column(rate)] = '◆';
        }
        let labels = latency_labels(&scale);
        let mut lines: Vec<String> = field
            .iter()
            .zip(labels)
            .map(|(row, label)| {
                let tick = if label.is_empty() { '│' } else { '┤' };
                format!("{label:>LABELS$} {tick}{}", row.iter().collect::<String>()).trim_end().to_owned()
            })
            .collect();
        lines.extend(rate_axis(&scale));
        lines
    }

    /// Dots from point to point.
    fn connect(&self, scale: &Scale, field: &mut [[char; COLUMNS]]) {
        for pair in self.points.windows(2) {
            let ((rate, ns, _), (next_rate, next_ns, _)) = (pair[0], pair[1]);
            let (from, to) = (scale.column(rate), scale.column(next_rate));
            for (column, place) in
                (from..=to).map(|column| (column, (column - from) as f64 / (to - from).max(1) as f64))
            {
                let between = (ns.max(1.0).ln() * (1.0 - place) + next_ns.max(1.0).ln() * place).exp();
                field[scale.row(between)][column] = '·';
            }
        }
    }
}

/// A label for each row, most of them empty: 1, 2 and 5 of each power of ten, as far as there is room.
fn latency_labels(scale: &Scale) -> Vec<String> {
    let mut labels = vec![String::new(); ROWS];
    let powers = scale.low.floor() as i32..=scale.high.ceil() as i32;
    // Powers of ten first, so that they win the room.
    for factor in [1.0, 5.0, 2.0] {
        for power in powers.clone() {
            let ns = factor * 10_f64.powi(power);
            let row = scale.row(ns);
            let inside = (scale.low..=scale.high).contains(&ns.log10());
            let room = labels[row.saturating_sub(1)..(row + 2).min(ROWS)].iter().all(String::is_empty);
            if inside && room {
                labels[row] = span(ns.round() as u64).replace(".00", "").replace(".0 ", " ");
            }
        }
    }
    labels
}

/// The axis and its numbers.
fn rate_axis(scale: &Scale) -> [String; 2] {
    let fitting = COLUMNS / RATE_LABEL;
    let rough = scale.right / fitting as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough);
    let step = step.unwrap_or(scale.right).max(1.0);
    let mut axis = vec!['─'; COLUMNS];
    let mut numbers = String::new();
    let mut rate = 0.0;
    while rate <= scale.right {
        let column = scale.column(rate);
        axis[column] = '┬';
        let text = grouped(rate.round() as u64);
        // Centred below its tick, as far as the edges allow.
        let begin = (LABELS + 2 + column - text.len() / 2).min(LABELS + 2 + COLUMNS - text.len());
        if numbers.is_empty() || begin > numbers.len() {
            numbers.push_str(&" ".repeat(begin - numbers.len()));
            numbers.push_str(&text);
        }
        rate += step;
    }
    [format!("{:>LABELS$} └{}", "", axis.into_iter().collect::<String>()), numbers]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_queue_is_drawn_with_its_limit_and_marks() {
        let points: Vec<_> = [1000.0, 4000.0, 6000.0, 8000.0, 9000.0, 9500.0, 10_000.0]
            .map(|rate: f64| {
                let ns = 4.605e9 / (10_300.0 - rate);
                (rate, ns, if ns < 5e6 { Standing::Holds } else { Standing::Breaks })
            })
            .into();
        let chart = Chart { knee: Some((8000.0, points[3].1)), points, limit: Some(5e6), highest: Some(9000.0) };
        let lines = chart.lines();
        assert_eq!(lines.len(), ROWS + 2);
        let drawn = lines.join("\n");
        assert_eq!(drawn.matches('●').count(), 4, "five hold, one of them is the knee:\n{drawn}");
        assert_eq!((drawn.matches('○').count(), drawn.matches('◆').count()), (2, 1), "{drawn}");
        assert!(drawn.contains("10 ms ┤") && drawn.contains("1 ms ┤") && drawn.contains("┄┄┄"), "{drawn}");
        assert!(lines[ROWS + 1].ends_with("10,000"), "{drawn}");
        // The curve rises: the first mark stands lower than the last.
        let row_of = |sign: char| lines.iter().position(|line| line.contains(sign)).unwrap();
        assert!(row_of('○') < row_of('◆'), "{drawn}");
    }

    #[test]
    fn nothing_to_draw_gives_no_lines() {
        assert!(Chart::default().lines().is_empty());
    }

    proptest! {
        #[test]
        fn any_curve_fits_into_80_columns(
            mut rates in prop::collection::vec(0.001_f64..1e9, 1..30),
            latencies in prop::collection::vec(0_f64..1e12, 30),
            limit in prop::option::of(1_f64..1e12),
        ) {
            rates.sort_unstable_by(f64::total_cmp);
            let points: Vec<_> =
                rates.iter().zip(latencies).map(|(rate, ns)| (*rate, ns, Standing::Holds)).collect();
            let chart = Chart { knee: points.first().map(|point| (point.0, point.1)), points, limit, highest: rates.last().copied() };
            for line in chart.lines() {
                prop_assert!(line.chars().count() <= 80, "{}", line);
            }
        }
    }
}
