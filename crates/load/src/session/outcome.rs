//! What one thread of a load saw, beside its latencies.

use photofinish_net::Nanos;

use super::Lane;
use crate::driver::{EntryTally, Spreading};
use crate::{Exhibits, Tally};

/// What one thread saw.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// All counts, the drain included.
    pub tally: Tally,
    /// Counts when sending ended.
    pub in_time: Tally,
    /// Requests that left before sending ended; failed attempts to connect are none.
    pub sent_in_time: u64,
    /// One response and one failure to show.
    pub exhibits: Exhibits,
    /// Counts by kind of request, beside the group that they belong to; empty unless they were asked for.
    pub entries: Vec<(usize, Vec<EntryTally>)>,
    /// How the accepted responses are spread over the connections of all drivers.
    pub spreading: Spreading,
    /// From the first to the last moment of sending.
    pub measured: Nanos,
    /// From there to the last response, or to giving up.
    pub drained: Nanos,
    /// ∫ requests in flight dt while sending, in request-ns.
    pub in_flight_area: u128,
    /// This thread's CPU time while sending and draining.
    pub cpu_ns: u64,
    /// This thread's CPU time while sending.
    pub cpu_in_time_ns: u64,
    /// Time in which the loop worked, while sending.
    pub busy: Nanos,
    /// Time in which the loop waited for the kernel, while sending.
    pub waited: Nanos,
    /// System calls while sending and draining.
    pub syscalls: u64,
    /// Whether it was asked to end before its time.
    pub interrupted: bool,
}

impl Outcome {
    pub(super) fn take_from(&mut self, lanes: &mut [Lane]) {
        for Lane { driver, group, .. } in lanes {
            self.tally.add(&driver.take_tally());
            self.exhibits.merge(std::mem::take(&mut driver.exhibits));
            self.entries.push((*group, driver.entries().to_vec()));
            self.spreading.add(&driver.spreading());
        }
    }
}
