//! The lines that `visit` writes.

use std::collections::BTreeMap;

use photofinish_load::{Evidence, Failures};
use serde::Serialize;

/// One window of one target.
#[derive(Clone, Default, Serialize)]
pub struct Window {
    pub target: usize,
    pub position: usize,
    pub start_ns: u64,
    pub wall_ns: u64,
    pub drain_ns: u64,
    pub cpu_ns: Option<u64>,
    pub requests: u64,
    pub sent: u64,
    pub body_bytes: u64,
    pub wire_bytes: u64,
    pub failed: Failures,
    pub censored: u64,
    pub unsent: u64,
    pub connects: u64,
    pub rest_cpu_ns: Option<u64>,
    pub rest_wall_ns: Option<u64>,
    pub offered: Option<u64>,
    pub engine_cpu_ns: u64,
    pub engine_busy_ns: u64,
    pub latency_sum_ns: u64,
    pub settle_requests: u64,
    pub settle_failed: u64,
}

/// One target over the phase `measure`.
#[derive(Serialize)]
pub struct TargetLine<'a> {
    pub event: &'static str,
    pub target: usize,
    pub id: &'a str,
    pub requests: u64,
    pub sent: u64,
    pub failed: Failures,
    pub censored: u64,
    pub unsent: u64,
    pub connects: u64,
    pub cpu_total_ns: Option<u64>,
    pub requests_total: u64,
    pub settle_failed: u64,
    pub evidence: Option<&'a Evidence>,
    pub failure_example: Option<&'a str>,
    pub histograms: BTreeMap<&'static str, String>,
}

/// The end.
#[derive(Serialize)]
pub struct EndLine<'a> {
    pub event: &'static str,
    pub backend: &'a str,
    pub engine_cpu_ns: u64,
    pub engine_wall_ns: u64,
    pub window_wall_ns: u64,
    pub window_engine_cpu_ns: u64,
    pub window_engine_busy_ns: u64,
    pub send_lag_p99_ns: Option<u64>,
    pub spin: bool,
    pub aborted: Option<&'static str>,
}
