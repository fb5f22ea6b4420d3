//! The state of one connection.
//!
//! That of HTTP/1.1 stands in the link itself, as nothing is nearer; what a protocol with streams keeps beyond it is behind
//! one pointer.

use std::collections::VecDeque;

use photofinish_http::response::ResponseParser;
use photofinish_net::tls::{Alpn, Security};
use photofinish_net::{Conn, Nanos, Net};

use super::received::Received;
use super::wire::Wire;
use crate::Protocol;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// There is no connection.
    Missing,
    Connecting,
    /// Established, no request under way.
    Idle,
    /// At least one request is under way.
    Busy,
}

/// A request that has left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    pub intended: Nanos,
    pub began: Nanos,
    /// Which kind of request, for its checks and counts.
    pub entry: u32,
    pub is_head: bool,
}

pub(super) struct Link {
    pub conn: Option<Conn>,
    pub state: State,
    pub parser: ResponseParser,
    pub body: Received,
    pub status: u16,
    /// Bytes of the response under way.
    pub wire_bytes: u64,
    /// Head of the response under way, as long as there is no evidence.
    pub head_text: String,
    /// The request whose response comes next.
    pub current: Flight,
    /// Those sent after it; stays empty unless requests are pipelined.
    pub behind: VecDeque<Flight>,
    /// When the first bytes of the response under way were there; 0 before.
    pub first_byte: Nanos,
    /// When the attempt to connect began.
    pub began: Nanos,
    /// When the connection became able to send.
    pub free_since: Nanos,
    /// Requests that may be under way at once, at present.
    pub most: u32,
    /// Requests under way on streams.
    pub streams: u32,
    /// The most that ever were.
    pub most_streams: u32,
    /// What a protocol with streams keeps of an established connection.
    pub wire: Option<Box<Wire>>,
    /// Requests sent over this connection.
    pub carried: u32,
    /// Responses accepted on this place, over all its connections.
    pub accepted: u64,
    /// What came over a secured transport since the connection was established; all 0 in clear text.
    pub transport: Transport,
    pub security: Option<Security>,
}

/// Bytes received, of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transport {
    /// What had come when the connection was established.
    pub before: u64,
    /// What has come since.
    pub carried: u64,
    /// What of that was handed on.
    pub plain: u64,
}

impl Link {
    pub fn new() -> Self {
        Self {
            conn: None,
            state: State::Missing,
            parser: ResponseParser::new(false),
            body: Received::default(),
            status: 0,
            wire_bytes: 0,
            head_text: String::new(),
            current: Flight::default(),
            behind: VecDeque::new(),
            first_byte: Nanos(0),
            began: Nanos(0),
            free_since: Nanos(0),
            most: 1,
            streams: 0,
            most_streams: 0,
            wire: None,
            carried: 0,
            accepted: 0,
            transport: Transport::default(),
            security: None,
        }
    }

    pub fn connecting(&mut self, conn: Conn, now: Nanos) {
        self.conn = Some(conn);
        self.state = State::Connecting;
        self.began = now;
    }

    /// `most`: requests that may be under way at once.
    pub fn established(&mut self, now: Nanos, most: u32) {
        self.state = State::Idle;
        self.most = most;
        self.free_since = now;
        self.carried = 0;
        self.most_streams = 0;
        self.parser.reset();
    }

    /// Notes what was negotiated; the error says what was not.
    pub fn secured<N: Net>(&mut self, net: &N, protocol: Protocol) -> Result<(), String> {
        let Some(conn) = self.conn else { return Ok(()) };
        self.security = net.security(conn).copied();
        let before = net.wire(conn).map_or(0, |wire| wire.received);
        self.transport = Transport { before, ..Transport::default() };
        let chosen = self.security.and_then(|security| security.alpn);
        let fits = match protocol {
            Protocol::Http1Tls => chosen.is_none_or(|alpn| alpn == Alpn::Http1),
            Protocol::Http2Tls => chosen == Some(Alpn::H2),
            // Early data leaves before the server has chosen.
            Protocol::Http3 => chosen.is_none_or(|alpn| alpn == Alpn::H3),
            _ => true,
        };
        let said = chosen.map_or("nothing", Alpn::name);
        if fits { Ok(()) } else { Err(format!("the server does not speak {protocol}: it chose {said} by ALPN")) }
    }

    /// Takes note of `plain` bytes that were handed on; gives those that the transport received for them.
    pub fn carry<N: Net>(&mut self, net: &N, plain: usize) -> u64 {
        let Some(wire) = self.conn.and_then(|conn| net.wire(conn)) else { return plain as u64 };
        let carried = wire.received - self.transport.before;
        let more = carried - self.transport.carried;
        self.transport.carried = carried;
        self.transport.plain += plain as u64;
        more
    }

    /// Requests under way.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        match self.state {
            State::Busy if self.streams > 0 => self.streams,
            State::Busy => 1 + self.behind.len() as u32,
            _ => 0,
        }
    }

    /// Notes a request that leaves now on a stream of its own.
    #[inline]
    pub fn begin_stream(&mut self) {
        self.carried = self.carried.saturating_add(1);
        self.state = State::Busy;
        self.streams += 1;
        self.most_streams = self.most_streams.max(self.streams);
    }

    /// What the transport carried for a response of `plain` bytes: its share of what came over the connection.
    pub fn carried_for(&self, plain: u64) -> u64 {
        let Transport { carried, plain: all, .. } = self.transport;
        if all == 0 { plain } else { (u128::from(plain) * u128::from(carried) / u128::from(all)) as u64 }
    }

    /// Notes a request that leaves now.
    #[inline]
    pub fn begin(&mut self, flight: Flight) {
        self.carried = self.carried.saturating_add(1);
        if self.state == State::Busy {
            self.behind.push_back(flight);
        } else {
            self.state = State::Busy;
            self.expect(flight);
        }
    }

    /// The response under way is over: turns to the next request, if there is one.
    #[inline]
    pub fn conclude(&mut self) {
        match self.behind.pop_front() {
            Some(next) => self.expect(next),
            None => self.state = State::Idle,
        }
    }

    #[inline]
    fn expect(&mut self, flight: Flight) {
        self.current = flight;
        self.parser.expect_bodiless(flight.is_head);
        self.status = 0;
        self.wire_bytes = 0;
        self.first_byte = Nanos(0);
        self.body.reset();
    }

    /// Gives the connection up, if there still is one.
    pub fn leave<N: Net>(&mut self, net: &mut N) {
        if let Some(conn) = self.conn.take() {
            net.close(conn, false);
        }
        self.behind.clear();
        self.wire = None;
        self.security = None;
        self.streams = 0;
        self.state = State::Missing;
    }
}
