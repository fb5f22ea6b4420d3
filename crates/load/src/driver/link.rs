//! The state of one connection.

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
    /// A request is under way.
    Busy,
}

pub(super) struct Link {
    pub(super) conn: Option<Conn>,
    pub(super) state: State,
    pub(super) parser: ResponseParser,
    pub(super) hash: BodyHash,
    pub(super) status: u16,
    /// Bytes of the response under way.
    pub(super) wire_bytes: u64,
    /// Head of the response under way, as long as there is no evidence.
    pub(super) head_text: String,
    pub(super) intended: Nanos,
    /// When the request under way, or the attempt to connect, began.
    pub(super) began: Nanos,
    /// When the connection became able to send.
    pub(super) free_since: Nanos,
}

impl Link {
    pub(super) fn new(is_head: bool) -> Self {
        Self {
            conn: None,
            state: State::Missing,
            parser: ResponseParser::new(is_head),
            hash: BodyHash::default(),
            status: 0,
            wire_bytes: 0,
            head_text: String::new(),
            intended: Nanos(0),
            began: Nanos(0),
            free_since: Nanos(0),
        }
    }

    pub(super) fn connecting(&mut self, conn: Conn, now: Nanos) {
        self.conn = Some(conn);
        self.state = State::Connecting;
        self.began = now;
    }

    pub(super) fn established(&mut self, now: Nanos) {
        self.state = State::Idle;
        self.free_since = now;
        self.parser.reset();
    }

    pub(super) fn begin(&mut self, intended: Nanos, now: Nanos) {
        self.state = State::Busy;
        self.intended = intended;
        self.began = now;
        self.status = 0;
        self.wire_bytes = 0;
        self.hash.reset();
    }

    /// Gives the connection up, if there still is one.
    pub(super) fn leave<N: Net>(&mut self, net: &mut N) {
        if let Some(conn) = self.conn.take() {
            net.close(conn, false);
        }
        self.state = State::Missing;
    }
}
