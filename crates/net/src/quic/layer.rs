//! The layer itself: a handler for the loop, a loop for the handler above.

use std::io;
use std::net::UdpSocket;

use quinn_proto::{Event, StreamEvent, StreamId};

use super::core::Core;
use super::link::Phase;
use super::net::{NO_ERROR, QuicNet};
use super::receiving::Ending;
use super::sending::is_final;
use super::{Settings, Stream};
use crate::tls::{Identity, TlsError};
use crate::{Closed, Conn, DatagramMeta, Handler, Nanos, Net, Udp};

/// Lets `H` have connections by QUIC beside those of TCP, which pass through.
pub struct Quic<H> {
    handler: H,
    core: Core,
    /// What the loop's timer was set to.
    armed: Option<Nanos>,
    failure: Option<io::Error>,
}

impl<H: Handler> Quic<H> {
    /// For a handler that connects.
    pub fn new(handler: H, settings: Settings) -> Self {
        Self { handler, core: Core::new(settings), armed: None, failure: None }
    }

    /// Takes clients as well: those that connect to `socket` ([`super::listen`]), as `identity`. [`Handler::accepted`] gets
    /// `listener` as their listener's index.
    pub fn listening(mut self, socket: UdpSocket, identity: &Identity, listener: usize) -> Result<Self, TlsError> {
        self.core.listen(socket, identity, listener)?;
        Ok(self)
    }

    /// Why the loop ended at once: it could not take the socket for clients.
    pub const fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The handler inside.
    pub const fn handler(&self) -> &H {
        &self.handler
    }

    /// The handler inside.
    pub const fn handler_mut(&mut self) -> &mut H {
        &mut self.handler
    }

    /// The handler inside, without its layer.
    pub fn into_inner(self) -> H {
        self.handler
    }

    /// Lets the handler know what arrived.
    fn settle<N: Net>(&mut self, net: &mut N) {
        let mut touched = std::mem::take(&mut self.core.touched);
        for conn in touched.drain(..) {
            if let Some(link) = self.core.link_mut(conn) {
                link.touched = false;
                self.tell(net, conn);
                self.core.mark_dirty(conn);
            }
        }
        // Nothing arrives from inside a call of the handler; the list only keeps its memory.
        self.core.touched = touched;
    }

    fn tell<N: Net>(&mut self, net: &mut N, conn: Conn) {
        while let Some(link) = self.core.link_mut(conn) {
            let Some(event) = link.quic.poll() else { return };
            match event {
                Event::Connected => self.established(net, conn),
                Event::ConnectionLost { reason } => return self.lost(net, conn, reason),
                Event::Stream(event) => {
                    if link.phase == Phase::Arriving {
                        self.established(net, conn);
                    }
                    self.stream_event(net, conn, &event);
                }
                Event::HandshakeDataReady | Event::DatagramReceived | Event::DatagramsUnblocked => {}
            }
        }
    }

    fn stream_event<N: Net>(&mut self, net: &mut N, conn: Conn, event: &StreamEvent) {
        match *event {
            StreamEvent::Opened { dir } => {
                while let Some(id) = self.core.next_opened(conn, dir) {
                    self.readable(net, conn, id);
                }
            }
            StreamEvent::Readable { id } => self.readable(net, conn, id),
            StreamEvent::Writable { id } => {
                self.handler.stream_writable(&mut QuicNet { net, core: &mut self.core }, conn, Stream(id.into()));
            }
            StreamEvent::Stopped { id, error_code } => {
                if let Some(link) = self.core.link_mut(conn) {
                    // RFC 9000, 3.5. It may be over already.
                    let _ = link.quic.send_stream(id).reset(error_code);
                }
                let (stream, code) = (Stream(id.into()), error_code.into_inner());
                self.handler.stream_stopped(&mut QuicNet { net, core: &mut self.core }, conn, stream, code);
            }
            StreamEvent::Available { .. } => {
                self.handler.streams_available(&mut QuicNet { net, core: &mut self.core }, conn);
            }
            StreamEvent::Finished { .. } => {}
        }
    }

    /// Hands over what has arrived on a stream, and its end with the last of it.
    fn readable<N: Net>(&mut self, net: &mut N, conn: Conn, id: StreamId) {
        let stream = Stream(id.into());
        let mut chunks = std::mem::take(&mut self.core.chunks);
        let ending = self.core.read(conn, id, &mut chunks);
        let ends = matches!(ending, Ending::End);
        let count = chunks.len();
        self.core.reading = Some((conn, id));
        for (index, chunk) in chunks.drain(..).enumerate() {
            // The handler may have stopped the stream or closed the connection meanwhile.
            if self.core.reading.is_some() && self.core.link(conn).is_some() {
                let net = &mut QuicNet { net: &mut *net, core: &mut self.core };
                self.handler.stream_received(net, conn, stream, &chunk, ends && index + 1 == count);
            }
        }
        self.core.chunks = chunks;
        if self.core.reading.take().is_none() || self.core.link(conn).is_none() {
            return;
        }
        let net = &mut QuicNet { net, core: &mut self.core };
        match ending {
            Ending::End if count == 0 => self.handler.stream_received(net, conn, stream, &[], true),
            Ending::Reset(code) => self.handler.stream_reset(net, conn, stream, code),
            Ending::End | Ending::None => {}
        }
    }

    /// The handshake is complete, or as complete as early data wants it.
    fn established<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let Some(link) = self.core.link_mut(conn) else { return };
        link.security = link.facts().and_then(|facts| facts.security);
        let refused = link.phase == Phase::Open && link.peer.is_some() && !link.quic.accepted_0rtt();
        let before = std::mem::replace(&mut link.phase, Phase::Open);
        let listener = self.core.listener;
        self.core.arriving -= usize::from(before == Phase::Arriving);
        match before {
            Phase::Arriving => self.handler.accepted(&mut QuicNet { net, core: &mut self.core }, conn, listener),
            Phase::Connecting => self.handler.connected(&mut QuicNet { net, core: &mut self.core }, conn),
            Phase::Open if refused => {
                let text = "the server did not take the early data: connect anew";
                self.core.failed.push_back((conn, io::Error::new(io::ErrorKind::ConnectionReset, text)));
            }
            Phase::Open => {}
        }
    }

    fn lost<N: Net>(&mut self, net: &mut N, conn: Conn, reason: quinn_proto::ConnectionError) {
        // Where the peer is at fault it is told so.
        self.core.drive(net, conn);
        let Some(link) = self.core.link(conn) else { return };
        let why = link.partner(|partner| partner.closed(reason, link.facts()));
        self.end(net, conn, why);
    }

    /// Forgets `conn`, and tells the handler if it knew of it.
    fn end<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        let Some(link) = self.core.link(conn) else { return };
        let known = link.phase != Phase::Arriving;
        self.core.remove(net, conn);
        if known {
            self.handler.closed(&mut QuicNet { net, core: &mut self.core }, conn, why);
        }
    }

    /// Sends what the turn has brought about.
    fn finish_turn<N: Net>(&mut self, net: &mut N) {
        for conn in std::mem::take(&mut self.core.early) {
            if let Some(link) = self.core.link_mut(conn).filter(|link| link.phase == Phase::Connecting) {
                link.phase = Phase::Open;
                self.handler.connected(&mut QuicNet { net, core: &mut self.core }, conn);
            }
        }
        // Bounded to what was there at first: a handler may answer a failure by failing again.
        for _ in 0..self.core.failed.len() {
            let Some((conn, error)) = self.core.failed.pop_front() else { break };
            if let Some(link) = self.core.link(conn) {
                let why = link.partner(|partner| partner.unreachable(&error));
                self.end(net, conn, why);
            }
        }
        let mut dirty = std::mem::take(&mut self.core.dirty);
        for conn in dirty.drain(..) {
            if let Some(link) = self.core.link_mut(conn) {
                link.dirty = false;
                self.core.drive(net, conn);
            }
        }
        // Driving makes nobody dirty; the list only keeps its memory.
        self.core.dirty = dirty;
        let wake_up = self.core.wake_up();
        if wake_up != self.armed {
            self.armed = wake_up;
            net.set_timer(wake_up);
        }
    }
}

impl<H: Handler> Handler for Quic<H> {
    fn started<N: Net>(&mut self, net: &mut N) {
        self.core.set_clock(net.turn_time());
        if let Some(socket) = self.core.unadopted.take() {
            match net.adopt_udp(socket) {
                Ok(udp) => self.core.add_port(udp, None),
                Err(error) => {
                    self.failure = Some(error);
                    return net.stop();
                }
            }
        }
        self.handler.started(&mut QuicNet { net, core: &mut self.core });
        self.finish_turn(net);
    }

    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, listener: usize) {
        self.handler.accepted(&mut QuicNet { net, core: &mut self.core }, conn, listener);
    }

    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.handler.connected(&mut QuicNet { net, core: &mut self.core }, conn);
    }

    #[inline]
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        self.handler.received(&mut QuicNet { net, core: &mut self.core }, conn, data);
    }

    fn discarded<N: Net>(&mut self, net: &mut N, conn: Conn, bytes: u64) {
        self.handler.discarded(&mut QuicNet { net, core: &mut self.core }, conn, bytes);
    }

    #[inline]
    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.handler.flushed(&mut QuicNet { net, core: &mut self.core }, conn);
    }

    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        self.handler.closed(&mut QuicNet { net, core: &mut self.core }, conn, why);
    }

    fn datagrams<N: Net>(&mut self, net: &mut N, udp: Udp, meta: &DatagramMeta, data: &[u8]) {
        self.core.set_clock(net.turn_time());
        if self.core.port_mut(udp).is_none() {
            return self.handler.datagrams(&mut QuicNet { net, core: &mut self.core }, udp, meta, data);
        }
        self.core.arrive(net, udp, meta, data);
        self.settle(net);
    }

    fn datagrams_writable<N: Net>(&mut self, net: &mut N, udp: Udp) {
        if self.core.port_mut(udp).is_none() {
            return self.handler.datagrams_writable(&mut QuicNet { net, core: &mut self.core }, udp);
        }
        self.core.resume(net, udp);
    }

    fn datagrams_failed<N: Net>(&mut self, net: &mut N, udp: Udp, error: io::Error) {
        let Some(port) = self.core.port_mut(udp) else {
            return self.handler.datagrams_failed(&mut QuicNet { net, core: &mut self.core }, udp, error);
        };
        if let Some(conn) = port.client
            && is_final(&error)
        {
            self.core.failed.push_back((conn, error));
        }
    }

    fn timer<N: Net>(&mut self, net: &mut N) {
        self.armed = None;
        let now = net.turn_time();
        self.core.set_clock(now);
        if self.core.handler_timer.is_some_and(|at| now >= at) {
            self.core.handler_timer = None;
            self.handler.timer(&mut QuicNet { net, core: &mut self.core });
        }
        self.core.run_timers();
        self.settle(net);
    }

    fn stopping<N: Net>(&mut self, net: &mut N) {
        self.core.set_clock(net.turn_time());
        self.handler.stopping(&mut QuicNet { net, core: &mut self.core });
        for conn in self.core.conns() {
            self.core.close(net, conn, NO_ERROR, b"this end stops");
        }
    }

    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        self.core.set_clock(net.turn_time());
        self.handler.turn_ended(&mut QuicNet { net, core: &mut self.core });
        self.finish_turn(net);
    }
}
