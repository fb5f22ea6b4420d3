//! The state of one connection.

use std::collections::VecDeque;

use photofinish_http::BodyHash;
use photofinish_http::response::ResponseParser;
use photofinish_net::{Conn, Nanos, Net};

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
    pub hash: BodyHash,
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
    /// Requests sent over this connection.
    pub carried: u32,
    /// Responses accepted on this place, over all its connections.
    pub accepted: u64,
}

impl Link {
    pub fn new() -> Self {
        Self {
            conn: None,
            state: State::Missing,
            parser: ResponseParser::new(false),
            hash: BodyHash::default(),
            status: 0,
            wire_bytes: 0,
            head_text: String::new(),
            current: Flight::default(),
            behind: VecDeque::new(),
            first_byte: Nanos(0),
            began: Nanos(0),
            free_since: Nanos(0),
            carried: 0,
            accepted: 0,
        }
    }

    pub fn connecting(&mut self, conn: Conn, now: Nanos) {
        self.conn = Some(conn);
        self.state = State::Connecting;
        self.began = now;
    }

    pub fn established(&mut self, now: Nanos) {
        self.state = State::Idle;
        self.free_since = now;
        self.carried = 0;
        self.parser.reset();
    }

    /// Requests under way.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        if self.state == State::Busy { 1 + self.behind.len() as u32 } else { 0 }
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
        self.hash.reset();
    }

    /// Gives the connection up, if there still is one.
    pub fn leave<N: Net>(&mut self, net: &mut N) {
        if let Some(conn) = self.conn.take() {
            net.close(conn, false);
        }
        self.behind.clear();
        self.state = State::Missing;
    }
}
