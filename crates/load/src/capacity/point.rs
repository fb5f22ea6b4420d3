//! One rate, and what was seen at it.

use serde::Serialize;

/// What one try at one rate showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Requests a second that left.
    pub sent_per_s: f64,
    /// Requests a second that were intended.
    pub offered_per_s: f64,
    /// Responses a second that were accepted.
    pub accepted_per_s: f64,
    /// Whether every condition was met. That the schedule was followed is judged here, not by the caller.
    pub holds: bool,
    /// Each condition that was not met, in words.
    pub reasons: Vec<String>,
    /// Median response time, in ns.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response time, in ns.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile of the response time, in ns.
    pub p999_ns: Option<u64>,
    /// The latency that the condition is about, in ns; of a condition about something else, the 99th percentile.
    pub latency_ns: Option<f64>,
    /// Whether the generator was the bottleneck: then the try says nothing about the server.
    pub generator_bound: bool,
}

/// Smallest part of the intended rate that has to leave for a rate to hold.
const FOLLOWED: f64 = 0.99;
/// Tries that have to agree.
const AGREEING: usize = 2;

impl Seen {
    /// Whether the requests left as intended.
    #[must_use]
    pub fn followed(&self) -> bool {
        self.sent_per_s >= self.offered_per_s * FOLLOWED
    }

    const fn standing(&self, followed: bool) -> Standing {
        if self.generator_bound {
            Standing::GeneratorBound
        } else if self.holds && followed {
            Standing::Holds
        } else {
            Standing::Breaks
        }
    }
}

/// What can be said of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Too few tries, or none that agree.
    Open,
    /// The conditions were met.
    Holds,
    /// They were not.
    Breaks,
    /// The generator was the bottleneck.
    GeneratorBound,
}

/// One rate of the curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Requests a second, intended.
    pub rate: f64,
    /// Tried once to fill a gap of the curve: it decides nothing about the limit.
    pub is_filler: bool,
    /// What each try showed.
    pub seen: Vec<Seen>,
}

impl Point {
    /// Of a rate that decides: what two tries agree on, and with three that all differ, that it breaks. Of a filler: what
    /// its one try showed.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let standings: Vec<Standing> = self.seen.iter().map(|seen| seen.standing(seen.followed())).collect();
        if self.is_filler {
            return standings.first().copied().unwrap_or(Standing::Open);
        }
        let count = |wanted| standings.iter().filter(|standing| **standing == wanted).count();
        let agreed = [Standing::Holds, Standing::Breaks, Standing::GeneratorBound]
            .into_iter()
            .find(|standing| count(*standing) >= AGREEING);
        match agreed {
            Some(standing) => standing,
            None if standings.len() > AGREEING => Standing::Breaks,
            None => Standing::Open,
        }
    }

    /// Why the rate does not hold: the words of the first try that shows what the rate stands for.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let standing = self.standing();
        let Some(seen) = self.seen.iter().find(|seen| seen.standing(seen.followed()) == standing) else {
            return Vec::new();
        };
        let mut reasons = if standing == Standing::Holds { Vec::new() } else { seen.reasons.clone() };
        if standing == Standing::Breaks && !seen.followed() {
            let share = seen.sent_per_s / seen.offered_per_s * 100.0;
            reasons.push(format!("only {share:.1} % of the intended requests left in time"));
        }
        if standing == Standing::GeneratorBound && reasons.is_empty() {
            reasons.push("the generator was the bottleneck".to_owned());
        }
        reasons
    }

    /// Median over the tries of the latency that the condition is about, in ns. Tries in which the generator was the
    /// bottleneck are left out.
    #[must_use]
    pub fn latency_ns(&self) -> Option<f64> {
        self.median(|seen| seen.latency_ns)
    }

    /// Median over the tries of any figure.
    pub(super) fn median(&self, figure: impl Fn(&Seen) -> Option<f64>) -> Option<f64> {
        let mut values: Vec<f64> = self.seen.iter().filter(|seen| !seen.generator_bound).filter_map(figure).collect();
        values.sort_unstable_by(f64::total_cmp);
        match values.len() {
            0 => None,
            n if n % 2 == 1 => Some(values[n / 2]),
            n => Some(f64::midpoint(values[n / 2 - 1], values[n / 2])),
        }
    }
}
