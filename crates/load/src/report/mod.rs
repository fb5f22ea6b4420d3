//! `photofinish.load/1`: what one load saw, as a document (`docs/load-report.md`).

mod build;
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

pub use build::{Seen, Warmup};
pub use distribution::Distribution;
pub use parts::{
    Asked, EnginePart, EntryPart, ExpectPart, Fairness, Floor, LatencyPart, Little, RatePart, Requests, ServerPart,
    SlicePart, ThreadPart, ThresholdPart, Throughput, WarmupPart, spread_code,
};

use crate::Evidence;
use crate::verdict::Verdict;

/// Name and major version of the document.
pub const SCHEMA: &str = "photofinish.load/1";

/// The whole document.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "each field is described in docs/load-report.md, which a test compares with a report")]
pub struct Report {
    pub schema: &'static str,
    pub asked: Asked,
    pub backend: &'static str,
    /// Why it is not the one that is tried first.
    pub backend_reason: Option<String>,
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
    /// The back end, and why it is not the one that is tried first: words for a reader.
    pub(crate) fn backend_with_reason(&self) -> String {
        match &self.backend_reason {
            None => self.backend.to_owned(),
            Some(reason) => format!("{} (no io_uring here: {reason})", self.backend),
        }
    }
}
