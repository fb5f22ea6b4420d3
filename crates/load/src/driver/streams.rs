//! What HTTP/2 and HTTP/3 have in common: several requests under way on one connection, each on a stream of its own.
//!
//! A wire ([`super::wire::Wire`]) finds out what the server did on which stream, and tells it here by the [`Exchange`] of
//! that stream. Every way out of "under way" goes through [`Driver::end_exchange`] or [`Driver::fail_sent`], which is
//! followed by [`Driver::free_streams`], so that each request is counted exactly once.

use photofinish_http::coding::ContentEncoding;
use photofinish_http::fields::Fields;
use photofinish_net::{Nanos, Net};

use super::link::{Flight, State};
use super::outcome::Seen;
use super::received::Received;
use super::{Driver, Pace, Routes};
use crate::Reason;

/// Requests that leave together have one time of sending; after so many the clock is read again.
const REQUESTS_A_CLOCK: u32 = 16;

/// A request under way on a stream, and what came of its response so far.
#[derive(Default)]
pub(super) struct Exchange {
    pub flight: Flight,
    /// When the first bytes of the response were there; 0 before.
    pub first_byte: Nanos,
    pub status: u16,
    /// Fields of the response, as long as there is no evidence.
    pub head_text: String,
    pub body: Received,
}

impl Exchange {
    /// Begins another one in the place of an earlier one.
    #[inline]
    pub fn begin(&mut self, flight: Flight) {
        self.flight = flight;
        self.first_byte = Nanos(0);
        self.status = 0;
        self.body.reset();
    }
}

impl Driver {
    /// How the body is encoded that these fields come before, if anybody wants to know.
    #[inline]
    pub(super) fn content_encoding(&self, fields: &Fields) -> ContentEncoding {
        if self.decoding.is_none() && self.exhibits.accepted {
            return ContentEncoding::Absent;
        }
        let lines = fields.iter().filter(|(name, _)| *name == b"content-encoding");
        lines.fold(ContentEncoding::default(), |said, (_, value)| said.and(value))
    }

    /// The head of a response has come, and says so of its body.
    #[inline]
    pub(super) fn begin_body(&self, exchange: &mut Exchange, said: ContentEncoding) {
        exchange.body.begin(said, self.decoding.as_deref(), exchange.flight.entry);
    }

    /// A complete response, whose frames were `wire_bytes` long: checks and counts it.
    #[inline]
    pub(super) fn end_exchange(&mut self, index: u32, exchange: &mut Exchange, wire_bytes: u64, at: Nanos) {
        let (status, flight) = (exchange.status, exchange.flight);
        let checker = &self.checkers[flight.entry as usize];
        let judged = exchange.body.judge(checker, self.decoding.as_mut(), (flight.entry, flight.is_head), status);
        if !self.exhibits.accepted {
            let head = std::mem::take(&mut exchange.head_text);
            self.keep_evidence(index, Seen { status, judged: &judged, wire_bytes, head });
        }
        match judged.verdict {
            Ok(()) => {
                self.links[index as usize].accepted += 1;
                self.count_accepted(flight, judged.encoded_bytes, exchange.first_byte, at);
            }
            Err(reason) => {
                let text = self.explain(flight.entry, reason, status, &judged);
                self.fail_sent(flight.entry, reason, &text);
            }
        }
    }

    /// So many streams of the link are over, their requests counted: sends others, if it is time for them.
    #[inline]
    pub(super) fn free_streams<N: Net>(&mut self, net: &mut N, index: u32, over: u32, at: Nanos) {
        let had_room = self.has_room(index);
        let link = &mut self.links[index as usize];
        link.streams -= over;
        self.busy -= over;
        if link.streams == 0 {
            link.state = State::Idle;
        }
        if !had_room && over > 0 {
            link.free_since = at;
            self.send_in_turn(net, index, at);
            if self.has_room(index) {
                self.free.push_back(index);
            }
        }
        self.send_due(net);
    }

    /// [`Driver::send`] on a stream of its own; the times are those of the intention, of readiness, and now.
    #[inline(never)]
    pub(super) fn send_on_stream<N: Net>(
        &mut self,
        net: &N,
        index: u32,
        (intended, ready, now): (Nanos, Nanos, Nanos),
    ) {
        let link = &mut self.links[index as usize];
        let Some(wire) = &mut link.wire else { return };
        let outgoing = self.mix.next();
        let (entry, is_head) = (outgoing.entry, outgoing.is_head);
        if wire.mark() {
            self.marked.push(index);
        }
        let bytes = wire.send(&mut self.requests, &outgoing, Flight { intended, began: now, entry, is_head });
        link.begin_stream();
        self.count_sent(net, entry, bytes, (ready, now));
    }

    /// In a closed loop, what has ended is followed by as many.
    fn send_in_turn<N: Net>(&mut self, net: &mut N, index: u32, ready: Nanos) {
        let Pace::Closed { until } = self.pace else { return };
        let (mut now, mut count) = (Nanos::now(), 0_u32);
        while now < until && self.budget > 0 && self.has_room(index) {
            self.send(net, index, now, ready, now);
            count += 1;
            if count.is_multiple_of(REQUESTS_A_CLOCK) {
                now = Nanos::now();
            }
        }
    }

    /// Requests that a link may have under way at once have become more or fewer: its server said so.
    #[inline]
    pub(super) fn set_most(&mut self, index: u32, most: u32, at: Nanos) {
        let most = most.min(self.depth);
        if self.links[index as usize].most == most {
            return;
        }
        let had_room = self.has_room(index);
        self.links[index as usize].most = most;
        match (had_room, self.has_room(index)) {
            (true, false) => self.free.retain(|&free| free != index),
            (false, true) => {
                self.links[index as usize].free_since = at;
                self.free.push_back(index);
            }
            _ => {}
        }
    }

    /// Has what gathers on the link handed on when the loop's event has been dealt with.
    #[inline]
    pub(super) fn mark(&mut self, index: u32) {
        if let Some(wire) = &mut self.links[index as usize].wire
            && wire.mark()
        {
            self.marked.push(index);
        }
    }

    /// Hands on what has gathered on the links that were marked.
    #[inline]
    pub(super) fn flush_marked<N: Net>(&mut self, net: &mut N) {
        while let Some(index) = self.marked.pop() {
            self.flush_link(net, index);
        }
    }

    pub(super) fn flush_link<N: Net>(&mut self, net: &mut N, index: u32) {
        let link = &mut self.links[index as usize];
        if let (Some(wire), Some(conn)) = (&mut link.wire, link.conn) {
            wire.flush(net, conn);
        }
    }

    /// The streams under way end all for one reason, without a response.
    pub(super) fn lose_streams(&mut self, index: u32, reason: Reason, text: &str) {
        let link = &mut self.links[index as usize];
        let Some(wire) = &mut link.wire else { return };
        let flights = wire.flights();
        self.busy -= link.streams;
        link.streams = 0;
        link.state = State::Idle;
        for flight in flights {
            self.fail_sent(flight.entry, reason, text);
        }
    }

    /// Fails what left before `before` on a link with streams.
    pub(super) fn expire_streams<N: Net>(&mut self, net: &mut N, index: u32, before: Nanos) {
        let Some(wire) = &mut self.links[index as usize].wire else { return };
        let text = "no complete response within the time-out";
        let Some(late) = wire.expire(before) else {
            return self.abandon(net, index, Reason::Timeout, text);
        };
        if late.is_empty() {
            return;
        }
        for flight in &late {
            self.fail_sent(flight.entry, Reason::Timeout, text);
        }
        self.mark(index);
        self.free_streams(net, index, late.len() as u32, net.turn_time());
        self.flush_marked(net);
    }

    /// Ends a link that can carry no further request, once nothing is under way on it; `true` if it did.
    pub(super) fn leave_if_used_up<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32) -> bool {
        let link = &self.links[index as usize];
        let used_up = link.most == 0 || link.carried >= self.requests_per_connection;
        let over = link.state == State::Idle && used_up;
        if over {
            self.leave(net, index);
            self.renew(net, routes, index);
        }
        over
    }
}
