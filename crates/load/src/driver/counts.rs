//! Counts by kind of request, and by connection.

use hdrhistogram::Histogram;

/// Counts of one kind of request among several.
#[derive(Clone, Debug)]
pub struct EntryTally {
    /// Requests sent.
    pub sent: u64,
    /// Responses accepted.
    pub accepted: u64,
    /// Requests failed.
    pub failed: u64,
    /// Response times of the accepted, in ns.
    pub response: Histogram<u64>,
}

/// How the accepted responses are spread over the connections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spreading {
    /// Connections.
    pub connections: u64,
    /// Σ accepted.
    pub sum: u64,
    /// Σ accepted².
    pub squares: f64,
    /// Least.
    pub min: u64,
    /// Most.
    pub max: u64,
}

impl Spreading {
    /// Adds other connections.
    pub fn add(&mut self, other: &Self) {
        let both = self.connections > 0 && other.connections > 0;
        self.min = if both { self.min.min(other.min) } else { self.min + other.min };
        self.max = self.max.max(other.max);
        self.connections += other.connections;
        self.sum += other.sum;
        self.squares += other.squares;
    }
}
