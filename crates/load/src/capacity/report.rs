//! `photofinish.capacity/1`: the curve, the knee and the highest rate that holds, as a document (`docs/capacity.md`).
#![expect(missing_docs, reason = "each field is described in docs/capacity.md")]

use serde::Serialize;

use super::{Point, Search, Standing, knee};
use crate::report::figures::asked_rate;

/// Name and major version of the document.
pub const SCHEMA: &str = "photofinish.capacity/1";

/// What was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    pub url: String,
    /// The conditions, as given.
    pub slo: Vec<String>,
    /// The latency that the curve shows: `p99`, `service p99.9` …
    pub latency: String,
    /// Limit of that latency, if one of the conditions is about it.
    pub limit_ns: Option<f64>,
    pub connections: u32,
    pub threads: u32,
    pub backend: String,
    /// Length of one try.
    pub probe_ns: u64,
}

/// The whole document.
#[derive(Clone, Debug, Serialize)]
pub struct CapacityReport {
    pub schema: &'static str,
    pub asked: About,
    pub precision: f64,
    /// Requests a second of the closed loop that the search began with.
    pub estimate_per_s: f64,
    /// Whether the search was ended before it was done.
    pub interrupted: bool,
    pub highest: Highest,
    pub knee: Option<Knee>,
    /// Why there is no knee.
    pub no_knee: Option<String>,
    pub curve: Vec<CurvePart>,
}

/// The highest rate that holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Highest {
    /// None if no rate holds.
    pub holds_per_s: Option<f64>,
    /// The lowest rate above it that was tried and does not.
    pub breaks_per_s: Option<f64>,
    /// What ends it: `server`, `generator`, or `none` if nothing did.
    pub limit: &'static str,
    /// In words.
    pub reasons: Vec<String>,
}

/// Where more rate begins to cost much more latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Knee {
    pub rate_per_s: f64,
    pub latency_ns: f64,
}

/// One rate of the curve.
#[derive(Clone, Debug, Serialize)]
pub struct CurvePart {
    pub rate_per_s: f64,
    pub standing: Standing,
    /// How often it was tried.
    pub probes: u32,
    /// Of the last try.
    pub sent_per_s: f64,
    pub accepted_per_s: f64,
    /// Medians over the tries.
    pub latency_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub p999_ns: Option<f64>,
    pub reasons: Vec<String>,
}

impl CapacityReport {
    /// Sums a search up. `interrupted`: it was ended before [`Search::next`] gave none.
    #[must_use]
    pub fn new(search: &Search, asked: About) -> Self {
        let (knee, no_knee) = match find_knee(search.points()) {
            Ok(knee) => (Some(knee), None),
            Err(why) => (None, Some(why.to_string())),
        };
        Self {
            schema: SCHEMA,
            asked,
            precision: search.config().precision,
            estimate_per_s: search.config().estimate_per_s,
            interrupted: search.next().is_some(),
            highest: Highest::of(search),
            knee,
            no_knee,
            curve: search.points().iter().map(CurvePart::of).collect(),
        }
    }
}

impl Highest {
    fn of(search: &Search) -> Self {
        let (low, high) = search.bracket();
        let by_generator = high.is_some_and(|high| high.standing() == Standing::GeneratorBound);
        let mut reasons: Vec<String> = high.map_or_else(Vec::new, |high| {
            let at = asked_rate(high.rate);
            high.reasons().into_iter().map(|reason| format!("at {at}: {reason}")).collect()
        });
        match (low, high) {
            (Some(_), None) => reasons.push("no rate that was tried broke it: its limit lies beyond".to_owned()),
            (Some(_), Some(_)) if by_generator => {
                reasons.push("the server may do more: use more threads (-t) or another machine to find out".to_owned());
            }
            (None, Some(_)) if by_generator => {
                reasons
                    .push("the generator was the bottleneck at every rate: nothing is known of the server".to_owned());
            }
            (None, Some(high)) => {
                let at = asked_rate(high.rate);
                reasons.push(format!("already {at} requests/s break it: relax --slo, or mend the server"));
            }
            (None, None) => reasons.push("no rate was tried often enough".to_owned()),
            (Some(_), Some(_)) => {}
        }
        Self {
            holds_per_s: low.map(|low| low.rate),
            breaks_per_s: high.map(|high| high.rate),
            limit: if by_generator {
                "generator"
            } else if high.is_some() {
                "server"
            } else {
                "none"
            },
            reasons,
        }
    }
}

fn find_knee(points: &[Point]) -> Result<Knee, knee::NoKnee> {
    let curve: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((point.rate, point.latency_ns().filter(|ns| *ns > 0.0)?))).collect();
    let at = knee::find(&curve, noise(points))?;
    Ok(Knee { rate_per_s: curve[at].0, latency_ns: curve[at].1 })
}

/// Median distance of the logarithms of two tries at one rate that holds; 0 without such a pair. Beyond the limit, tries
/// differ because the backlog does, which is no noise.
fn noise(points: &[Point]) -> f64 {
    let mut distances: Vec<f64> = points
        .iter()
        .filter(|point| point.standing() == Standing::Holds)
        .filter_map(|point| match point.seen.as_slice() {
            [one, other, ..] => Some((one.latency_ns?.max(1.0).ln() - other.latency_ns?.max(1.0).ln()).abs()),
            _ => None,
        })
        .collect();
    distances.sort_unstable_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().unwrap_or(0.0)
}

impl CurvePart {
    fn of(point: &Point) -> Self {
        let last = point.seen.last();
        Self {
            rate_per_s: point.rate,
            standing: point.standing(),
            probes: point.seen.len() as u32,
            sent_per_s: last.map_or(0.0, |seen| seen.sent_per_s),
            accepted_per_s: last.map_or(0.0, |seen| seen.accepted_per_s),
            latency_ns: point.latency_ns(),
            p50_ns: point.median(|seen| seen.p50_ns.map(|ns| ns as f64)),
            p99_ns: point.median(|seen| seen.p99_ns.map(|ns| ns as f64)),
            p999_ns: point.median(|seen| seen.p999_ns.map(|ns| ns as f64)),
            reasons: point.reasons(),
        }
    }
}
