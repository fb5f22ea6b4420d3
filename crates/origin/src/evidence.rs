//! What the origin proves about a trial: `photofinish.evidence/1`.

use std::collections::BTreeMap;

use photofinish_net::TcpInfo;
use serde::Serialize;

use crate::inspect::Findings;
use crate::trials::Mode;

/// Counters since the trial was registered. At rest `requests` is `completed`, `aborted` and all `refused` together.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Counts {
    /// Heads that named the trial.
    pub requests: u64,
    /// Uploads read to their end and answered with success; downloads handed to the kernel (over HTTP/3: to QUIC) whole.
    pub completed: u64,
    /// The connection ended, or the body was malformed, before its end.
    pub aborted: u64,
    /// Answered with another status, by status.
    pub refused: BTreeMap<u16, u64>,
    /// Distinct connections.
    pub connections: u64,
    /// Requests by protocol.
    pub protocols: BTreeMap<&'static str, u64>,
    /// Responses with a negotiated content by its coding, `identity` included.
    pub codings: BTreeMap<&'static str, u64>,
    /// Time that went into coding these responses; what had been coded before costs nothing.
    pub encode_ns: u64,
    /// Bytes of uploads' bodies, chunked framing removed, those of aborted ones included.
    pub body_bytes: u64,
    /// Bytes of downloads' bodies that were handed to the kernel (over HTTP/3: to QUIC).
    pub sent_body_bytes: u64,
    /// Uploads with the transfer coding `chunked`.
    pub chunked: u64,
    /// Uploads with `Content-Length`.
    pub with_length: u64,
    /// Of completed uploads.
    pub least_body_bytes: Option<u64>,
    /// Of completed uploads.
    pub most_body_bytes: Option<u64>,
    /// `CLOCK_MONOTONIC` when the first head was read.
    pub first_request_ns: Option<u64>,
    /// `CLOCK_MONOTONIC` when the last head was read.
    pub last_request_ns: Option<u64>,
    /// What the last completed upload was answered that was looked into.
    pub last: Option<Box<Findings>>,
}

/// What the kernel counted for whole connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wire {
    received_bytes: u64,
    acknowledged_bytes: u64,
    packets_in: u64,
    packets_out: u64,
}

impl Wire {
    /// With one connection more.
    pub fn and(self, info: TcpInfo) -> Self {
        Self {
            received_bytes: self.received_bytes + info.bytes_received,
            acknowledged_bytes: self.acknowledged_bytes + info.bytes_acked,
            packets_in: self.packets_in + u64::from(info.segments_in),
            packets_out: self.packets_out + u64::from(info.segments_out),
        }
    }
}

/// The document.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Evidence {
    schema: &'static str,
    trial: String,
    mode: Mode,
    #[serde(flatten)]
    counts: Counts,
    wire_in_bytes: Option<u64>,
    acked_bytes: Option<u64>,
    packets_in: Option<u64>,
    packets_out: Option<u64>,
}

impl Evidence {
    pub fn new(trial: &str, mode: Mode, counts: &Counts, wire: Option<Wire>) -> Self {
        Self {
            schema: "photofinish.evidence/1",
            trial: trial.to_owned(),
            mode,
            counts: counts.clone(),
            wire_in_bytes: wire.map(|wire| wire.received_bytes),
            acked_bytes: wire.map(|wire| wire.acknowledged_bytes),
            packets_in: wire.map(|wire| wire.packets_in),
            packets_out: wire.map(|wire| wire.packets_out),
        }
    }

    pub fn to_json(&self) -> Vec<u8> {
        // Maps with numbers as keys and plain structs: nothing in them that JSON can't say.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
