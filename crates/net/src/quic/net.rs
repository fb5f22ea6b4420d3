//! What the handler above may ask: of the loop, and of its QUIC connections.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use bytes::Bytes;
use quinn_proto::{Dir, VarInt, WriteError};

use super::core::Core;
use super::{Piece, Stream, StreamKind};
use crate::tls::{Peer, Security, WireBytes};
use crate::{Conn, Datagrams, Nanos, Net, Stats, TcpInfo, Udp};

/// `H3_NO_ERROR` (RFC 9114, 8.1).
pub(super) const NO_ERROR: u64 = 0x100;

/// The loop as seen from above a layer of QUIC.
pub struct QuicNet<'a, N> {
    pub(super) net: &'a mut N,
    pub(super) core: &'a mut Core,
}

impl<N: Net> Net for QuicNet<'_, N> {
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
        self.net.connect_tls(to, from, peer)
    }

    fn connect_quic(&mut self, to: SocketAddr, from: Option<IpAddr>, peer: &Arc<Peer>) -> io::Result<Conn> {
        self.core.connect(self.net, to, from, peer)
    }

    fn security(&self, conn: Conn) -> Option<&Security> {
        match self.core.link(conn) {
            Some(link) => link.security.as_ref(),
            None => self.net.security(conn),
        }
    }

    fn wire(&self, conn: Conn) -> Option<WireBytes> {
        self.core.link(conn).map(|link| link.wire).or_else(|| self.net.wire(conn))
    }

    #[inline]
    fn send(&mut self, conn: Conn, bytes: &[u8]) {
        self.net.send(conn, bytes);
    }

    #[inline]
    fn send_static(&mut self, conn: Conn, bytes: &'static [u8]) {
        self.net.send_static(conn, bytes);
    }

    #[inline]
    fn queued(&self, conn: Conn) -> usize {
        self.net.queued(conn)
    }

    fn discard(&mut self, conn: Conn, bytes: u64) {
        self.net.discard(conn, bytes);
    }

    fn tcp_info(&mut self, conn: Conn) -> Option<TcpInfo> {
        self.net.tcp_info(conn)
    }

    fn finish(&mut self, conn: Conn) {
        self.net.finish(conn);
    }

    fn pause(&mut self, conn: Conn) {
        self.net.pause(conn);
    }

    fn close(&mut self, conn: Conn, flush: bool) {
        if self.core.owns(conn) {
            self.core.close(self.net, conn, NO_ERROR, b"");
        } else {
            self.net.close(conn, flush);
        }
    }

    fn reset(&mut self, conn: Conn) {
        if self.core.owns(conn) {
            self.core.remove(self.net, conn);
        } else {
            self.net.reset(conn);
        }
    }

    fn open_stream(&mut self, conn: Conn, kind: StreamKind) -> Option<Stream> {
        let dir = match kind {
            StreamKind::Both => Dir::Bi,
            StreamKind::Sending => Dir::Uni,
        };
        self.core.link_mut(conn)?.quic.streams().open(dir).map(|id| Stream(id.into()))
    }

    fn send_on(&mut self, conn: Conn, stream: Stream, piece: Piece<'_>, end: bool) -> usize {
        let Some(id) = self.core.stream_id(conn, stream, true) else { return 0 };
        let Some(link) = self.core.link_mut(conn) else { return 0 };
        let mut sending = link.quic.send_stream(id);
        let (asked, mut taken) = (piece.bytes().len(), 0);
        // Only a refusal makes the stream one of those that wait for the connection's windows.
        while taken < asked {
            let written = match piece {
                Piece::Copied(bytes) => sending.write(&bytes[taken..]),
                Piece::Static(bytes) => {
                    sending.write_chunks(&mut [Bytes::from_static(&bytes[taken..])]).map(|done| done.bytes)
                }
            };
            match written {
                Ok(more) => taken += more,
                Err(WriteError::Blocked | WriteError::Stopped(_) | WriteError::ClosedStream) => break,
            }
        }
        if end && taken == asked {
            // Fails for a stream that is over already, or that the peer has stopped, which is told as such.
            let _ = sending.finish();
        }
        self.core.mark_dirty(conn);
        taken
    }

    fn stop_stream(&mut self, conn: Conn, stream: Stream, code: u64) {
        let Some(id) = self.core.stream_id(conn, stream, false) else { return };
        if self.core.reading == Some((conn, id)) {
            self.core.reading = None;
        }
        if let Some(link) = self.core.link_mut(conn) {
            // A stream that is over needs no stopping.
            let _ = link.quic.recv_stream(id).stop(VarInt::from_u64(code).unwrap_or(VarInt::MAX));
            self.core.mark_dirty(conn);
        }
    }

    fn hold_stream(&mut self, conn: Conn, stream: Stream) {
        if let Some(id) = self.core.stream_id(conn, stream, false)
            && let Some(link) = self.core.link_mut(conn)
            && !link.held.contains(&id)
        {
            link.held.push(id);
        }
    }

    fn reset_stream(&mut self, conn: Conn, stream: Stream, code: u64) {
        if let Some(id) = self.core.stream_id(conn, stream, true)
            && let Some(link) = self.core.link_mut(conn)
        {
            // A stream that is over can't be broken off.
            let _ = link.quic.send_stream(id).reset(VarInt::from_u64(code).unwrap_or(VarInt::MAX));
            self.core.mark_dirty(conn);
        }
    }

    fn close_quic(&mut self, conn: Conn, code: u64, reason: &[u8]) {
        self.core.close(self.net, conn, code, reason);
    }

    fn adopt_udp(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        self.net.adopt_udp(socket)
    }

    fn send_datagrams(&mut self, udp: Udp, datagrams: &Datagrams<'_>) -> io::Result<()> {
        self.net.send_datagrams(udp, datagrams)
    }

    fn drop_udp(&mut self, udp: Udp) {
        self.net.drop_udp(udp);
    }

    fn set_timer(&mut self, at: Option<Nanos>) {
        self.core.handler_timer = at;
    }

    fn stop(&mut self) {
        self.net.stop();
    }
}
