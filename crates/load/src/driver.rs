//! One target, driven over its connections by one thread: sends by a pace, checks what comes back, counts everything once.

mod link;
mod outcome;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::SocketAddr;

use link::{Link, State};
use photofinish_http::response::{AtClose, Event, HeadCache, Malformed};
use photofinish_net::{Closed, Conn, Nanos, Net};

use crate::{Checker, Exhibits, Latencies, Reason, Request, Schedule, Tally};

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
    request: Request,
    links: Vec<Link>,
    idle: VecDeque<u32>,
    busy: u32,
    connecting: u32,
    pace: Pace,
    cache: HeadCache,
    checker: Checker,
    /// Whether latencies are recorded at present.
    pub recording: bool,
    /// Counts since they were last taken.
    pub tally: Tally,
    /// Latencies of accepted requests that completed while `recording`.
    pub latencies: Latencies,
    /// What there is to show.
    pub exhibits: Exhibits,
}

impl Driver {
    /// A driver with `connections` connections, none established yet. `id` is what [`Routes`] gives back.
    #[must_use]
    pub fn new(id: u32, address: SocketAddr, request: Request, connections: u32, checker: Checker, open: bool) -> Self {
        Self {
            id,
            address,
            request,
            links: (0..connections).map(|_| Link::new(request.is_head)).collect(),
            idle: VecDeque::with_capacity(connections as usize),
            busy: 0,
            connecting: 0,
            pace: Pace::Rest,
            cache: HeadCache::default(),
            checker,
            recording: false,
            tally: Tally::default(),
            latencies: Latencies::new(open),
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
    pub fn established(&self) -> u32 {
        self.busy + self.idle.len() as u32
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

    /// Ends the pace. Arrivals that were intended and never sent become [`Tally::unsent`]; the schedule, if there was
    /// one, comes back for the next span.
    pub fn rest(&mut self) -> Option<Schedule> {
        match std::mem::replace(&mut self.pace, Pace::Rest) {
            Pace::Open { mut schedule, until } => {
                self.tally.unsent += schedule.pass_until(until);
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
        match &self.pace {
            Pace::Rest => true,
            Pace::Closed { until } => now >= *until,
            Pace::Open { schedule, until } => schedule.peek() >= *until,
        }
    }

    /// When [`Driver::pump`] will have something to send without any event of the network.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        match &self.pace {
            Pace::Open { schedule, until } if !self.idle.is_empty() && schedule.peek() < *until => {
                Some(schedule.peek())
            }
            _ => None,
        }
    }

    /// Starts to connect every connection that is missing.
    pub fn connect_missing<N: Net>(&mut self, net: &mut N, routes: &mut Routes) {
        for index in 0..self.links.len() as u32 {
            if self.links[index as usize].state == State::Missing {
                self.connect(net, routes, index);
            }
        }
    }

    /// Tries anew whatever is still connecting: a listener with a short backlog drops attempts, and the kernel's own
    /// repetition comes a whole second later. Nothing is counted: the attempt goes on.
    pub fn connect_again<N: Net>(&mut self, net: &mut N, routes: &mut Routes) {
        for index in 0..self.links.len() as u32 {
            if self.links[index as usize].state == State::Connecting {
                self.links[index as usize].leave(net);
                self.connecting -= 1;
                self.connect(net, routes, index);
            }
        }
    }

    fn connect<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32) {
        match net.connect(self.address, None) {
            Ok(conn) => {
                routes.set(conn, self.id, index);
                self.links[index as usize].connecting(conn, Nanos::now());
                self.connecting += 1;
            }
            Err(error) => self.connect_failed(&format!("can't open a connection: {error}")),
        }
    }

    fn connect_failed(&mut self, text: &str) {
        self.tally.sent += 1;
        self.fail(Reason::Connect, text);
    }

    /// [`photofinish_net::Handler::connected`] for one of this driver's connections.
    pub fn connected<N: Net>(&mut self, net: &mut N, index: u32) {
        self.connecting -= 1;
        self.tally.connects += 1;
        self.links[index as usize].established(net.turn_time());
        self.idle.push_back(index);
        self.pump(net);
    }

    /// Sends whatever is due and possible.
    pub fn pump<N: Net>(&mut self, net: &mut N) {
        while !self.idle.is_empty() {
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
            if let Some(index) = self.idle.pop_front() {
                let ready = intended.max(self.links[index as usize].free_since);
                self.send(net, index, intended, ready, now);
            }
        }
    }

    /// `ready`: when the request was due and its connection free.
    fn send<N: Net>(&mut self, net: &mut N, index: u32, intended: Nanos, ready: Nanos, now: Nanos) {
        let link = &mut self.links[index as usize];
        let Some(conn) = link.conn else { return };
        net.send_static(conn, self.request.bytes);
        link.begin(intended, now);
        self.busy += 1;
        self.tally.sent += 1;
        if self.recording {
            self.latencies.sent(ready, now);
        }
    }

    /// [`photofinish_net::Handler::received`] for one of this driver's connections.
    pub fn received<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32, mut data: &[u8]) {
        self.tally.wire_bytes += data.len() as u64;
        if self.links[index as usize].state != State::Busy {
            self.drop_idle(net, index);
            self.exhibits.failure.get_or_insert_with(|| Malformed::Unasked.to_string());
            return;
        }
        loop {
            let link = &mut self.links[index as usize];
            let before = data.len();
            let event = link.parser.advance(&mut self.cache, &mut data);
            link.wire_bytes += (before - data.len()) as u64;
            match event {
                Ok(None) => return,
                Ok(Some(Event::Head(head, bytes))) => {
                    link.status = head.status;
                    if !self.exhibits.accepted {
                        link.head_text = String::from_utf8_lossy(bytes).into_owned();
                    }
                }
                Ok(Some(Event::Body(bytes, rest))) => link.hash.update(bytes, rest),
                Ok(Some(Event::End(reusable))) => {
                    let surplus = !data.is_empty();
                    if surplus {
                        self.abandon(net, index, Reason::Malformed, &Malformed::Unasked.to_string());
                    } else {
                        self.complete(net, index, reusable);
                    }
                    self.renew(net, routes, index);
                    return;
                }
                Err(error) => {
                    self.abandon(net, index, Reason::Malformed, &error.to_string());
                    self.renew(net, routes, index);
                    return;
                }
            }
        }
    }

    /// [`photofinish_net::Handler::closed`] for one of this driver's connections.
    pub fn closed<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32, why: &Closed) {
        let link = &mut self.links[index as usize];
        link.conn = None;
        match link.state {
            State::Missing => {}
            State::Connecting => {
                self.connecting -= 1;
                link.state = State::Missing;
                self.connect_failed(&format!("connection to {} failed: {}", self.address, describe(why)));
                return;
            }
            State::Idle => self.drop_idle(net, index),
            State::Busy => match (why, link.parser.close()) {
                (Closed::ByPeer, AtClose::Complete) => self.complete(net, index, false),
                (Closed::ByPeer, AtClose::BeforeResponse) => {
                    self.abandon(
                        net,
                        index,
                        Reason::ClosedEarly,
                        "the server closed the connection without a response",
                    );
                }
                (Closed::ByPeer, AtClose::Early) => {
                    self.abandon(net, index, Reason::ClosedEarly, "the server closed the connection within a response");
                }
                (Closed::Failed(error), _) => {
                    self.abandon(net, index, Reason::Reset, &format!("the connection broke: {error}"));
                }
            },
        }
        self.renew(net, routes, index);
    }

    /// Replaces a connection that the server ended while there is load to send. One that can't be established at all
    /// waits for [`Driver::connect_missing`], so that a dead target costs nothing.
    fn renew<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32) {
        if self.links[index as usize].state == State::Missing && !self.exhausted(Nanos::now()) {
            self.connect(net, routes, index);
        }
    }

    fn drop_idle<N: Net>(&mut self, net: &mut N, index: u32) {
        self.idle.retain(|&idle| idle != index);
        self.links[index as usize].leave(net);
    }
}

fn describe(why: &Closed) -> String {
    match why {
        Closed::ByPeer => "closed by the server".to_owned(),
        Closed::Failed(error) => error.to_string(),
    }
}
