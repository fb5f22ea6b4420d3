//! How a request ends: accepted, failed, or censored. Every way out of `Busy` is here, so that each request is counted
//! exactly once.

use photofinish_net::tls::Alpn;
use photofinish_net::{Nanos, Net};

use super::link::{Flight, State};
use super::received::Judged;
use super::{Driver, Pace};
use crate::latency::Moments;
use crate::{Evidence, Reason, StatusRule};

/// What is known of an accepted response that may come again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    /// Length of the body after transfer decoding.
    pub body_bytes: u64,
    /// Whether the connection may carry another request.
    pub reusable: bool,
}

/// A complete response, for the evidence.
pub(super) struct Seen<'a> {
    pub status: u16,
    pub judged: &'a Judged,
    /// Framing included.
    pub wire_bytes: u64,
    pub head: String,
}

impl Driver {
    /// A complete response: checks it, counts it, and in a closed loop sends the next request. Whether it was accepted.
    #[inline]
    pub(super) fn complete<N: Net>(&mut self, net: &mut N, index: u32, reusable: bool) -> bool {
        let at = net.turn_time();
        let link = &mut self.links[index as usize];
        let (Flight { entry, is_head, .. }, first_byte, status) = (link.current, link.first_byte, link.status);
        let checker = &self.checkers[entry as usize];
        let judged = link.body.judge(checker, self.decoding.as_mut(), (entry, is_head), status);
        if !self.exhibits.accepted {
            let link = &mut self.links[index as usize];
            let (wire_bytes, head) = (link.wire_bytes, std::mem::take(&mut link.head_text));
            self.keep_evidence(index, Seen { status, judged: &judged, wire_bytes, head });
        }
        match judged.verdict {
            Ok(()) => {
                let link = &mut self.links[index as usize];
                link.accepted += 1;
                let flight = link.current;
                self.count_accepted(flight, judged.encoded_bytes, first_byte, at);
            }
            Err(reason) => {
                let text = self.explain(entry, reason, status, &judged);
                self.fail_sent(entry, reason, &text);
            }
        }
        self.release(net, index, reusable, at);
        judged.verdict.is_ok()
    }

    /// A response of the same bytes as one that was accepted for the same kind of request.
    #[expect(
        clippy::inline_always,
        reason = "the commonest way of all, from one place; the call would cost a twentieth"
    )]
    #[inline(always)]
    pub(super) fn repeated<N: Net>(&mut self, net: &mut N, index: u32, finding: Finding) {
        let at = net.turn_time();
        let link = &mut self.links[index as usize];
        link.accepted += 1;
        let flight = link.current;
        self.count_accepted(flight, finding.body_bytes, at, at);
        self.release(net, index, finding.reusable, at);
    }

    #[inline]
    pub(super) fn count_accepted(&mut self, flight: Flight, body_bytes: u64, first_byte: Nanos, at: Nanos) {
        let Flight { intended, began, entry, .. } = flight;
        self.tally.accepted += 1;
        self.tally.body_bytes += body_bytes;
        self.tally.service_ns += at.since(began).0;
        if self.recording {
            self.latencies.completed(Moments { intended, sent: began, first_byte, completed: at });
        }
        if let Some(kind) = self.entries.get_mut(entry as usize) {
            kind.accepted += 1;
            kind.response.saturating_record(at.since(intended).0);
        }
    }

    #[inline]
    fn release<N: Net>(&mut self, net: &mut N, index: u32, reusable: bool, at: Nanos) {
        // Before the request is taken off: a pipelining connection that had room is among the free ones already.
        let had_room = self.depth > 1 && self.has_room(index);
        let link = &mut self.links[index as usize];
        link.conclude();
        self.busy -= 1;
        if !reusable || link.conn.is_none() {
            self.abandon(
                net,
                index,
                Reason::ClosedEarly,
                "the server closed the connection before it had answered all",
            );
            return;
        }
        if !had_room {
            link.free_since = at;
        }
        if link.carried >= self.requests_per_connection {
            if link.state == State::Idle {
                self.leave(net, index);
            }
            return;
        }
        if let Pace::Closed { until } = self.pace
            && self.budget > 0
            && !had_room
        {
            let now = Nanos::now();
            if now < until {
                self.send(net, index, now, at, now);
                if self.depth > 1 && self.has_room(index) {
                    self.free.push_back(index);
                }
                return;
            }
        }
        if !had_room {
            self.free.push_back(index);
        }
        self.pump(net);
    }

    pub(super) fn keep_evidence(&mut self, index: u32, seen: Seen<'_>) {
        let Judged { body, encoded_bytes, said, verdict, .. } = seen.judged;
        let accepted = verdict.is_ok();
        if !accepted && self.exhibits.evidence.is_some() {
            return;
        }
        let link = &self.links[index as usize];
        let security = link.security.as_ref();
        self.exhibits.evidence = Some(Evidence {
            status: seen.status,
            body_bytes: body.bytes,
            body_xxh3: format!("{:016x}", body.xxh3),
            wire_bytes: link.carried_for(seen.wire_bytes),
            coding: said.name().to_owned(),
            encoded_bytes: *encoded_bytes,
            head: seen.head,
            protocol: self.protocol.name(),
            alpn: security.and_then(|security| security.alpn).map(Alpn::name),
            tls_version: security.map(|security| security.tls_version),
            cipher: security.map(|security| security.cipher),
            resumed: security.map(|security| security.resumed),
            streams: link.most_streams.max(1),
        });
        self.exhibits.accepted = accepted;
    }

    pub(super) fn explain(&self, entry: u32, reason: Reason, status: u16, judged: &Judged) -> String {
        if self.exhibits.failure.is_some() {
            return String::new();
        }
        let checker = &self.checkers[entry as usize];
        let (expect, first) = (checker.expect(), checker.first());
        let body = judged.body;
        match reason {
            Reason::Coding => judged.text.clone().unwrap_or_default(),
            Reason::Status => match expect.status {
                StatusRule::Exactly(expected) => format!("status {status} instead of {expected}"),
                StatusRule::Success => format!("status {status} instead of 200 to 299"),
            },
            Reason::Length => {
                let expected = expect.body_bytes.or(first.map(|body| body.bytes)).unwrap_or(0);
                format!("a body of {} bytes instead of {expected}", body.bytes)
            }
            _ => {
                let expected = expect.body_xxh3.or(first.map(|body| body.xxh3)).unwrap_or(0);
                format!("a body with xxh3 {:016x} instead of {expected:016x}", body.xxh3)
            }
        }
    }

    /// Counts a failure; the first one is kept in words.
    pub(super) fn fail(&mut self, reason: Reason, text: &str) {
        self.tally.failed.count(reason);
        self.exhibits.failure.get_or_insert_with(|| format!("{}: {text}", reason.code()));
    }

    pub(super) fn fail_sent(&mut self, entry: u32, reason: Reason, text: &str) {
        self.fail(reason, text);
        if let Some(kind) = self.entries.get_mut(entry as usize) {
            kind.failed += 1;
        }
    }

    /// The requests under way fail, all for one reason, and their connection is given up.
    pub(super) fn abandon<N: Net>(&mut self, net: &mut N, index: u32, reason: Reason, text: &str) {
        self.lose_streams(index, reason, text);
        while self.links[index as usize].state == State::Busy {
            let entry = self.links[index as usize].current.entry;
            self.links[index as usize].conclude();
            self.busy -= 1;
            self.fail_sent(entry, reason, text);
        }
        self.leave(net, index);
    }

    /// Fails what began before `began_before`: requests as [`Reason::Timeout`], attempts to connect as
    /// [`Reason::Connect`].
    pub fn expire<N: Net>(&mut self, net: &mut N, began_before: Nanos) {
        for index in 0..self.links.len() as u32 {
            let link = &self.links[index as usize];
            match link.state {
                State::Busy if link.wire.is_some() => self.expire_streams(net, index, began_before),
                State::Busy if link.current.began < began_before => {
                    self.abandon(net, index, Reason::Timeout, "no complete response within the time-out");
                }
                State::Connecting if link.began < began_before => self.give_up_connecting(net, index),
                _ => {}
            }
        }
    }

    fn give_up_connecting<N: Net>(&mut self, net: &mut N, index: u32) {
        self.connecting -= 1;
        self.links[index as usize].leave(net);
        let text = format!("connection to {} was not established in time", self.address);
        self.connect_failed(Reason::Connect, &text);
    }

    /// Gives up every attempt to connect.
    pub fn stop_connecting<N: Net>(&mut self, net: &mut N) {
        for index in 0..self.links.len() as u32 {
            if self.links[index as usize].state == State::Connecting {
                self.give_up_connecting(net, index);
            }
        }
    }

    /// Gives up every attempt to connect without counting it: the load is over before anybody knows how it would end.
    pub fn forget_connecting<N: Net>(&mut self, net: &mut N) {
        for link in self.links.iter_mut().filter(|link| link.state == State::Connecting) {
            link.leave(net);
        }
        self.connecting = 0;
    }

    /// Closes all connections; requests in flight are counted as censored, attempts to connect as failed.
    pub fn cut<N: Net>(&mut self, net: &mut N) {
        self.stop_connecting(net);
        self.free.clear();
        for index in 0..self.links.len() as u32 {
            let in_flight = self.links[index as usize].in_flight();
            self.busy -= in_flight;
            self.tally.censored += u64::from(in_flight);
            self.leave(net, index);
        }
    }
}
