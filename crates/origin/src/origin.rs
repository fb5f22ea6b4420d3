//! The reference server as a handler of one loop.

use std::collections::VecDeque;

use photofinish_http::h3::{DEFAULT_LIST_BYTES, Sections};
use photofinish_net::quic::Stream;
use photofinish_net::{Closed, Conn, Handler, Nanos, Net};

use crate::exchange::Service;
use crate::handicap::Handicap;
use crate::http1::Http1;
use crate::http3::Http3;
use crate::trials::Trials;

/// How long a connection whose end has been decided may take to be ended by its peer.
const PATIENCE: Nanos = Nanos::from_millis(2_000);

/// Serves the routes of [`Service`].
#[derive(Debug)]
pub struct Origin {
    sessions: Vec<Http1>,
    /// Those by QUIC, whose slots begin at `first_quic_slot`.
    quic_sessions: Vec<Http3>,
    first_quic_slot: u32,
    shared: Shared,
}

/// What the connections of one loop have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub service: Service,
    pub handicap: Handicap,
    /// For heads that are being written.
    pub scratch: Vec<u8>,
    /// For answers of HTTP/3 that are being written.
    pub output: Vec<u8>,
    /// Heads of requests by HTTP/3.
    pub sections: Sections,
    /// Connections whose output is watched.
    pub unsettled: Vec<Conn>,
    /// Connections that are closed at these times, in their order.
    leaving: VecDeque<(Nanos, Conn)>,
}

impl Shared {
    /// Ends `conn`, with what is queued if `flush`.
    pub fn close<N: Net>(&mut self, net: &mut N, conn: Conn, flush: bool) {
        self.service.ledger.part(net, conn);
        net.close(conn, flush);
    }

    /// Leaves it to the peer to end `conn`, for a while.
    pub fn leave<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.leaving.push_back((Nanos::now() + PATIENCE, conn));
        if self.leaving.len() == 1 {
            net.set_timer(self.leaving.front().map(|(at, _)| *at));
        }
    }
}

impl Origin {
    /// A server that burns `handicap` for each request and takes bodies of at most `most_body_bytes`; it knows `trials`,
    /// whichever loop they were registered with. Connections by QUIC have slots from `first_quic_slot` on.
    pub(crate) fn new(handicap: Handicap, most_body_bytes: u64, trials: Trials, first_quic_slot: u32) -> Self {
        let shared = Shared {
            service: Service::new(trials, most_body_bytes),
            handicap,
            scratch: Vec::with_capacity(512),
            output: Vec::new(),
            sections: Sections::new(DEFAULT_LIST_BYTES),
            unsettled: Vec::new(),
            leaving: VecDeque::new(),
        };
        Self { sessions: Vec::new(), quic_sessions: Vec::new(), first_quic_slot, shared }
    }

    /// The session of a connection by QUIC.
    fn quic_session(&mut self, conn: Conn) -> (&mut Http3, &mut Shared) {
        let Self { quic_sessions, first_quic_slot, shared, .. } = self;
        let at = (conn.slot - *first_quic_slot) as usize;
        if quic_sessions.len() <= at {
            quic_sessions.resize_with(at + 1, Http3::default);
        }
        (&mut quic_sessions[at], shared)
    }

    /// Looks how far watched output has got: evidence must not be behind what clients have read.
    #[cold]
    fn settle<N: Net>(&mut self, net: &mut N) {
        let Self { sessions, shared, .. } = self;
        let mut unsettled = std::mem::take(&mut shared.unsettled);
        unsettled.retain(|&conn| sessions[conn.slot as usize].settle(net, conn, shared));
        shared.unsettled.append(&mut unsettled);
    }
}

impl Handler for Origin {
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        if conn.slot >= self.first_quic_slot {
            let (session, shared) = self.quic_session(conn);
            session.reset();
            return session.begin(net, conn, shared);
        }
        let slot = conn.slot as usize;
        if self.sessions.len() <= slot {
            self.sessions.resize_with(slot + 1, Http1::default);
        }
        self.sessions[slot].reset();
        if let Some(alpn) = net.security(conn).and_then(|security| security.alpn) {
            self.sessions[slot].agreed(net, conn, &mut self.shared, alpn);
        }
    }

    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}

    #[inline]
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        if !self.shared.unsettled.is_empty() {
            self.settle(net);
        }
        self.sessions[conn.slot as usize].received(net, conn, &mut self.shared, data);
    }

    fn discarded<N: Net>(&mut self, net: &mut N, conn: Conn, bytes: u64) {
        self.sessions[conn.slot as usize].discarded(net, conn, &mut self.shared, bytes);
    }

    #[inline]
    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.sessions[conn.slot as usize].flushed(net, conn, &mut self.shared);
    }

    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, _why: Closed) {
        // What was on its way ends here, for its trial before the connection does.
        if conn.slot >= self.first_quic_slot {
            self.quic_session(conn).0.reset();
        } else {
            self.sessions[conn.slot as usize].reset();
        }
        self.shared.service.ledger.part(net, conn);
    }

    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        let (session, shared) = self.quic_session(conn);
        session.received(net, conn, shared, stream, data, end);
    }

    fn stream_reset<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, _code: u64) {
        let (session, shared) = self.quic_session(conn);
        session.broken(net, conn, shared, stream, false);
    }

    fn stream_stopped<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, _code: u64) {
        let (session, shared) = self.quic_session(conn);
        session.broken(net, conn, shared, stream, true);
    }

    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        let (session, shared) = self.quic_session(conn);
        session.writable(net, conn, shared, stream);
    }

    fn timer<N: Net>(&mut self, net: &mut N) {
        let now = Nanos::now();
        while let Some(&(at, conn)) = self.shared.leaving.front() {
            if at > now {
                return net.set_timer(Some(at));
            }
            self.shared.leaving.pop_front();
            self.shared.close(net, conn, false);
        }
    }

    fn stopping<N: Net>(&mut self, net: &mut N) {
        self.quic_sessions.iter().for_each(|session| session.go_away(net));
    }

    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        if !self.shared.unsettled.is_empty() {
            self.settle(net);
        }
    }
}
