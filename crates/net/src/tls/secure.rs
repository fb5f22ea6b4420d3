//! TLS between a loop and a handler.

use std::io;
use std::sync::Arc;

use super::handshake::Handshake;
use super::layer::Layer;
use super::over::Over;
use super::session::{News, Session, Stage};
use super::{Failure, Identity};
use crate::quic::Stream;
use crate::{Closed, Conn, DatagramMeta, Handler, Nanos, Net, Udp};

/// Puts TLS under `H`: under the connections of listeners that have an [`Identity`], and under those begun by
/// [`Net::connect_tls`]. All others pass through at the cost of a branch.
///
/// To the handler, such a connection is one of plaintext. It hears of an accepted one when the handshake is complete, for
/// which a client has ten seconds. The end of a connection is [`Closed::ByPeer`] if the peer has said so inside TLS
/// (`close_notify`), and [`Failure::Truncated`] otherwise: whether that matters is the handler's to know.
pub struct Secure<H> {
    handler: H,
    layer: Layer,
}

impl<H> Secure<H> {
    /// A client's side; whatever is accepted stays in clear text.
    pub fn new(handler: H) -> Self {
        Self::serving(handler, Vec::new())
    }

    /// Both sides: listener *i* has `identities[i]`, or speaks clear text without.
    pub fn serving(handler: H, identities: Vec<Option<Arc<Identity>>>) -> Self {
        Self { handler, layer: Layer::new(identities) }
    }

    /// What is above.
    pub const fn handler(&self) -> &H {
        &self.handler
    }

    /// As [`Secure::handler`].
    pub const fn handler_mut(&mut self) -> &mut H {
        &mut self.handler
    }

    /// What was above, when the loop has ended.
    pub fn into_inner(self) -> H {
        self.handler
    }
}

impl<H: Handler> Secure<H> {
    /// The loop as the handler sees it.
    #[inline]
    fn above<'a, N: Net>(&'a mut self, net: &'a mut N) -> (&'a mut H, Over<'a, N>) {
        (&mut self.handler, Over { net, layer: &mut self.layer })
    }

    /// What is none of TLS' business but may queue something.
    #[inline]
    fn pass<N: Net>(&mut self, net: &mut N, call: impl FnOnce(&mut H, &mut Over<'_, N>)) {
        call(&mut self.handler, &mut Over { net, layer: &mut self.layer });
        self.layer.pump(net);
    }

    /// Reads what arrived on a connection with TLS.
    fn read<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        let mut buffer = std::mem::take(&mut self.layer.buffer);
        buffer.clear();
        if let Some(session) = self.layer.session_mut(conn) {
            session.join(data, &mut buffer);
        }
        let mut at = 0;
        while let Some((session, cipher)) = self.layer.at_work(conn)
            && !session.leaving
        {
            let (plain, read, news) = session.read(&mut buffer, at, cipher);
            at = read;
            if news == News::Nothing {
                session.keep(&buffer[at..]);
            }
            self.layer.hand_over(net, conn);
            if !plain.is_empty() {
                let (handler, mut over) = self.above(net);
                handler.received(&mut over, conn, &buffer[plain]);
            }
            match news {
                News::Nothing | News::Early => break,
                News::Ready => self.ready(net, conn),
                News::Closed => self.end(net, conn, Closed::ByPeer),
                News::Failed(failure) => self.end(net, conn, Closed::Failed(failure.into())),
            }
        }
        self.layer.buffer = buffer;
    }

    /// The handshake is complete: the handler hears of the connection, and of what has come with its end.
    fn ready<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let Some(session) = self.layer.session_mut(conn) else { return };
        let (first, closed, listener) = (std::mem::take(&mut session.first), session.closed, session.listener);
        session.known = true;
        self.layer.mark_dirty(conn);
        let (is_client, is_early) =
            self.layer.session(conn).map_or((false, false), |session| (session.peer.is_some(), session.early));
        let (handler, mut over) = self.above(net);
        match (is_client, is_early) {
            (false, _) => handler.accepted(&mut over, conn, listener),
            (true, false) => handler.connected(&mut over, conn),
            // It has heard already.
            (true, true) => {}
        }
        if !first.is_empty() && self.is_open(conn) {
            let (handler, mut over) = self.above(net);
            handler.received(&mut over, conn, &first);
        }
        if closed {
            self.end(net, conn, Closed::ByPeer);
        }
    }

    /// Whether the handler knows `conn` and has not left it.
    fn is_open(&self, conn: Conn) -> bool {
        self.layer.session(conn).is_some_and(|session| session.known && !session.leaving)
    }

    /// The peer has ended `conn` inside TLS, or broken it; TCP is still there.
    fn end<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        let Some(session) = self.layer.session_mut(conn) else { return };
        if session.leaving {
            return;
        }
        session.leaving = true;
        let (known, failed) = (session.known, matches!(why, Closed::Failed(_)));
        if known {
            let (handler, mut over) = self.above(net);
            handler.closed(&mut over, conn, why);
        }
        if failed {
            self.layer.remove(conn);
            net.close(conn, true);
        } else {
            self.layer.leave(net, conn);
        }
    }

    /// Begins the handshake.
    fn shake<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let Some((session, cipher)) = self.layer.at_work(conn) else { return };
        let Some(peer) = &session.peer else { return };
        let news = match Handshake::client(peer) {
            Ok(handshake) => {
                session.stage = Stage::Shaking(handshake);
                session.shake(&mut [], cipher).1
            }
            Err(error) => News::Failed(Failure::Handshake { why: error.to_string() }),
        };
        match news {
            News::Failed(failure) => {
                self.layer.hand_over(net, conn);
                self.end(net, conn, Closed::Failed(failure.into()));
            }
            News::Early => {
                // Both leave together, what the handler has to say behind the first message.
                let hello = std::mem::take(&mut self.layer.cipher);
                let (handler, mut over) = self.above(net);
                handler.connected(&mut over, conn);
                self.layer.cipher = hello;
                if let Some((session, cipher)) = self.layer.at_work(conn) {
                    session.write_early(cipher);
                }
                self.layer.hand_over(net, conn);
            }
            News::Nothing | News::Ready | News::Closed => self.layer.hand_over(net, conn),
        }
    }
}

impl<H: Handler> Handler for Secure<H> {
    fn started<N: Net>(&mut self, net: &mut N) {
        self.pass(net, |handler, over| handler.started(over));
    }

    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, listener: usize) {
        let identity = self.layer.identities.get(listener).and_then(Option::as_deref);
        match identity.map(Handshake::server) {
            None => self.pass(net, |handler, over| handler.accepted(over, conn, listener)),
            Some(Ok(handshake)) => {
                self.layer.insert(Session::new(conn, Stage::Shaking(handshake), None, listener));
                self.layer.be_patient(net, conn);
            }
            Some(Err(_)) => net.close(conn, false),
        }
    }

    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        if self.layer.session(conn).is_some() {
            self.shake(net, conn);
            self.layer.pump(net);
        } else {
            self.pass(net, |handler, over| handler.connected(over, conn));
        }
    }

    #[inline]
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        if self.layer.session(conn).is_some() {
            self.read(net, conn, data);
            self.layer.pump(net);
        } else {
            self.pass(net, |handler, over| handler.received(over, conn, data));
        }
    }

    fn discarded<N: Net>(&mut self, net: &mut N, conn: Conn, bytes: u64) {
        self.pass(net, |handler, over| handler.discarded(over, conn, bytes));
    }

    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let secured = self.layer.session(conn).is_some();
        if !secured || self.layer.relieved(net, conn) && self.is_open(conn) {
            let (handler, mut over) = self.above(net);
            handler.flushed(&mut over, conn);
        }
        self.layer.pump(net);
    }

    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        let mut why = why;
        let mut told = true;
        if let Some(session) = self.layer.session_mut(conn) {
            told = session.known && !session.leaving;
            session.leaving = true;
            if let (Closed::ByPeer, Some(failure)) = (&why, session.cut()) {
                why = Closed::Failed(failure.into());
            }
        }
        if told {
            let (handler, mut over) = self.above(net);
            handler.closed(&mut over, conn, why);
        }
        self.layer.remove(conn);
        self.layer.pump(net);
    }

    #[inline]
    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        self.pass(net, |handler, over| handler.stream_received(over, conn, stream, data, end));
    }

    fn stream_reset<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, code: u64) {
        self.pass(net, |handler, over| handler.stream_reset(over, conn, stream, code));
    }

    fn stream_stopped<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, code: u64) {
        self.pass(net, |handler, over| handler.stream_stopped(over, conn, stream, code));
    }

    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        self.pass(net, |handler, over| handler.stream_writable(over, conn, stream));
    }

    fn streams_available<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.pass(net, |handler, over| handler.streams_available(over, conn));
    }

    #[inline]
    fn datagrams<N: Net>(&mut self, net: &mut N, udp: Udp, meta: &DatagramMeta, data: &[u8]) {
        self.pass(net, |handler, over| handler.datagrams(over, udp, meta, data));
    }

    fn datagrams_writable<N: Net>(&mut self, net: &mut N, udp: Udp) {
        self.pass(net, |handler, over| handler.datagrams_writable(over, udp));
    }

    fn datagrams_failed<N: Net>(&mut self, net: &mut N, udp: Udp, error: io::Error) {
        self.pass(net, |handler, over| handler.datagrams_failed(over, udp, error));
    }

    fn timer<N: Net>(&mut self, net: &mut N) {
        let now = Nanos::now();
        if self.layer.take_due(now) {
            let (handler, mut over) = self.above(net);
            handler.timer(&mut over);
        }
        self.layer.expire(net, now);
        self.layer.pump(net);
    }

    fn stopping<N: Net>(&mut self, net: &mut N) {
        self.pass(net, |handler, over| handler.stopping(over));
    }

    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        self.pass(net, |handler, over| handler.turn_ended(over));
    }
}
