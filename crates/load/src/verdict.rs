//! Who set the pace: the generator, the server, or the schedule? A figure of a generator that was itself the bottleneck
//! says nothing about the server.

use serde::Serialize;

/// What bound the rate of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The generator had no headroom, or sent late by its own fault: the figures are not the server's.
    GeneratorBound,
    /// The generator had headroom, and the server did not go faster.
    ServerBound,
    /// An open loop was followed: the figures hold at this rate; the capacity is not known.
    ScheduleBound,
    /// The evidence does not allow any of the above.
    Undecided,
}

impl Bound {
    /// The word used in reports.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::GeneratorBound => "generator-bound",
            Self::ServerBound => "server-bound",
            Self::ScheduleBound => "schedule-bound",
            Self::Undecided => "undecided",
        }
    }
}

/// The verdict and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What bound the rate.
    pub bound: Bound,
    /// Each a sentence with its figures.
    pub reasons: Vec<String>,
}

/// Figures that the verdict depends on.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Share of the time in which the busiest thread worked, 0 to 1.
    pub busy_share: f64,
    /// 99th percentile of the engine's own delay, in ns.
    pub send_lag_p99_ns: u64,
    /// Median service time, in ns.
    pub service_p50_ns: u64,
    /// Requests that an open loop intended and sent in time; none in a closed loop.
    pub offered_and_sent: Option<(u64, u64)>,
    /// |N − X·W| / N; none if nothing was in flight.
    pub little_residue: Option<f64>,
    /// Accepted requests.
    pub accepted: u64,
    /// Failed requests.
    pub failed: u64,
}

/// Largest busy share that counts as headroom.
const BUSY_LIMIT: f64 = 0.80;
/// Smallest share of intended requests sent in time with which a schedule counts as followed.
const FOLLOWED: f64 = 0.99;
/// Largest residue of Little's law.
const LITTLE_LIMIT: f64 = 0.05;
/// Fewer accepted requests bear no verdict.
const FEWEST: u64 = 100;
/// An own delay up to this is never held against the generator, in ns.
const LAG_FLOOR_NS: u64 = 200_000;

/// Judges a run.
#[must_use]
pub fn judge(figures: &Figures) -> Verdict {
    let mut against = doubts(figures);
    let generator = generator_at_fault(figures);
    if !generator.is_empty() {
        return Verdict { bound: Bound::GeneratorBound, reasons: generator };
    }
    if !against.is_empty() {
        return Verdict { bound: Bound::Undecided, reasons: against };
    }
    against.push(format!("the busiest thread worked {:.0} % of the time", figures.busy_share * 100.0));
    let bound = match figures.offered_and_sent {
        None => {
            against.push("each connection sent again as soon as it was answered".to_owned());
            Bound::ServerBound
        }
        Some((offered, sent)) => {
            let share = sent as f64 / offered.max(1) as f64;
            against.push(format!("{:.2} % of the intended requests left in time", share * 100.0));
            if share >= FOLLOWED {
                Bound::ScheduleBound
            } else {
                against.push("the others waited for a connection that was not busy".to_owned());
                Bound::ServerBound
            }
        }
    };
    Verdict { bound, reasons: against }
}

fn generator_at_fault(figures: &Figures) -> Vec<String> {
    let mut reasons = Vec::new();
    if figures.busy_share >= BUSY_LIMIT {
        reasons.push(format!(
            "the busiest thread worked {:.0} % of the time (limit {:.0} %): use more threads (-t) or another machine",
            figures.busy_share * 100.0,
            BUSY_LIMIT * 100.0
        ));
    }
    let lag_limit = LAG_FLOOR_NS.max(figures.service_p50_ns / 10);
    if figures.offered_and_sent.is_some() && figures.send_lag_p99_ns > lag_limit {
        reasons.push(format!(
            "1 % of the requests left more than {} µs late although their connection was free (limit {} µs): the \
             generator did not get its CPU in time; give it an idle one (--cpus) or another machine",
            figures.send_lag_p99_ns / 1000,
            lag_limit / 1000
        ));
    }
    reasons
}

fn doubts(figures: &Figures) -> Vec<String> {
    let mut reasons = Vec::new();
    if figures.accepted < FEWEST {
        reasons.push(format!("only {} accepted responses (at least {FEWEST} bear a verdict)", figures.accepted));
    }
    if figures.failed * 100 > figures.accepted {
        reasons.push(format!("{} requests failed for {} accepted", figures.failed, figures.accepted));
    }
    if let Some(residue) = figures.little_residue
        && residue > LITTLE_LIMIT
    {
        reasons.push(format!(
            "Little's law is off by {:.1} % (limit {:.0} %): requests in flight and their times don't fit together",
            residue * 100.0,
            LITTLE_LIMIT * 100.0
        ));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Figures = Figures {
        busy_share: 0.4,
        send_lag_p99_ns: 20_000,
        service_p50_ns: 500_000,
        offered_and_sent: None,
        little_residue: Some(0.01),
        accepted: 10_000,
        failed: 0,
    };

    #[test]
    fn a_closed_loop_with_headroom_is_bound_by_the_server() {
        assert_eq!(judge(&CALM).bound, Bound::ServerBound);
    }

    #[test]
    fn a_generator_without_headroom_says_so_before_anything_else() {
        let verdict = judge(&Figures { busy_share: 0.81, accepted: 1, ..CALM });
        assert_eq!(verdict.bound, Bound::GeneratorBound);
        assert!(verdict.reasons[0].contains("81 %"));
    }

    #[test]
    fn an_open_loop_that_is_followed_is_bound_by_its_schedule() {
        let followed = Figures { offered_and_sent: Some((1000, 990)), ..CALM };
        assert_eq!(judge(&followed).bound, Bound::ScheduleBound);
        let behind = Figures { offered_and_sent: Some((1000, 989)), ..CALM };
        assert_eq!(judge(&behind).bound, Bound::ServerBound);
        let late = Figures { send_lag_p99_ns: 250_000, ..followed };
        assert_eq!(judge(&late).bound, Bound::GeneratorBound);
    }

    #[test]
    fn few_or_failed_requests_or_a_broken_balance_leave_it_undecided() {
        for figures in [
            Figures { accepted: 99, ..CALM },
            Figures { failed: 101, ..CALM },
            Figures { little_residue: Some(0.06), ..CALM },
        ] {
            assert_eq!(judge(&figures).bound, Bound::Undecided);
        }
    }
}
