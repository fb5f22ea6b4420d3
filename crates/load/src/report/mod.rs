//! `photofinish.load/1`: what one load saw, as a document (`docs/load-report.md`).

mod distribution;
pub mod figures;
pub mod hlog;
pub mod html;
mod parts;
pub mod prometheus;
#[cfg(test)]
pub(crate) mod sample;
pub mod text;

use serde::Serialize;

pub use distribution::Distribution;
pub use parts::{
    Asked, EnginePart, EntryPart, ExpectPart, Fairness, Floor, LatencyPart, Little, RatePart, Requests, ServerPart,
    SlicePart, ThreadPart, ThresholdPart, Throughput, WarmupPart, spread_code,
};

use crate::session::Outcome;
use crate::verdict::{self, Figures, Verdict};
use crate::{Evidence, Exhibits, Latencies, Reason, Tally};

/// Name and major version of the document.
pub const SCHEMA: &str = "photofinish.load/1";

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
    pub warmup: WarmupPart,
    pub requests: Requests,
    pub rate: Option<RatePart>,
    pub throughput: Throughput,
    pub connects: u64,
    pub fairness: Option<Fairness>,
    /// More than one only where several kinds of request were asked for.
    pub entries: Vec<EntryPart>,
    pub evidence: Option<Evidence>,
    pub failure_example: Option<String>,
    pub latency: LatencyPart,
    pub slices: Vec<SlicePart>,
    pub engine: EnginePart,
    pub server: Option<ServerPart>,
    pub floor: Option<Floor>,
    pub thresholds: Vec<ThresholdPart>,
    pub little: Little,
    pub verdict: Verdict,
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
            request_bytes_per_s: 0.0,
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
            warmup: WarmupPart { mode: "none", cut_ns: 0, seen_ns: None },
            requests,
            rate: None,
            throughput,
            connects: tally.connects,
            fairness: None,
            entries: Vec::new(),
            evidence: exhibits.evidence,
            failure_example: exhibits.failure,
            latency: LatencyPart {
                response: Distribution::of(&latencies.response),
                service: Distribution::of(latencies.service()),
                lag: open.then(|| Distribution::of(&latencies.lag)),
                connect: Distribution::default(),
                first_byte: Distribution::default(),
                body: Distribution::default(),
            },
            slices: Vec::new(),
            engine,
            server: None,
            floor: None,
            thresholds: Vec::new(),
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
