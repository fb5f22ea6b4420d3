//! The highest rate that keeps a promise: which rates to try, one after the other, and what came of it.
//!
//! No clock and no socket: who drives the load asks [`Search::next`] for a rate, tries it, and hands what was seen to
//! [`Search::record`]. From half of what a closed loop reached, rates go up or down by a factor until one holds and a
//! higher one does not; the gap is then halved until it is as small as asked. A rate counts by two tries that agree, of
//! three at most, so that one disturbed try decides nothing. Last, gaps of the curve are filled.

mod chart;
pub mod knee;
mod point;
mod report;
#[cfg(test)]
mod tests;
mod text;

pub use point::{Point, Seen, Standing};
pub use report::{About, CapacityReport, Highest};

/// Rates of the curve, at least.
const CURVE_POINTS: usize = 8;
/// First rate, as a share of the estimate.
const START: f64 = 0.5;
/// From one rate up to the next while none has failed, at first.
const GROWTH: f64 = 1.5;
/// Highest rate, as a multiple of the estimate: an open loop can't go much faster than a closed one.
const CEILING: f64 = 4.0;
/// Lowest rate that is tried while the generator is the bottleneck, as a share of the estimate.
const HOPELESS: f64 = 0.07;
/// Lowest rate of the curve, as a share of the highest that holds.
const CURVE_BEGINS: f64 = 0.1;

/// What to search for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Requests a second that a closed loop reached.
    pub estimate_per_s: f64,
    /// Largest gap between the highest rate that holds and the lowest that does not, as a part of the former.
    pub precision: f64,
    /// No rate below this is tried, in requests a second.
    pub lowest_per_s: f64,
}

/// Why a search can't be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The closed loop gave nothing to start from.
    #[error("the closed loop reached {0} requests/s, which is nothing to search from: does the server answer at all?")]
    Estimate(f64),
    /// The precision is out of range.
    #[error("--precision {0} is out of range: use 0.01 to 0.5, or 1% to 50%")]
    Precision(f64),
}

/// One rate to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Requests a second, on a schedule.
    pub rate: f64,
    /// How often this rate was tried before.
    pub turn: u32,
}

/// Where a search stands: nothing but the rates that were tried and what came of them.
#[derive(Clone, Debug)]
pub struct Search {
    config: Config,
    /// By rising rate.
    points: Vec<Point>,
}

impl Search {
    /// A search that has tried nothing yet.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        if !config.estimate_per_s.is_finite() || config.estimate_per_s <= 0.0 {
            return Err(ConfigError::Estimate(config.estimate_per_s));
        }
        if !(0.01..=0.5).contains(&config.precision) {
            return Err(ConfigError::Precision(config.precision));
        }
        Ok(Self { config, points: Vec::new() })
    }

    /// What to try next; none at the end. Asking twice gives the same.
    #[must_use]
    pub fn next(&self) -> Option<Probe> {
        let open = self.points.iter().find(|point| !point.is_filler && point.standing() == Standing::Open);
        if let Some(point) = open {
            return Some(Probe { rate: point.rate, turn: point.seen.len() as u32 });
        }
        self.deciding_rate().or_else(|| self.filling_rate()).map(|rate| Probe { rate, turn: 0 })
    }

    /// Takes what was seen at a rate that [`Search::next`] gave.
    pub fn record(&mut self, probe: Probe, seen: Seen) {
        let deciding = self.deciding_rate().is_some_and(|rate| same(rate, probe.rate));
        let at = self.points.partition_point(|point| point.rate < probe.rate && !same(point.rate, probe.rate));
        match self.points.get_mut(at) {
            Some(point) if same(point.rate, probe.rate) => point.seen.push(seen),
            _ => self.points.insert(at, Point { rate: probe.rate, is_filler: !deciding, seen: vec![seen] }),
        }
    }

    /// The rates that were tried, rising.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// What it searches for.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The highest rate that holds so far, and the lowest above it that does not.
    #[must_use]
    pub fn bracket(&self) -> (Option<&Point>, Option<&Point>) {
        let decided = || self.points.iter().filter(|point| !point.is_filler && point.standing() != Standing::Open);
        let low = decided().rfind(|point| point.standing() == Standing::Holds);
        let high =
            decided().find(|point| point.standing() != Standing::Holds && low.is_none_or(|low| point.rate > low.rate));
        (low, high)
    }

    /// The next rate that tells more about where the limit is; none when it is known well enough, or can't be found.
    fn deciding_rate(&self) -> Option<f64> {
        let estimate = self.config.estimate_per_s;
        let rate = match self.bracket() {
            (None, None) => (estimate * START).max(self.config.lowest_per_s),
            (Some(low), None) if low.rate >= estimate * CEILING => return None,
            // Near the estimate the limit is to be expected: smaller steps, so that less is wasted beyond it.
            (Some(low), None) => (low.rate * GROWTH).min(estimate * CEILING),
            (None, Some(high)) if high.rate <= self.config.lowest_per_s * 1.001 => return None,
            // A generator that is late at a fraction of what it has reached is so at any rate.
            (None, Some(high)) if high.standing() == Standing::GeneratorBound && high.rate <= estimate * HOPELESS => {
                return None;
            }
            (None, Some(high)) => (high.rate / 2.0).max(self.config.lowest_per_s),
            (Some(low), Some(high)) if high.rate <= low.rate * (1.0 + self.config.precision) => return None,
            (Some(low), Some(high)) => (low.rate * high.rate).sqrt(),
        };
        let rate = four_digits(rate);
        // Rounding may give a rate that is known already: then the gap is as small as it gets.
        (!self.points.iter().any(|point| !point.is_filler && same(point.rate, rate))).then_some(rate)
    }

    /// The middle of the largest gap, as long as the curve has too few rates.
    fn filling_rate(&self) -> Option<f64> {
        if self.points.len() >= CURVE_POINTS {
            return None;
        }
        let (low, high) = self.bracket();
        if low.is_none() && high.is_some_and(|high| high.standing() == Standing::GeneratorBound) {
            return None;
        }
        let first = self.points.first()?.rate;
        let begin = low.map_or(first, |low| low.rate * CURVE_BEGINS).max(self.config.lowest_per_s);
        let end = low.or(self.points.last())?.rate;
        if first > begin * 1.001 {
            return Some(four_digits(begin));
        }
        let within: Vec<f64> = self.points.iter().map(|point| point.rate).filter(|rate| *rate <= end * 1.001).collect();
        let gap = within.windows(2).max_by(|one, other| (one[1] - one[0]).total_cmp(&(other[1] - other[0])))?;
        let middle = four_digits(f64::midpoint(gap[0], gap[1]));
        (!same(middle, gap[0]) && !same(middle, gap[1])).then_some(middle)
    }
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs()
}

/// Rates that a reader can repeat: four significant digits.
fn four_digits(rate: f64) -> f64 {
    format!("{rate:.3e}").parse().unwrap_or(rate)
}
