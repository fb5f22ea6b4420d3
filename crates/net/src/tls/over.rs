//! What a handler above TLS may ask of its loop.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use super::layer::Layer;
use super::session::{End, Session, Stage};
use super::{Peer, Security, WireBytes};
use crate::quic::{Piece, Stream, StreamKind};
use crate::{Conn, Datagrams, Nanos, Net, Stats, TcpInfo, Udp};

/// A loop with TLS in between; connections without pass through.
pub(super) struct Over<'a, N> {
    pub net: &'a mut N,
    pub layer: &'a mut Layer,
}

impl<N: Net> Over<'_, N> {
    /// The session of a connection that its handler has not left.
    #[inline]
    fn session(&mut self, conn: Conn) -> Option<&mut Session> {
        self.layer.session_mut(conn)
    }
}

impl<N: Net> Net for Over<'_, N> {
    #[inline]
    fn turn_time(&self) -> Nanos {
        self.net.turn_time()
    }

    fn stats(&self) -> &Stats {
        self.net.stats()
    }

    fn connect(&mut self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Conn> {
        self.net.connect(to, from)
    }

    fn connect_tls(&mut self, to: SocketAddr, from: Option<IpAddr>, peer: &Arc<Peer>) -> io::Result<Conn> {
        let conn = self.net.connect(to, from)?;
        self.layer.insert(Session::new(conn, Stage::Connecting, Some(Arc::clone(peer)), 0));
        Ok(conn)
    }

    fn security(&self, conn: Conn) -> Option<&Security> {
        match self.layer.session(conn) {
            Some(session) => session.security.as_ref(),
            None => self.net.security(conn),
        }
    }

    fn wire(&self, conn: Conn) -> Option<WireBytes> {
        match self.layer.session(conn) {
            Some(session) => Some(session.wire),
            None => self.net.wire(conn),
        }
    }

    #[inline]
    fn send(&mut self, conn: Conn, bytes: &[u8]) {
        match self.session(conn) {
            None => self.net.send(conn, bytes),
            Some(session) if session.leaving => {}
            Some(session) => {
                session.out.push(bytes);
                self.layer.mark_dirty(conn);
            }
        }
    }

    #[inline]
    fn send_static(&mut self, conn: Conn, bytes: &'static [u8]) {
        match self.session(conn) {
            None => self.net.send_static(conn, bytes),
            Some(session) if session.leaving => {}
            Some(session) => {
                session.out.push_static(bytes);
                self.layer.mark_dirty(conn);
            }
        }
    }

    #[inline]
    fn queued(&self, conn: Conn) -> usize {
        let below = self.net.queued(conn);
        match self.layer.session(conn) {
            None => below,
            Some(session) => session.queued(below),
        }
    }

    fn discard(&mut self, conn: Conn, bytes: u64) {
        // The kernel can't tell how much ciphertext a plaintext is: all of it arrives.
        if self.session(conn).is_none() {
            self.net.discard(conn, bytes);
        }
    }

    fn tcp_info(&mut self, conn: Conn) -> Option<TcpInfo> {
        self.net.tcp_info(conn)
    }

    fn finish(&mut self, conn: Conn) {
        match self.session(conn) {
            None => self.net.finish(conn),
            Some(session) if session.end == End::Open && !session.leaving => {
                session.end = End::Asked;
                self.layer.mark_dirty(conn);
            }
            Some(_) => {}
        }
    }

    fn pause(&mut self, conn: Conn) {
        if let Some(session) = self.session(conn) {
            session.paused = true;
        }
        self.net.pause(conn);
    }

    fn close(&mut self, conn: Conn, flush: bool) {
        let Some(session) = self.session(conn) else { return self.net.close(conn, flush) };
        if session.leaving {
            return;
        }
        let (opened, empty) = (matches!(session.stage, Stage::Open(_)), session.out.is_empty());
        if opened && flush {
            self.layer.leave(self.net, conn);
        } else if opened && empty && self.net.queued(conn) == 0 {
            self.layer.depart(self.net, conn);
        } else {
            self.layer.remove(conn);
            self.net.close(conn, false);
        }
    }

    fn reset(&mut self, conn: Conn) {
        if self.session(conn).is_some_and(|session| session.leaving) {
            return;
        }
        self.layer.remove(conn);
        self.net.reset(conn);
    }

    fn connect_quic(&mut self, to: SocketAddr, from: Option<IpAddr>, peer: &Arc<Peer>) -> io::Result<Conn> {
        self.net.connect_quic(to, from, peer)
    }

    fn open_stream(&mut self, conn: Conn, kind: StreamKind) -> Option<Stream> {
        self.net.open_stream(conn, kind)
    }

    #[inline]
    fn send_on(&mut self, conn: Conn, stream: Stream, piece: Piece<'_>, end: bool) -> usize {
        self.net.send_on(conn, stream, piece, end)
    }

    fn stop_stream(&mut self, conn: Conn, stream: Stream, code: u64) {
        self.net.stop_stream(conn, stream, code);
    }

    fn hold_stream(&mut self, conn: Conn, stream: Stream) {
        self.net.hold_stream(conn, stream);
    }

    fn reset_stream(&mut self, conn: Conn, stream: Stream, code: u64) {
        self.net.reset_stream(conn, stream, code);
    }

    fn close_quic(&mut self, conn: Conn, code: u64, reason: &[u8]) {
        self.net.close_quic(conn, code, reason);
    }

    fn adopt_udp(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        self.net.adopt_udp(socket)
    }

    #[inline]
    fn send_datagrams(&mut self, udp: Udp, datagrams: &Datagrams<'_>) -> io::Result<()> {
        self.net.send_datagrams(udp, datagrams)
    }

    fn drop_udp(&mut self, udp: Udp) {
        self.net.drop_udp(udp);
    }

    fn set_timer(&mut self, at: Option<Nanos>) {
        self.layer.set_timer(self.net, at);
    }

    fn stop(&mut self) {
        self.net.stop();
    }
}
