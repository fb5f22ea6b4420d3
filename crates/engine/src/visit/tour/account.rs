//! The CPU time of one contestant's processes, which several targets may share.

use photofinish_net::Nanos;

use crate::cost::Meter;

/// A meter, and its readings at the edges of visits.
pub(super) struct Account {
    pub meter: Meter,
    /// The end of the last visit of any of its targets.
    last_edge: Option<(Nanos, Option<u64>)>,
    first_cpu_ns: Option<u64>,
    last_cpu_ns: Option<u64>,
    /// Accepted in the phase that counts, settling included.
    requests: u64,
}

impl Account {
    pub(super) const fn new(meter: Meter) -> Self {
        Self { meter, last_edge: None, first_cpu_ns: None, last_cpu_ns: None, requests: 0 }
    }

    /// Notes that a visit begins; gives CPU and wall time since the last edge.
    pub(super) fn rest_until(&mut self, at: Nanos, cpu_ns: Option<u64>, measured: bool) -> (Option<u64>, Option<u64>) {
        if measured && self.first_cpu_ns.is_none() {
            self.first_cpu_ns = cpu_ns;
        }
        let Some((last_at, last_cpu)) = self.last_edge else { return (None, None) };
        let cpu = cpu_ns.zip(last_cpu).map(|(now, then)| now.saturating_sub(then));
        (cpu, Some(at.since(last_at).0))
    }

    /// Notes that the rest begins only now: what closing its connections cost lies before the windows of others.
    pub(super) fn rests_from(&mut self, at: Nanos) {
        self.last_edge = Some((at, self.meter.read()));
    }

    /// Counts what was accepted.
    pub(super) const fn answered(&mut self, requests: u64, measured: bool) {
        if measured {
            self.requests += requests;
        }
    }

    /// Notes that a visit ended at this edge.
    pub(super) const fn visited(&mut self, at: Nanos, cpu_ns: Option<u64>, measured: bool) {
        self.last_edge = Some((at, cpu_ns));
        if measured {
            self.last_cpu_ns = cpu_ns;
        }
    }

    /// CPU time from the first edge of the phase that counts to its last.
    pub(super) fn cpu_total_ns(&self) -> Option<u64> {
        self.last_cpu_ns.zip(self.first_cpu_ns).map(|(last, first)| last.saturating_sub(first))
    }

    pub(super) const fn requests_total(&self) -> u64 {
        self.requests
    }
}
