//! Why a request did not count.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// The reason code of a failed request, as it stands in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Another status than expected.
    Status,
    /// A complete body of another length.
    Length,
    /// A body of the right length and other bytes.
    Hash,
    /// Not HTTP, or broken framing.
    Malformed,
    /// The kernel reported an error on the connection.
    Reset,
    /// The connection ended in the middle of a response, or before it.
    ClosedEarly,
    /// No connection came about.
    Connect,
    /// No complete response within the time-out.
    Timeout,
    /// The server does not speak what was asked for.
    Protocol,
    /// The body is in another content coding than asked for, or does not decode.
    Coding,
    /// The handshake failed, or the certificate can't be trusted.
    Tls,
}

impl Reason {
    /// All reasons, in the order of reports.
    pub const ALL: [Self; 11] = [
        Self::Status,
        Self::Length,
        Self::Hash,
        Self::Malformed,
        Self::Reset,
        Self::ClosedEarly,
        Self::Connect,
        Self::Timeout,
        Self::Protocol,
        Self::Coding,
        Self::Tls,
    ];

    /// The code used in reports.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Length => "length",
            Self::Hash => "hash",
            Self::Malformed => "malformed",
            Self::Reset => "reset",
            Self::ClosedEarly => "closed-early",
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::Coding => "coding",
            Self::Tls => "tls",
        }
    }
}

/// Failed requests by reason; serialises as an object of those that occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures([u64; Reason::ALL.len()]);

impl Failures {
    /// Counts one.
    pub const fn count(&mut self, reason: Reason) {
        self.0[reason as usize] += 1;
    }

    /// How many for one reason.
    #[must_use]
    pub const fn of(&self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    /// How many in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds another tally's.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// What was counted since `earlier`, an older state of the same counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut all = *self;
        for (mine, before) in all.0.iter_mut().zip(earlier.0) {
            *mine -= before;
        }
        all
    }

    /// The reasons that occurred, with their counts.
    pub fn occurred(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        Reason::ALL.into_iter().map(|reason| (reason, self.of(reason))).filter(|&(_, count)| count > 0)
    }
}

impl Serialize for Failures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (reason, count) in self.occurred() {
            map.serialize_entry(reason.code(), &count)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasons_that_occurred_are_written() {
        let mut failures = Failures::default();
        failures.count(Reason::ClosedEarly);
        failures.count(Reason::Status);
        failures.count(Reason::ClosedEarly);
        let json = serde_json::to_string(&failures).unwrap();
        assert_eq!(json, r#"{"status":1,"closed-early":2}"#);
        assert_eq!(failures.total(), 3);
    }
}
