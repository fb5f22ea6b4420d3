//! What a driver counts, and what it keeps to show.

use serde::Serialize;

use crate::Failures;

/// Counts of one span: `sent = accepted + failed.total() + censored + in flight`, at any moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests handed to the kernel, and attempts to connect that failed.
    pub sent: u64,
    /// Attempts to connect that failed: part of `sent` and of `failed`.
    pub unconnected: u64,
    /// Responses that passed every check.
    pub accepted: u64,
    /// Requests that failed, by reason.
    pub failed: Failures,
    /// Requests in flight when their connections were given up: how they would have ended is not known.
    pub censored: u64,
    /// Arrivals that were intended and never sent.
    pub unsent: u64,
    /// Bodies of accepted responses, transfer coding removed, in bytes.
    pub body_bytes: u64,
    /// All bytes received.
    pub wire_bytes: u64,
    /// Requests as sent, in bytes.
    pub request_bytes: u64,
    /// Connections established.
    pub connects: u64,
    /// Σ (completion − sending) of accepted requests, in ns.
    pub service_ns: u64,
}

impl Tally {
    /// Adds another span's or thread's counts.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.unconnected += other.unconnected;
        self.accepted += other.accepted;
        self.failed.add(&other.failed);
        self.censored += other.censored;
        self.unsent += other.unsent;
        self.body_bytes += other.body_bytes;
        self.wire_bytes += other.wire_bytes;
        self.request_bytes += other.request_bytes;
        self.connects += other.connects;
        self.service_ns += other.service_ns;
    }

    /// What was counted since `earlier`, an older state of the same counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            sent: self.sent - earlier.sent,
            unconnected: self.unconnected - earlier.unconnected,
            accepted: self.accepted - earlier.accepted,
            failed: self.failed.since(&earlier.failed),
            censored: self.censored - earlier.censored,
            unsent: self.unsent - earlier.unsent,
            body_bytes: self.body_bytes - earlier.body_bytes,
            wire_bytes: self.wire_bytes - earlier.wire_bytes,
            request_bytes: self.request_bytes - earlier.request_bytes,
            connects: self.connects - earlier.connects,
            service_ns: self.service_ns - earlier.service_ns,
        }
    }

    /// Requests that ended, and how many are still under way if everything was counted once.
    #[must_use]
    pub fn in_flight(&self) -> Option<u64> {
        self.sent.checked_sub(self.accepted + self.failed.total() + self.censored)
    }
}

/// The first accepted response: proof of what the target really answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Status code.
    pub status: u16,
    /// Body length after transfer decoding, and after content decoding where a coding is expected.
    pub body_bytes: u64,
    /// The body's xxh3-64 (seed 0), 16 hexadecimal digits.
    pub body_xxh3: String,
    /// The whole response as it came, interim responses, framing and trailers included, in bytes.
    pub wire_bytes: u64,
    /// What `Content-Encoding` says; `identity` if there is none.
    pub coding: String,
    /// Length of the body as it was sent, transfer coding removed.
    pub encoded_bytes: u64,
    /// Status line and header fields; bytes that are not UTF-8 replaced.
    pub head: String,
    /// What was spoken.
    pub protocol: &'static str,
    /// What was agreed on by ALPN; `None` in clear text, and if nothing was.
    pub alpn: Option<&'static str>,
    /// The version of TLS; `None` in clear text.
    pub tls_version: Option<&'static str>,
    /// The cipher suite; `None` in clear text.
    pub cipher: Option<&'static str>,
    /// Whether an earlier session was resumed; `None` in clear text.
    pub resumed: Option<bool>,
    /// The most requests that were under way at once on the connection until then.
    pub streams: u32,
}

/// What a driver keeps to show: one response, one failure.
#[derive(Clone, Debug, Default)]
pub struct Exhibits {
    /// The first accepted response, or the first complete one as long as none was accepted.
    pub evidence: Option<Evidence>,
    /// Whether `evidence` was accepted.
    pub accepted: bool,
    /// The first failure in words.
    pub failure: Option<String>,
}

impl Exhibits {
    /// Takes over from another thread what is missing here.
    pub fn merge(&mut self, other: Self) {
        if !self.accepted && other.evidence.is_some() && (other.accepted || self.evidence.is_none()) {
            self.evidence = other.evidence;
            self.accepted = other.accepted;
        }
        if self.failure.is_none() {
            self.failure = other.failure;
        }
    }
}
