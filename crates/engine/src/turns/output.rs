//! The lines that `turns` writes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::Counters;
use super::tally::Failed;

/// One window of one target.
#[derive(Debug, Default, Serialize)]
pub struct Window {
    pub target: usize,
    pub position: usize,
    pub start_ns: u64,
    /// From just before the commands were written to the look that found the last answer; null if that came too late.
    pub wall_ns: Option<u64>,
    /// By how much `wall_ns` may be too long: the time between the last two looks.
    pub wall_slack_ns: Option<u64>,
    pub cpu_ns: Option<u64>,
    pub repetitions: u64,
    pub answered: u64,
    pub failed: Failed,
    pub error: Option<String>,
    pub statuses: BTreeMap<u16, u64>,
    pub claimed_bytes: Option<u64>,
    /// Sum over the answers; null unless each has told it, as with the stages.
    pub records: Option<u64>,
    /// Answers by the content coding that they name.
    pub codings: BTreeMap<Box<str>, u64>,
    pub transfer_ns: Option<u64>,
    pub decode_ns: Option<u64>,
    pub parse_ns: Option<u64>,
    pub evidence: Option<Counters>,
    pub least_body_bytes: Option<u64>,
    pub most_body_bytes: Option<u64>,
    pub origin_cpu_ns: Option<u64>,
    pub rest_cpu_ns: Option<u64>,
    pub rest_wall_ns: Option<u64>,
    pub engine_cpu_ns: u64,
    /// All answers were there after a longer sleep than a nap.
    pub late: bool,
    pub settle_repetitions: u64,
    pub settle_failed: u64,
    #[serde(skip)]
    pub rss_peak_bytes: Option<u64>,
}

/// One target over the phase `measure`.
#[derive(Serialize)]
pub struct TargetLine<'a> {
    pub event: &'static str,
    pub target: usize,
    pub id: &'a str,
    pub repetitions: u64,
    pub answered: u64,
    pub failed: &'a Failed,
    pub error: Option<&'a str>,
    pub repetitions_per_window: Option<usize>,
    pub rss_peak_bytes: Option<u64>,
    pub cpu_total_ns: Option<u64>,
    pub repetitions_total: u64,
    pub settle_failed: u64,
    pub evidence: Option<&'a serde_json::Value>,
}

/// The end.
#[derive(Serialize)]
pub struct EndLine {
    pub event: &'static str,
    pub aborted: Option<&'static str>,
    pub engine_cpu_ns: u64,
    pub engine_wall_ns: u64,
    pub naps: u64,
    pub nap_us: u64,
}
