//! Thresholds: what a figure of a run must not do (`--fail-if 'p99>10ms'`), or must (`--slo 'p99<5ms'`).

mod parse;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Formatter};

use hdrhistogram::Histogram;

use crate::report::figures::{grouped, span};
use crate::verdict::Bound;

pub use parse::ThresholdError;

/// What thresholds are compared with: one run, or a slice of it. Histograms are in ns.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of docs/load-report.md")]
pub struct Observations<'a> {
    pub response: &'a Histogram<u64>,
    pub service: &'a Histogram<u64>,
    /// None in a closed loop.
    pub lag: Option<&'a Histogram<u64>>,
    pub connect: &'a Histogram<u64>,
    pub first_byte: &'a Histogram<u64>,
    pub accepted: u64,
    pub failed: u64,
    pub sent: u64,
    pub unsent: u64,
    pub accepted_per_s: f64,
    pub bound: Bound,
}

/// One threshold: `[WHICH] FIGURE OPERATOR VALUE`, or the word of a verdict alone.
///
/// | figure | of | value |
/// | --- | --- | --- |
/// | `p50` `p99` `p99.9` … `mean` `min` `max` | `response` (unless named), `service`, `lag`, `connect`, `first-byte` | `10ms`, `250us`, … |
/// | `errors` | failed requests | `0.1%` of those sent, or a number |
/// | `unsent` | intended and never sent | `1%` of those intended, or a number |
/// | `rate` | accepted responses a second | a number |
/// | `generator-bound`, `server-bound`, `schedule-bound`, `undecided` | the verdict | none |
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Compare { figure: Figure, operator: Operator, number: f64, unit: Unit },
    Verdict(Bound),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    Latency(Part, Statistic),
    Errors,
    Unsent,
    Rate,
}

/// Which histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Response,
    Service,
    Lag,
    Connect,
    FirstByte,
}

impl Part {
    const ALL: [Self; 5] = [Self::Response, Self::Service, Self::Lag, Self::Connect, Self::FirstByte];

    const fn word(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::Lag => "lag",
            Self::Connect => "connect",
            Self::FirstByte => "first-byte",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statistic {
    /// In percent, above 0, at most 100.
    Percentile(f64),
    Mean,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Operator {
    const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, observed: f64, limit: f64) -> bool {
        match self {
            Self::Less => observed < limit,
            Self::AtMost => observed <= limit,
            Self::Greater => observed > limit,
            Self::AtLeast => observed >= limit,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Nanos,
    Micros,
    Millis,
    Seconds,
    Percent,
    None,
}

impl Unit {
    const fn sign(self) -> &'static str {
        match self {
            Self::Nanos => "ns",
            Self::Micros => "us",
            Self::Millis => "ms",
            Self::Seconds => "s",
            Self::Percent => "%",
            Self::None => "",
        }
    }

    /// What one of it is in ns, as a share, or as a plain number.
    const fn scale(self) -> f64 {
        match self {
            Self::Nanos | Self::None => 1.0,
            Self::Micros => 1e3,
            Self::Millis => 1e6,
            Self::Seconds => 1e9,
            Self::Percent => 0.01,
        }
    }

    const fn is_time(self) -> bool {
        matches!(self, Self::Nanos | Self::Micros | Self::Millis | Self::Seconds)
    }
}

/// What came of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The figure in ns, as a share of 1, or a plain number, as the threshold's unit is; none if it was not measured, or
    /// the threshold is about the verdict.
    pub observed: Option<f64>,
    /// The threshold and what was seen, as a sentence.
    pub text: String,
    /// Whether the comparison came true, or could not be made.
    pub crossed: bool,
}

impl Threshold {
    /// Compares as a threshold: crossed if the comparison is true. What was not measured counts as crossed, since
    /// nothing shows that it was not.
    #[must_use]
    pub fn check(&self, seen: &Observations<'_>) -> Outcome {
        match self.compare(seen) {
            Ok((observed, true_of_it, text)) => {
                Outcome { observed, crossed: true_of_it, text: format!("{self}: {text}") }
            }
            Err(why) => Outcome { observed: None, crossed: true, text: format!("{self}: not measured, {why}") },
        }
    }

    /// Compares as a condition: whether it is true. What was not measured is not.
    #[must_use]
    pub fn holds(&self, seen: &Observations<'_>) -> bool {
        self.compare(seen).is_ok_and(|(_, true_of_it, _)| true_of_it)
    }

    /// The figure in ns, as a share of 1, or a plain number, as the threshold's unit is.
    #[must_use]
    pub fn observed(&self, seen: &Observations<'_>) -> Option<f64> {
        self.compare(seen).ok().and_then(|(observed, ..)| observed)
    }

    /// Limit of a latency in ns, and none of any other figure: where a chart of latencies draws its line.
    #[must_use]
    pub fn limit_ns(&self) -> Option<f64> {
        match self.0 {
            Kind::Compare { figure: Figure::Latency(..), number, unit, .. } => Some(number * unit.scale()),
            _ => None,
        }
    }

    /// Whether it bounds a figure from above, as the condition `p99<5ms` does.
    #[must_use]
    pub const fn is_upper(&self) -> bool {
        matches!(self.0, Kind::Compare { operator: Operator::Less | Operator::AtMost, .. })
    }

    /// The figure that is compared, without the limit: `p99`, `service mean`, `errors`.
    #[must_use]
    pub fn figure(&self) -> String {
        match &self.0 {
            Kind::Compare { figure, .. } => figure.to_string(),
            Kind::Verdict(bound) => bound.code().to_owned(),
        }
    }

    /// The figure, whether the comparison is true, and both in words; or why there is no figure.
    fn compare(&self, seen: &Observations<'_>) -> Result<(Option<f64>, bool, String), String> {
        match self.0 {
            Kind::Verdict(bound) => Ok((None, seen.bound == bound, format!("the verdict is {}", seen.bound.code()))),
            Kind::Compare { figure, operator, number, unit } => {
                let observed = figure.of(seen, unit)?;
                let limit = number * unit.scale();
                Ok((Some(observed), operator.holds(observed, limit), figure.describe(observed, unit, seen)))
            }
        }
    }
}

impl Figure {
    fn of(self, seen: &Observations<'_>, unit: Unit) -> Result<f64, String> {
        let share = |part: u64, whole: u64, of: &str| match (unit, whole) {
            (Unit::Percent, 0) => Err(format!("no request was {of}")),
            (Unit::Percent, _) => Ok(part as f64 / whole as f64),
            _ => Ok(part as f64),
        };
        match self {
            Self::Errors => share(seen.failed, seen.sent, "sent"),
            Self::Unsent => share(seen.unsent, seen.sent + seen.unsent, "intended"),
            Self::Rate if seen.accepted_per_s.is_finite() => Ok(seen.accepted_per_s),
            Self::Rate => Err("no time was spent on sending".to_owned()),
            Self::Latency(part, statistic) => {
                let histogram = part.of(seen).ok_or("a closed loop has no schedule to lag behind: use --rate")?;
                if histogram.is_empty() {
                    return Err(format!("there is no {} time of an accepted response", part.word()));
                }
                Ok(statistic.of(histogram))
            }
        }
    }

    fn describe(self, observed: f64, unit: Unit, seen: &Observations<'_>) -> String {
        match (self, unit) {
            (Self::Latency(part, statistic), _) => {
                let count = part.of(seen).map_or(0, Histogram::len);
                let few = match statistic {
                    Statistic::Percentile(percent) if (count as f64) * (100.0 - percent) < 100.0 && percent < 100.0 => {
                        format!(", of only {} values, which is their greatest", grouped(count))
                    }
                    _ => String::new(),
                };
                format!("it is {}{few}", span(observed.round() as u64))
            }
            (_, Unit::Percent) => format!("it is {} %", rounded(observed * 100.0)),
            (Self::Rate, _) => format!("it is {}/s", rounded(observed)),
            _ => format!("it is {}", grouped(observed as u64)),
        }
    }
}

/// Five significant digits at most, so that what is just above a limit does not read as the limit.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

impl Part {
    const fn of<'a>(self, seen: &Observations<'a>) -> Option<&'a Histogram<u64>> {
        match self {
            Self::Response => Some(seen.response),
            Self::Service => Some(seen.service),
            Self::Lag => seen.lag,
            Self::Connect => Some(seen.connect),
            Self::FirstByte => Some(seen.first_byte),
        }
    }
}

impl Statistic {
    fn of(self, histogram: &Histogram<u64>) -> f64 {
        match self {
            Self::Percentile(percent) => histogram.value_at_percentile(percent) as f64,
            Self::Mean => histogram.mean(),
            Self::Min => histogram.min() as f64,
            Self::Max => histogram.max() as f64,
        }
    }
}

impl Display for Figure {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errors => out.write_str("errors"),
            Self::Unsent => out.write_str("unsent"),
            Self::Rate => out.write_str("rate"),
            Self::Latency(part, statistic) => {
                if *part != Part::Response {
                    write!(out, "{} ", part.word())?;
                }
                match statistic {
                    Statistic::Percentile(percent) => write!(out, "p{percent}"),
                    Statistic::Mean => out.write_str("mean"),
                    Statistic::Min => out.write_str("min"),
                    Statistic::Max => out.write_str("max"),
                }
            }
        }
    }
}

impl Display for Threshold {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Verdict(bound) => out.write_str(bound.code()),
            Kind::Compare { figure, operator, number, unit } => {
                write!(out, "{figure}{}{number}{}", operator.sign(), unit.sign())
            }
        }
    }
}
