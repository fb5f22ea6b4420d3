//! The parts of a report (`docs/load-report.md` describes each field; a test compares both).
#![expect(missing_docs, reason = "each field is described in docs/load-report.md")]

use photofinish_http::coding::Coding;
use serde::Serialize;

use super::Distribution;
use crate::check::{Expect, StatusRule};
use crate::{Failures, Spread};

/// What was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Asked {
    pub url: String,
    pub address: String,
    pub method: String,
    /// `closed` or `open`.
    pub mode: &'static str,
    pub rate_per_s: Option<f64>,
    /// `constant` or `poisson`, in an open loop.
    pub arrivals: Option<&'static str>,
    pub seed: Option<u64>,
    /// Stages of the rate as given, if it is not one constant.
    pub stages: Option<String>,
    pub connections: u32,
    pub threads: u32,
    /// Requests that a connection may have in flight; more than 1 is pipelining.
    pub pipeline: u32,
    /// What is spoken with the first server.
    pub protocol: &'static str,
    /// Requests that a connection may have in flight, each on a stream of its own.
    pub streams: u32,
    /// Whether any certificate was trusted.
    pub insecure: bool,
    /// Whether the threads poll instead of sleeping.
    pub spin: bool,
    pub requests: Option<u64>,
    pub requests_per_connection: Option<u32>,
    /// Over which connections are opened one after the other.
    pub ramp_ns: Option<u64>,
    /// Source addresses, if not the kernel's choice.
    pub sources: Vec<String>,
    /// How long to send; null where only `requests` ends the load.
    pub duration_ns: Option<u64>,
    pub timeout_ns: u64,
    pub expect: ExpectPart,
}

/// What every response must be.
#[derive(Clone, Debug, Serialize)]
pub struct ExpectPart {
    status: String,
    body_bytes: Option<u64>,
    body_xxh3: Option<String>,
    /// The content coding; body and hash are then the decoded body's.
    coding: Option<&'static str>,
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
            coding: expect.coding.map(Coding::name),
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

/// Counts of the whole load: `sent = accepted + failed_total + censored`, and in an open loop
/// `offered = sent − unconnected + unsent`.
#[derive(Clone, Debug, Serialize)]
pub struct Requests {
    pub offered: Option<u64>,
    pub sent: u64,
    /// Attempts to connect that failed; part of `sent` and of `failed`.
    pub unconnected: u64,
    pub accepted: u64,
    pub accepted_in_time: u64,
    pub failed: Failures,
    pub failed_total: u64,
    pub censored: u64,
    pub unsent: u64,
}

/// Rates while sending, the warm-up left out.
#[derive(Clone, Debug, Serialize)]
pub struct Throughput {
    pub accepted_per_s: f64,
    pub body_bytes_per_s: f64,
    pub wire_bytes_per_s: f64,
    pub request_bytes_per_s: f64,
}

/// Whether an open loop went as fast as it was meant to.
#[derive(Clone, Debug, Serialize)]
pub struct RatePart {
    pub intended_per_s: f64,
    /// Requests that left within the span of sending, a second.
    pub sent_per_s: f64,
    /// (sent − intended) / intended.
    pub error: f64,
    /// Whether at least 99.9 % of what was intended left in time.
    pub reached: bool,
}

/// The beginning that does not count.
#[derive(Clone, Debug, Serialize)]
pub struct WarmupPart {
    /// `none`, `time` or `auto`.
    pub mode: &'static str,
    /// What the latencies and rates leave out.
    pub cut_ns: u64,
    /// End of a warm-up seen in the slices, cut or not.
    pub seen_ns: Option<u64>,
}

/// All times of a request; those of connections beside them.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyPart {
    pub response: Distribution,
    pub service: Distribution,
    pub lag: Option<Distribution>,
    pub connect: Distribution,
    pub first_byte: Distribution,
    pub body: Distribution,
}

/// How evenly the connections were served.
#[derive(Clone, Debug, Serialize)]
pub struct Fairness {
    pub connections: u64,
    pub accepted_min: u64,
    pub accepted_max: u64,
    pub accepted_mean: f64,
    /// Jain's index: 1 if all got the same, 1/n if one got all.
    pub jain: Option<f64>,
}

/// One span of the load.
#[derive(Clone, Debug, Serialize)]
pub struct SlicePart {
    /// Since the start of sending.
    pub from_ns: u64,
    pub span_ns: u64,
    pub sent: u64,
    pub accepted: u64,
    pub failed: u64,
    /// At the end of the slice.
    pub in_flight: u64,
    /// Share of the span in which the busiest thread worked.
    pub busy_share: f64,
    pub server_cpu_ns: Option<u64>,
    pub response: Distribution,
}

impl SlicePart {
    /// Accepted responses a second; none for a slice without length.
    #[must_use]
    pub fn accepted_per_s(&self) -> Option<f64> {
        (self.span_ns > 0).then(|| self.accepted as f64 * 1e9 / self.span_ns as f64)
    }
}

/// One kind of request among several.
#[derive(Clone, Debug, Serialize)]
pub struct EntryPart {
    /// Method and path, templates as written.
    pub request: String,
    pub weight: f64,
    pub sent: u64,
    pub accepted: u64,
    pub failed: u64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
}

/// What the engine itself cost.
#[derive(Clone, Debug, Serialize)]
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
pub struct Little {
    pub mean_in_flight: f64,
    pub rate_times_service: f64,
    pub residue: Option<f64>,
}

/// What this machine's measurements can't tell apart from nothing, found by a self-check.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct Floor {
    /// When it was measured, RFC 3339, UTC.
    pub measured_at: String,
    pub kernel: String,
    pub backend: String,
    /// Service time against a server that does nothing, open loop at a low rate: what is the path's and ours.
    pub null_p50_ns: u64,
    pub null_p99_ns: u64,
    pub null_p9999_ns: u64,
    /// Requests a second that one thread drives against the null server, and what each costs the engine.
    pub null_rate_per_s: f64,
    pub null_cpu_ns: f64,
    /// How late requests leave, 99th percentile, at a low rate.
    pub send_lag_p99_ns: u64,
    /// Largest error of p50, p90, p99 against a server whose stalls are known.
    pub stall_error_ns: u64,
    /// (sent − intended) / intended at a rate well below capacity, absolute value.
    pub rate_error: f64,
}

/// One `--fail-if`.
#[derive(Clone, Debug, Serialize)]
pub struct ThresholdPart {
    pub condition: String,
    pub observed: Option<f64>,
    pub text: String,
    pub crossed: bool,
}

/// What the watched processes cost.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ServerPart {
    /// `pid 4711`, `cgroup /sys/fs/cgroup/…`.
    pub kind: String,
    pub cpu_ns: Option<u64>,
    pub cpu_ns_per_request: Option<f64>,
    pub rss_bytes: Option<u64>,
    pub rss_peak_bytes: Option<u64>,
    pub voluntary_switches: Option<u64>,
    pub involuntary_switches: Option<u64>,
    pub processes: Option<u32>,
    pub threads: Option<u32>,
    /// What went wrong in the middle, if anything.
    pub note: Option<String>,
}
