//! One target, driven over its connections by one thread: sends by a pace, checks what comes back, counts everything once.

mod connecting;
mod counts;
mod events;
mod http2;
mod http3;
mod link;
mod outcome;
mod received;
mod stream_events;
mod streams;
mod target;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

pub use counts::{EntryTally, Spreading};
use link::{Flight, Link, State};
use outcome::Finding;
use photofinish_http::response::{HeadCache, Known};
use photofinish_net::tls::Peer;
use photofinish_net::{Conn, Nanos, Net};
use received::Decoding;
use wire::{Requests, Wire};

pub use target::{Target, Windows};

use crate::mix::{Mix, Outgoing};
use crate::{Checker, Exhibits, Latencies, Protocol, Reason, Schedule, Tally, latency};

/// What decides when the next request leaves.
#[derive(Clone, Debug)]
pub enum Pace {
    /// Nothing leaves.
    Rest,
    /// Each connection sends as soon as its last response was complete, before `until`.
    Closed {
        /// End of sending.
        until: Nanos,
    },
    /// Arrivals of `schedule` intended before `until` leave when they are due and a connection is free, if need be after
    /// `until`.
    Open {
        /// Intended send times.
        schedule: Schedule,
        /// End of intentions.
        until: Nanos,
    },
}

/// Which driver and which of its connections a slot of the loop belongs to.
#[derive(Debug, Default)]
pub struct Routes(Vec<(u32, u32)>);

impl Routes {
    /// Driver and connection of `conn`.
    #[must_use]
    pub fn of(&self, conn: Conn) -> (usize, u32) {
        let (driver, link) = self.0[conn.slot as usize];
        (driver as usize, link)
    }

    fn set(&mut self, conn: Conn, driver: u32, link: u32) {
        let slot = conn.slot as usize;
        if slot >= self.0.len() {
            self.0.resize(slot + 1, (u32::MAX, u32::MAX));
        }
        self.0[slot] = (driver, link);
    }
}

/// The state of one target on one loop.
pub struct Driver {
    id: u32,
    address: SocketAddr,
    protocol: Protocol,
    peer: Option<Arc<Peer>>,
    windows: Windows,
    sources: Vec<IpAddr>,
    next_source: usize,
    mix: Mix,
    checkers: Vec<Checker>,
    /// Where a content coding is expected.
    decoding: Option<Box<Decoding>>,
    /// Empty unless they are asked for.
    entries: Vec<EntryTally>,
    links: Vec<Link>,
    /// Established connections that may take another request, each at most once.
    free: VecDeque<u32>,
    established: u32,
    busy: u32,
    connecting: u32,
    /// Requests that a connection may have under way.
    depth: u32,
    /// For protocols with streams.
    requests: Requests,
    /// Links on which something gathers that has to be handed on.
    marked: Vec<u32>,
    /// Whether the target has shown that it speaks the protocol.
    speaks: bool,
    requests_per_connection: u32,
    /// Requests that may still be sent.
    budget: u64,
    pace: Pace,
    cache: HeadCache,
    /// For each kind of request, the last response that was accepted and came in one piece.
    known: Vec<Known<Finding>>,
    /// Σ (sending − begin of the turn in which it happened), in ns, since it was last taken: what a count of requests in
    /// flight that is kept from turn to turn has too much.
    head_start_ns: u64,
    /// Whether latencies are recorded at present.
    pub recording: bool,
    /// Counts since they were last taken.
    pub tally: Tally,
    /// Latencies of accepted requests that completed while `recording`.
    pub latencies: Box<Latencies>,
    /// What there is to show.
    pub exhibits: Exhibits,
}

impl Driver {
    /// A driver without connections yet. `id` is what [`Routes`] gives back.
    #[must_use]
    pub fn new(id: u32, target: Target) -> Self {
        let entry = || EntryTally { sent: 0, accepted: 0, failed: 0, response: latency::empty() };
        let kinds = target.mix.entries().len();
        Self {
            id,
            address: target.address,
            protocol: target.protocol,
            peer: target.peer,
            windows: target.windows,
            sources: target.sources,
            next_source: 0,
            mix: target.mix,
            decoding: Decoding::of(&target.checkers),
            checkers: target.checkers,
            entries: (0..kinds).filter(|_| target.count_entries).map(|_| entry()).collect(),
            links: (0..target.connections).map(|_| Link::new()).collect(),
            free: VecDeque::with_capacity(target.connections as usize),
            established: 0,
            busy: 0,
            connecting: 0,
            depth: target.depth,
            requests: Requests::new(target.protocol, kinds),
            marked: Vec::new(),
            speaks: false,
            requests_per_connection: target.requests_per_connection.unwrap_or(u32::MAX),
            budget: target.requests.unwrap_or(u64::MAX),
            pace: Pace::Rest,
            cache: HeadCache::default(),
            known: (0..kinds).map(|_| Known::default()).collect(),
            head_start_ns: 0,
            recording: false,
            tally: Tally::default(),
            latencies: Box::new(Latencies::new(target.open)),
            exhibits: Exhibits::default(),
        }
    }

    /// Requests in flight.
    #[must_use]
    pub const fn in_flight(&self) -> u32 {
        self.busy
    }

    /// Connections that are being established.
    #[must_use]
    pub const fn connecting(&self) -> u32 {
        self.connecting
    }

    /// Connections that are established.
    #[must_use]
    pub const fn established(&self) -> u32 {
        self.established
    }

    /// Connections that there are to be.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.links.len() as u32
    }

    /// Counts by kind of request; empty unless they were asked for.
    #[must_use]
    pub fn entries(&self) -> &[EntryTally] {
        &self.entries
    }

    /// How evenly the connections were served.
    #[must_use]
    pub fn spreading(&self) -> Spreading {
        let all = self.links.iter().map(|link| link.accepted);
        Spreading {
            connections: self.links.len() as u64,
            sum: all.clone().sum(),
            squares: all.clone().map(|accepted| (accepted as f64).powi(2)).sum(),
            min: all.clone().min().unwrap_or(0),
            max: all.max().unwrap_or(0),
        }
    }

    /// Σ (sending − begin of its turn) since the last call, in ns.
    pub fn take_head_start(&mut self) -> u64 {
        std::mem::take(&mut self.head_start_ns)
    }

    /// Counts since the last call.
    pub fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// Changes the pace and sends what is due at once.
    pub fn set_pace<N: Net>(&mut self, net: &mut N, pace: Pace) {
        self.pace = pace;
        self.pump(net);
    }

    /// Whether nothing can come of the load: whatever was tried, the target has not shown that it speaks what is asked.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        let failed = &self.tally.failed;
        !self.speaks && failed.of(Reason::Protocol) + failed.of(Reason::Tls) >= u64::from(self.connections())
    }

    /// Ends the pace. Arrivals that were intended and never sent become [`Tally::unsent`], as many as may still be sent;
    /// the schedule, if there was one, comes back for the next span.
    pub fn rest(&mut self) -> Option<Schedule> {
        match std::mem::replace(&mut self.pace, Pace::Rest) {
            Pace::Open { mut schedule, until } => {
                self.tally.unsent += schedule.pass_until(until).min(self.budget);
                Some(schedule)
            }
            _ => None,
        }
    }

    /// Cuts an open pace short: nothing intended at `until` or later is sent.
    pub fn shorten(&mut self, at: Nanos) {
        match &mut self.pace {
            Pace::Rest => {}
            Pace::Closed { until } | Pace::Open { until, .. } => *until = at.min(*until),
        }
    }

    /// Whether the pace has nothing more to send.
    #[must_use]
    pub fn exhausted(&self, now: Nanos) -> bool {
        self.budget == 0
            || match &self.pace {
                Pace::Rest => true,
                Pace::Closed { until } => now >= *until,
                Pace::Open { schedule, until } => schedule.peek() >= *until,
            }
    }

    /// Whether as many requests have left as were asked for.
    #[must_use]
    pub const fn spent(&self) -> bool {
        self.budget == 0
    }

    /// When [`Driver::pump`] will have something to send without any event of the network.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        match &self.pace {
            Pace::Open { schedule, until } if !self.free.is_empty() && self.budget > 0 && schedule.peek() < *until => {
                Some(schedule.peek())
            }
            _ => None,
        }
    }

    /// Sends whatever is due and possible.
    pub fn pump<N: Net>(&mut self, net: &mut N) {
        self.send_due(net);
        self.flush_marked(net);
    }

    fn send_due<N: Net>(&mut self, net: &mut N) {
        while !self.free.is_empty() && self.budget > 0 {
            let now = Nanos::now();
            let intended = match &mut self.pace {
                Pace::Closed { until } if now < *until => now,
                Pace::Open { schedule, until } if schedule.peek() < *until && schedule.peek() <= now => {
                    let intended = schedule.peek();
                    schedule.advance();
                    intended
                }
                _ => return,
            };
            if let Some(index) = self.free.pop_front() {
                let ready = intended.max(self.links[index as usize].free_since);
                self.send(net, index, intended, ready, now);
                if self.has_room(index) {
                    self.free.push_back(index);
                }
            }
        }
    }

    #[inline]
    fn has_room(&self, index: u32) -> bool {
        let link = &self.links[index as usize];
        link.in_flight() < link.most && link.carried < self.requests_per_connection
    }

    /// `ready`: when the request was due and its connection free.
    #[inline]
    fn send<N: Net>(&mut self, net: &mut N, index: u32, intended: Nanos, ready: Nanos, now: Nanos) {
        let link = &mut self.links[index as usize];
        let Some(conn) = link.conn else { return };
        if link.wire.is_some() {
            return self.send_on_stream(net, index, (intended, ready, now));
        }
        let Outgoing { entry, is_head, rendered, fixed } = self.mix.next();
        if !rendered.is_empty() {
            net.send(conn, rendered);
        }
        if !fixed.is_empty() {
            net.send_static(conn, fixed);
        }
        link.begin(Flight { intended, began: now, entry, is_head });
        let bytes = (rendered.len() + fixed.len()) as u64;
        self.count_sent(net, entry, bytes, (ready, now));
    }

    #[inline]
    fn count_sent<N: Net>(&mut self, net: &N, entry: u32, bytes: u64, (ready, now): (Nanos, Nanos)) {
        self.busy += 1;
        self.budget -= 1;
        self.head_start_ns += now.since(net.turn_time()).0;
        self.tally.sent += 1;
        self.tally.request_bytes += bytes;
        if let Some(kind) = self.entries.get_mut(entry as usize) {
            kind.sent += 1;
        }
        if self.recording {
            self.latencies.sent(ready, now);
        }
    }

    /// Gives a connection up, whatever it was doing; its requests have been counted.
    fn leave<N: Net>(&mut self, net: &mut N, index: u32) {
        // Only a connection with room is among the free: one that is used up costs no search of thousands.
        if !self.free.is_empty() && self.has_room(index) {
            self.free.retain(|&free| free != index);
        }
        let link = &mut self.links[index as usize];
        let open = link.conn.is_some() && matches!(link.state, State::Idle | State::Busy);
        self.established -= u32::from(open);
        link.leave(net);
    }
}
