//! One trial: what requests that name it did, counted where each of them ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use photofinish_http::request::Framing;
use photofinish_net::{Nanos, TcpInfo};

use crate::evidence::{Counts, Evidence, Wire};
use crate::inspect::Findings;
use crate::trials::Mode;

/// A trial, shared by the loops.
#[derive(Debug)]
pub(crate) struct Trial {
    id: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    mode: Mode,
    counts: Counts,
    /// Of connections that have ended; `None` once the kernel did not tell.
    wire: Option<Wire>,
    /// Connections that have not ended.
    open: usize,
}

impl Trial {
    pub fn new(id: String, mode: Mode) -> Self {
        let state = State { mode, counts: Counts::default(), wire: Some(Wire::default()), open: 0 };
        Self { id, state: Mutex::new(state) }
    }

    /// A panic elsewhere leaves counters that are still the best there are.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_mode(&self, mode: Mode) {
        self.state().mode = mode;
    }

    pub fn mode(&self) -> Mode {
        self.state().mode
    }

    /// A connection carries this trial from now on.
    pub fn opened(&self) {
        let mut state = self.state();
        state.counts.connections += 1;
        state.open += 1;
    }

    /// A connection that carried it has ended, with these counters of the kernel.
    pub fn ended(&self, info: Option<TcpInfo>) {
        let mut state = self.state();
        state.open -= 1;
        state.wire = state.wire.zip(info).map(|(sum, info)| sum.and(info));
    }

    /// The evidence, with the counters of those open connections that the asking loop serves. Those of others can't be
    /// read from there.
    pub fn evidence(&self, open: &[Option<TcpInfo>]) -> Evidence {
        let state = self.state();
        let seen = state.wire.filter(|_| state.open == open.len());
        let wire = open.iter().fold(seen, |sum, info| sum.zip(*info).map(|(sum, info)| sum.and(info)));
        Evidence::new(&self.id, state.mode, &state.counts, wire)
    }
}

/// One request of a trial, from its head to its end. Dropped before that, it counts as aborted.
#[derive(Debug)]
pub(crate) struct Ticket {
    trial: Arc<Trial>,
    /// Bytes of an upload's body so far; told to the trial at the end, whatever end it is.
    pub body_bytes: u64,
    ended: bool,
}

impl Ticket {
    /// A head was read.
    pub fn new(trial: Arc<Trial>, protocol: &'static str, now: Nanos) -> Self {
        let mut state = trial.state();
        let counts = &mut state.counts;
        counts.requests += 1;
        *counts.protocols.entry(protocol).or_default() += 1;
        counts.first_request_ns = counts.first_request_ns.or(Some(now.0));
        counts.last_request_ns = Some(now.0);
        drop(state);
        Self { trial, body_bytes: 0, ended: false }
    }

    pub fn mode(&self) -> Mode {
        self.trial.mode()
    }

    /// The head says where an upload's body ends.
    pub fn framed(&self, framing: Framing) {
        let counts = &mut self.trial.state().counts;
        counts.chunked += u64::from(framing == Framing::Chunked);
        counts.with_length += u64::from(matches!(framing, Framing::Length(_)));
    }

    /// An upload was answered with success.
    pub fn received_whole(&mut self, findings: Option<&Findings>) {
        let mut state = self.trial.state();
        let (counts, bytes) = (&mut state.counts, self.body_bytes);
        counts.completed += 1;
        counts.body_bytes += bytes;
        counts.least_body_bytes = Some(counts.least_body_bytes.map_or(bytes, |least| least.min(bytes)));
        counts.most_body_bytes = Some(counts.most_body_bytes.map_or(bytes, |most| most.max(bytes)));
        if let Some(findings) = findings {
            counts.last = Some(Box::new(findings.clone()));
        }
        drop(state);
        self.ended = true;
    }

    /// `bytes` more of a download's body were handed to the kernel.
    pub fn sent(&self, bytes: u64) {
        self.trial.state().counts.sent_body_bytes += bytes;
    }

    /// A download's body goes out in this content coding; `encoded_in` is what making it took for this response alone,
    /// nothing where it had been made before.
    pub fn coded(&self, coding: &'static str, encoded_in: Nanos) {
        let counts = &mut self.trial.state().counts;
        *counts.codings.entry(coding).or_default() += 1;
        counts.encode_ns += encoded_in.0;
    }

    /// A download's body was handed to the kernel whole.
    pub fn sent_whole(&mut self) {
        self.trial.state().counts.completed += 1;
        self.ended = true;
    }

    /// Answered with another status than success.
    pub fn refused(&mut self, status: u16) {
        let counts = &mut self.trial.state().counts;
        *counts.refused.entry(status).or_default() += 1;
        counts.body_bytes += self.body_bytes;
        self.ended = true;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.ended {
            let counts = &mut self.trial.state().counts;
            counts.aborted += 1;
            counts.body_bytes += self.body_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use photofinish_net::Nanos;

    use super::{Ticket, Trial};
    use crate::trials::Mode;

    #[test]
    fn responses_are_counted_by_coding_and_what_was_coded_before_takes_no_time() {
        let trial = Arc::new(Trial::new("t".to_owned(), Mode::Count));
        for (coding, encoded_in) in [("zstd", 700), ("zstd", 300), ("gzip", 0)] {
            let mut ticket = Ticket::new(Arc::clone(&trial), "http/1.1", Nanos(1));
            ticket.coded(coding, Nanos(encoded_in));
            ticket.sent_whole();
        }
        let told: serde_json::Value = serde_json::from_slice(&trial.evidence(&[]).to_json()).unwrap();
        assert_eq!(told["codings"], serde_json::json!({"gzip": 1, "zstd": 2}));
        assert_eq!((&told["encode_ns"], &told["completed"]), (&1000.into(), &3.into()));
    }
}
