//! Joins what threads and collector saw into a report.

use photofinish_net::Nanos;

use super::{
    Asked, Distribution, EnginePart, EntryPart, Fairness, LatencyPart, Little, RatePart, Report, Requests, SCHEMA,
    SlicePart, ThreadPart, Throughput, WarmupPart,
};
use crate::driver::Spreading;
use crate::latency::Compact;
use crate::mix::EntryInfo;
use crate::session::Outcome;
use crate::verdict::{self, Figures};
use crate::warmup::change_point;
use crate::{Collector, Exhibits, Latencies, Tally, latency};

/// Share of the intended requests that must leave in time for a rate to count as reached.
const REACHED: f64 = 0.999;

/// What of the beginning does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warmup {
    /// Everything counts.
    #[default]
    None,
    /// The slices that begin before this moment do not.
    Time(Nanos),
    /// The slices before a change point do not, where there is one.
    Auto,
}

/// What a report is made of.
pub struct Seen<'a> {
    /// What each thread saw.
    pub outcomes: &'a [Outcome],
    /// What was seen over time.
    pub collector: &'a Collector,
    /// The kinds of request of each driver.
    pub entries: &'a [Vec<EntryInfo>],
    /// What of the beginning does not count.
    pub warmup: Warmup,
}

impl Report {
    /// Joins what was seen; the latencies, too, leave the warm-up out. The parts that others measure
    /// (`backend_reason`, `server`, `floor`, `thresholds`) are empty yet.
    #[must_use]
    pub fn new(asked: Asked, backend: &'static str, seen: &Seen<'_>) -> (Self, Latencies) {
        let open = asked.mode == "open";
        let outcomes = seen.outcomes;
        let mut tally = Tally::default();
        let mut in_time = Tally::default();
        let mut exhibits = Exhibits::default();
        let mut spreading = Spreading::default();
        for outcome in outcomes {
            tally.add(&outcome.tally);
            in_time.add(&outcome.in_time);
            exhibits.merge(outcome.exhibits.clone());
            spreading.add(&outcome.spreading);
        }
        let measured = outcomes.iter().map(|outcome| outcome.measured).max().unwrap_or(Nanos(0));
        let drained = outcomes.iter().map(|outcome| outcome.drained).max().unwrap_or(Nanos(0));
        let slices = Slices { collector: seen.collector, measured };
        let (warmup, left_out) = slices.warmup(seen.warmup, open);
        let latencies = slices.latencies(left_out, open);
        let sent_in_time = outcomes.iter().map(|outcome| outcome.sent_in_time).sum::<u64>();
        let requests = requests(&tally, open, in_time.accepted);
        let little = little(outcomes, measured.0);
        let engine = engine(outcomes, &tally, seen.collector.total(), open);
        let verdict = verdict::judge(&Figures {
            busy_share: engine.busy_share,
            send_lag_p99_ns: engine.send_lag_p99_ns.unwrap_or(0),
            service_p50_ns: latencies.service().value_at_quantile(0.5),
            offered_and_sent: requests.offered.map(|offered| (offered, sent_in_time)),
            little_residue: little.residue,
            accepted: latencies.response.len(),
            failed: tally.failed.total(),
        });
        let throughput = slices.throughput(&in_time, left_out);
        let report = Self {
            schema: SCHEMA,
            rate: requests.offered.map(|offered| rate(offered, sent_in_time, measured)),
            asked,
            backend,
            backend_reason: None,
            interrupted: outcomes.iter().any(|outcome| outcome.interrupted),
            measured_ns: measured.0,
            drain_ns: drained.0,
            warmup,
            requests,
            throughput,
            connects: tally.connects,
            fairness: fairness(&spreading),
            entries: entries(outcomes, seen.entries),
            evidence: exhibits.evidence,
            failure_example: exhibits.failure,
            latency: latency_part(&latencies, open),
            slices: slices.parts(),
            engine,
            server: None,
            floor: None,
            thresholds: Vec::new(),
            little,
            verdict,
        };
        (report, latencies)
    }
}

/// The collector's slices, set against the span of sending.
struct Slices<'a> {
    collector: &'a Collector,
    measured: Nanos,
}

impl Slices<'_> {
    fn begin(&self, index: usize) -> Nanos {
        Nanos(self.collector.slice_span().0 * index as u64)
    }

    /// The end of the warm-up, and how many slices it takes.
    fn warmup(&self, asked: Warmup, open: bool) -> (WarmupPart, usize) {
        let whole = (self.measured.0 / self.collector.slice_span().0.max(1)) as usize;
        let slices = &self.collector.slices()[..whole.min(self.collector.slices().len())];
        let series: Vec<f64> = slices
            .iter()
            .map(|slice| {
                // A schedule keeps the rate level: only the latency shows whether the server has come to rest.
                if open { slice.latencies.response_median() as f64 } else { slice.tally.accepted as f64 }
            })
            .collect();
        let seen = change_point(&series);
        let (mode, left_out) = match asked {
            Warmup::None => ("none", 0),
            Warmup::Time(time) => ("time", time.0.div_ceil(self.collector.slice_span().0.max(1)) as usize),
            Warmup::Auto => ("auto", seen.unwrap_or(0)),
        };
        let left_out = left_out.min(self.collector.slices().len());
        let part = WarmupPart { mode, cut_ns: self.begin(left_out).0, seen_ns: seen.map(|index| self.begin(index).0) };
        (part, left_out)
    }

    fn latencies(&self, left_out: usize, open: bool) -> Latencies {
        if left_out == 0 {
            return self.collector.total().clone();
        }
        let mut kept = Compact::new(open);
        for slice in &self.collector.slices()[left_out..] {
            kept.merge(&slice.latencies);
        }
        kept.expand()
    }

    fn throughput(&self, in_time: &Tally, left_out: usize) -> Throughput {
        let mut before = Tally::default();
        for slice in &self.collector.slices()[..left_out] {
            before.add(&slice.tally);
        }
        let span = self.measured.since(self.begin(left_out)).0;
        let per_s = |all: u64, before: u64| {
            if span > 0 { all.saturating_sub(before) as f64 / (span as f64 / 1e9) } else { 0.0 }
        };
        Throughput {
            accepted_per_s: per_s(in_time.accepted, before.accepted),
            body_bytes_per_s: per_s(in_time.body_bytes, before.body_bytes),
            wire_bytes_per_s: per_s(in_time.wire_bytes, before.wire_bytes),
            request_bytes_per_s: per_s(in_time.request_bytes, before.request_bytes),
        }
    }

    fn parts(&self) -> Vec<SlicePart> {
        let slices = self.collector.slices().iter().enumerate();
        slices
            .filter(|&(index, _)| self.begin(index) < self.measured)
            .map(|(index, slice)| SlicePart {
                from_ns: self.begin(index).0,
                span_ns: self.measured.since(self.begin(index)).min(self.collector.slice_span()).0,
                sent: slice.tally.sent,
                accepted: slice.tally.accepted,
                failed: slice.tally.failed.total(),
                in_flight: slice.in_flight.1,
                busy_share: slice.busy_share,
                server_cpu_ns: slice.server_cpu_ns,
                response: Distribution::of(&slice.latencies.response()),
            })
            .collect()
    }
}

fn latency_part(latencies: &Latencies, open: bool) -> LatencyPart {
    LatencyPart {
        response: Distribution::of(&latencies.response),
        service: Distribution::of(latencies.service()),
        lag: open.then(|| Distribution::of(&latencies.lag)),
        connect: Distribution::of(&latencies.connect),
        first_byte: Distribution::of(&latencies.first_byte()),
        body: Distribution::of(&latencies.body()),
    }
}

fn requests(tally: &Tally, open: bool, accepted_in_time: u64) -> Requests {
    Requests {
        offered: open.then(|| tally.sent - tally.unconnected + tally.unsent),
        sent: tally.sent,
        unconnected: tally.unconnected,
        accepted: tally.accepted,
        accepted_in_time,
        failed: tally.failed,
        failed_total: tally.failed.total(),
        censored: tally.censored,
        unsent: tally.unsent,
    }
}

fn rate(offered: u64, sent: u64, measured: Nanos) -> RatePart {
    let seconds = (measured.0 as f64 / 1e9).max(1e-9);
    let share = sent as f64 / offered.max(1) as f64;
    RatePart {
        intended_per_s: offered as f64 / seconds,
        sent_per_s: sent as f64 / seconds,
        error: share - 1.0,
        reached: share >= REACHED,
    }
}

fn fairness(spreading: &Spreading) -> Option<Fairness> {
    let Spreading { connections, sum, squares, min, max } = *spreading;
    (connections > 0).then(|| Fairness {
        connections,
        accepted_min: min,
        accepted_max: max,
        accepted_mean: sum as f64 / connections as f64,
        // Jain, Chiu, Hawe (1984): (Σx)² / (n·Σx²).
        jain: (squares > 0.0).then(|| (sum as f64).powi(2) / (connections as f64 * squares)),
    })
}

fn entries(outcomes: &[Outcome], infos: &[Vec<EntryInfo>]) -> Vec<EntryPart> {
    let mut parts = Vec::new();
    for (group, infos) in infos.iter().enumerate() {
        for (index, info) in infos.iter().enumerate() {
            let all = outcomes.iter().flat_map(|outcome| &outcome.entries);
            let seen = all.filter(|(of, _)| *of == group).filter_map(|(_, kinds)| kinds.get(index));
            let (mut sent, mut accepted, mut failed, mut response) = (0, 0, 0, latency::empty());
            for one in seen {
                sent += one.sent;
                accepted += one.accepted;
                failed += one.failed;
                // Histograms of one kind fit each other.
                let _ = response.add(&one.response);
            }
            let at = |quantile: f64| (!response.is_empty()).then(|| response.value_at_quantile(quantile));
            let (request, weight) = (info.label.clone(), info.weight);
            let (p50_ns, p99_ns, max_ns) = (at(0.5), at(0.99), at(1.0));
            parts.push(EntryPart { request, weight, sent, accepted, failed, p50_ns, p99_ns, max_ns });
        }
    }
    if parts.len() > 1 { parts } else { Vec::new() }
}

fn little(outcomes: &[Outcome], measured_ns: u64) -> Little {
    let area: u128 = outcomes.iter().map(|outcome| outcome.in_flight_area).sum();
    let service: u64 = outcomes.iter().map(|outcome| outcome.in_time.service_ns).sum();
    let span = measured_ns.max(1) as f64;
    let (mean_in_flight, rate_times_service) = (area as f64 / span, service as f64 / span);
    let residue = (area > 0).then(|| (mean_in_flight - rate_times_service).abs() / mean_in_flight);
    Little { mean_in_flight, rate_times_service, residue }
}

/// Share of the time in which a thread had work. In a closed loop it sleeps when it has none, so that its CPU time tells,
/// also of what the kernel does on its behalf within a wait. In an open loop it polls before each arrival, and only the
/// loop's own count of work tells.
fn busy_share(outcome: &Outcome, open: bool) -> f64 {
    if outcome.tally.sent == 0 {
        // It had nothing to do, and was over at once.
        return 0.0;
    }
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
