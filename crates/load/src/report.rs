//! `photofinish.load/1`: what one load saw, as a document (`docs/load-report.md`).

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::check::{Expect, StatusRule};
use crate::session::Outcome;
use crate::verdict::{self, Figures, Verdict};
use crate::{Evidence, Exhibits, Failures, Latencies, Reason, Spread, Tally, latency};

/// Name and major version of the document.
pub const SCHEMA: &str = "photofinish.load/1";

/// What was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Asked {
    /// The URL.
    pub url: String,
    /// The address that its host resolved to.
    pub address: String,
    /// Method of every request.
    pub method: String,
    /// `closed` or `open`.
    pub mode: &'static str,
    /// Rate of an open loop, in requests a second.
    pub rate_per_s: Option<f64>,
    /// `constant` or `poisson`, in an open loop.
    pub arrivals: Option<&'static str>,
    /// Seed of the arrivals, in an open loop.
    pub seed: Option<u64>,
    /// Connections of all threads.
    pub connections: u32,
    /// Threads.
    pub threads: u32,
    /// How long to send, in ns.
    pub duration_ns: u64,
    /// How long a response may take, in ns.
    pub timeout_ns: u64,
    /// What every response must be.
    pub expect: ExpectPart,
}

/// What every response must be.
#[derive(Clone, Debug, Serialize)]
pub struct ExpectPart {
    status: String,
    body_bytes: Option<u64>,
    body_xxh3: Option<String>,
    same_body: bool,
}

impl From<&Expect> for ExpectPart {
    fn from(expect: &Expect) -> Self {
        Self {
            status: match expect.status {
                StatusRule::Exactly(status) => status.to_string(),
                StatusRule::Success => "2xx".to_owned(),
            },
            body_bytes: expect.body_bytes,
            body_xxh3: expect.body_xxh3.map(|hash| format!("{hash:016x}")),
            same_body: expect.same_body,
        }
    }
}

/// The word for a spread of arrivals.
#[must_use]
pub const fn spread_code(spread: Spread) -> &'static str {
    match spread {
        Spread::Constant => "constant",
        Spread::Poisson => "poisson",
    }
}

/// The whole document.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "each field is described in docs/load-report.md, which a test compares with a report")]
pub struct Report {
    pub schema: &'static str,
    pub asked: Asked,
    pub backend: &'static str,
    pub interrupted: bool,
    pub measured_ns: u64,
    pub drain_ns: u64,
    pub requests: Requests,
    pub throughput: Throughput,
    pub connects: u64,
    pub evidence: Option<Evidence>,
    pub failure_example: Option<String>,
    pub latency: LatencyPart,
    pub engine: EnginePart,
    pub little: Little,
    pub verdict: Verdict,
}

/// Counts: `sent = accepted + failed_total + censored`, and in an open loop
/// `offered = sent − failed.connect + unsent`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct Requests {
    pub offered: Option<u64>,
    pub sent: u64,
    pub accepted: u64,
    pub accepted_in_time: u64,
    pub failed: Failures,
    pub failed_total: u64,
    pub censored: u64,
    pub unsent: u64,
}

/// Rates while sending.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct Throughput {
    pub accepted_per_s: f64,
    pub body_bytes_per_s: f64,
    pub wire_bytes_per_s: f64,
}

/// The three latencies; service time and lag differ from the response time in an open loop only.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct LatencyPart {
    pub response: Distribution,
    pub service: Distribution,
    pub lag: Option<Distribution>,
}

/// A distribution in ns; all values are null where there is none.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct Distribution {
    pub count: u64,
    pub mean_ns: Option<f64>,
    pub stdev_ns: Option<f64>,
    pub min_ns: Option<u64>,
    pub p50_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub histogram: String,
}

impl Distribution {
    fn of(histogram: &Histogram<u64>) -> Self {
        let known = !histogram.is_empty();
        let at = |quantile: f64| known.then(|| histogram.value_at_quantile(quantile));
        Self {
            count: histogram.len(),
            mean_ns: known.then(|| histogram.mean()),
            stdev_ns: known.then(|| histogram.stdev()),
            min_ns: known.then(|| histogram.min()),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: known.then(|| histogram.max()),
            histogram: latency::encode(histogram),
        }
    }
}

/// What the engine itself cost.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct EnginePart {
    pub cpu_ns: u64,
    pub cpu_ns_per_request: Option<f64>,
    pub syscalls: u64,
    pub syscalls_per_request: Option<f64>,
    pub send_lag_p99_ns: Option<u64>,
    pub busy_share: f64,
    pub threads: Vec<ThreadPart>,
}

/// One thread of the engine.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct ThreadPart {
    pub cpu_ns: u64,
    pub busy_ns: u64,
    pub waited_ns: u64,
    pub busy_share: f64,
    pub sent: u64,
    pub accepted: u64,
}

/// Little's law N = X·W, from three independent counts while sending.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct Little {
    pub mean_in_flight: f64,
    pub rate_times_service: f64,
    pub residue: Option<f64>,
}

impl Report {
    /// Joins what the threads saw. `open`: an open loop.
    #[must_use]
    pub fn new(asked: Asked, backend: &'static str, outcomes: &[Outcome]) -> Self {
        let open = asked.mode == "open";
        let mut tally = Tally::default();
        let mut latencies = Latencies::new(open);
        let mut exhibits = Exhibits::default();
        for outcome in outcomes {
            tally.add(&outcome.tally);
            latencies.merge(&outcome.latencies);
            exhibits.merge(outcome.exhibits.clone());
        }
        let sum = |field: fn(&Outcome) -> u64| outcomes.iter().map(field).sum::<u64>();
        let measured_ns = outcomes.iter().map(|outcome| outcome.measured.0).max().unwrap_or(0);
        let requests = requests(&tally, open, sum(|outcome| outcome.accepted_in_time));
        let seconds = measured_ns as f64 / 1e9;
        let per_s = |count: u64| if measured_ns > 0 { count as f64 / seconds } else { 0.0 };
        let throughput = Throughput {
            accepted_per_s: per_s(requests.accepted_in_time),
            body_bytes_per_s: per_s(sum(|outcome| outcome.body_bytes_in_time)),
            wire_bytes_per_s: per_s(sum(|outcome| outcome.wire_bytes_in_time)),
        };
        let little = little(outcomes, measured_ns);
        let engine = engine(outcomes, &tally, &latencies, open);
        let verdict = verdict::judge(&Figures {
            busy_share: engine.busy_share,
            send_lag_p99_ns: engine.send_lag_p99_ns.unwrap_or(0),
            service_p50_ns: latencies.service().value_at_quantile(0.5),
            offered_and_sent: requests.offered.map(|offered| (offered, sum(|outcome| outcome.sent_in_time))),
            little_residue: little.residue,
            accepted: tally.accepted,
            failed: tally.failed.total(),
        });
        Self {
            schema: SCHEMA,
            asked,
            backend,
            interrupted: outcomes.iter().any(|outcome| outcome.interrupted),
            measured_ns,
            drain_ns: outcomes.iter().map(|outcome| outcome.drained.0).max().unwrap_or(0),
            requests,
            throughput,
            connects: tally.connects,
            evidence: exhibits.evidence,
            failure_example: exhibits.failure,
            latency: LatencyPart {
                response: Distribution::of(&latencies.response),
                service: Distribution::of(latencies.service()),
                lag: open.then(|| Distribution::of(&latencies.lag)),
            },
            engine,
            little,
            verdict,
        }
    }
}

fn requests(tally: &Tally, open: bool, accepted_in_time: u64) -> Requests {
    Requests {
        offered: open.then(|| tally.sent - tally.failed.of(Reason::Connect) + tally.unsent),
        sent: tally.sent,
        accepted: tally.accepted,
        accepted_in_time,
        failed: tally.failed,
        failed_total: tally.failed.total(),
        censored: tally.censored,
        unsent: tally.unsent,
    }
}

fn little(outcomes: &[Outcome], measured_ns: u64) -> Little {
    let area: u128 = outcomes.iter().map(|outcome| outcome.in_flight_area).sum();
    let service: u64 = outcomes.iter().map(|outcome| outcome.service_in_time_ns).sum();
    let span = measured_ns.max(1) as f64;
    let (mean_in_flight, rate_times_service) = (area as f64 / span, service as f64 / span);
    let residue = (area > 0).then(|| (mean_in_flight - rate_times_service).abs() / mean_in_flight);
    Little { mean_in_flight, rate_times_service, residue }
}

/// Share of the time in which a thread had work. In a closed loop it sleeps when it has none, so that its CPU time tells,
/// also of what the kernel does on its behalf within a wait. In an open loop it polls before each arrival, and only the
/// loop's own count of work tells.
fn busy_share(outcome: &Outcome, open: bool) -> f64 {
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let worked = share(outcome.busy.0, (outcome.waited + outcome.busy).0);
    if open { worked } else { worked.max(share(outcome.cpu_in_time_ns, outcome.measured.0)).min(1.0) }
}

fn engine(outcomes: &[Outcome], tally: &Tally, latencies: &Latencies, open: bool) -> EnginePart {
    let threads: Vec<ThreadPart> = outcomes
        .iter()
        .map(|outcome| ThreadPart {
            cpu_ns: outcome.cpu_ns,
            busy_ns: outcome.busy.0,
            waited_ns: outcome.waited.0,
            busy_share: busy_share(outcome, open),
            sent: outcome.tally.sent,
            accepted: outcome.tally.accepted,
        })
        .collect();
    let cpu_ns = threads.iter().map(|thread| thread.cpu_ns).sum();
    let syscalls = outcomes.iter().map(|outcome| outcome.syscalls).sum();
    let per_request = |total: u64| (tally.sent > 0).then(|| total as f64 / tally.sent as f64);
    EnginePart {
        cpu_ns,
        cpu_ns_per_request: per_request(cpu_ns),
        syscalls,
        syscalls_per_request: per_request(syscalls),
        send_lag_p99_ns: (!latencies.send_lag.is_empty()).then(|| latencies.send_lag.value_at_quantile(0.99)),
        busy_share: threads.iter().map(|thread| thread.busy_share).fold(0.0, f64::max),
        threads,
    }
}
