//! The interface between an event loop and the protocol above it.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use crate::quic::{Piece, Stream, StreamKind};
use crate::tls::{Peer, Security, WireBytes};
use crate::{DatagramMeta, Datagrams, Nanos, Stats, TcpInfo, Udp};

/// One connection of one loop. Never reused: a slot's next tenant has another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conn {
    /// Dense index, below twice the loop's `max_connections`: fit for indexing an array of per-connection state.
    pub slot: u32,
    /// Tells the tenants of one slot apart.
    pub generation: u32,
}

/// Why a connection ended.
#[derive(Debug)]
pub enum Closed {
    /// The peer sent FIN; bytes that it sent before have been delivered.
    ByPeer,
    /// The kernel reported an error: reset, refused, unreachable, timed out.
    Failed(io::Error),
}

/// What a [`Handler`] may ask of its loop. Nothing here blocks.
pub trait Net {
    /// The clock as read when this batch of events was taken from the kernel.
    fn turn_time(&self) -> Nanos;

    /// What the loop has counted so far.
    fn stats(&self) -> &Stats;

    /// Starts to connect; [`Handler::connected`] or [`Handler::closed`] follows, never from inside this call.
    ///
    /// `from` is the address that the connection comes from, with a port of the kernel's choice; without it the kernel
    /// chooses both. One source address serves one target up to the number of ephemeral ports
    /// (`/proc/sys/net/ipv4/ip_local_port_range`); several go beyond.
    ///
    /// Fails only for want of a slot or a descriptor, or if `from` is no address of this machine or of another family
    /// than `to`; what the network has to say comes as [`Handler::closed`].
    fn connect(&mut self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Conn>;

    /// As [`Net::connect`], with TLS on top: [`Handler::connected`] comes when the handshake is complete,
    /// [`Handler::closed`] with a [`crate::tls::Failure`] if it fails. Bytes are then those inside TLS.
    ///
    /// Fails where no layer of TLS is around the handler ([`crate::tls::Secure`]).
    fn connect_tls(&mut self, to: SocketAddr, from: Option<IpAddr>, peer: &Arc<Peer>) -> io::Result<Conn> {
        let _ = (to, from, peer);
        Err(io::Error::new(io::ErrorKind::Unsupported, "this loop has no TLS"))
    }

    /// What was negotiated for `conn`; `None` in clear text, before the end of the handshake, and if `conn` is void.
    fn security(&self, conn: Conn) -> Option<&Security> {
        let _ = conn;
        None
    }

    /// What the transport has carried for `conn`, also inside [`Handler::closed`]; `None` in clear text, where what was
    /// received is what came.
    fn wire(&self, conn: Conn) -> Option<WireBytes> {
        let _ = conn;
        None
    }

    /// Queues a copy of `bytes`; nothing happens if `conn` is void. Output keeps its order; it leaves at the latest when the handler has seen the batch.
    fn send(&mut self, conn: Conn, bytes: &[u8]);

    /// Queues bytes that live as long as the process, without a copy.
    fn send_static(&mut self, conn: Conn, bytes: &'static [u8]);

    /// Bytes queued on `conn` that the kernel has not taken yet: the handler's means to push back.
    fn queued(&self, conn: Conn) -> usize;

    /// Throws away the next `bytes` bytes of `conn`'s input, in the kernel and without copying them here where that is
    /// worth it; nothing happens if `conn` is void, or while an earlier call is not fulfilled.
    ///
    /// The bytes meant are those behind what has been delivered: in a call from [`Handler::received`], behind the data of
    /// that call. Until so many have passed, each arrives either through [`Handler::received`] or in the count of [`Handler::discarded`]: the handler adds both up, and
    /// the last such piece of data may go on with what lies behind. From there on all input arrives as ever. A connection
    /// that ends meanwhile has been counted to its end when [`Handler::closed`] is called.
    fn discard(&mut self, conn: Conn, bytes: u64) {
        let _ = (conn, bytes);
    }

    /// What the kernel counts of `conn`, now. Also inside [`Handler::closed`], for the connection that has just ended; `None`
    /// if `conn` is void otherwise, or if the kernel does not tell. Costs a system call, and two more the first time where
    /// the socket has no descriptor.
    fn tcp_info(&mut self, conn: Conn) -> Option<TcpInfo> {
        let _ = conn;
        None
    }

    /// Says with a FIN that no more output comes, while input goes on; what is queued then never leaves, so it is to be called
    /// when [`Net::queued`] tells of nothing. Costs a system call, and two more where [`Net::tcp_info`] was not asked before and
    /// the socket has no descriptor.
    fn finish(&mut self, conn: Conn) {
        let _ = conn;
    }

    /// Reads nothing more from `conn`, ever: the kernel keeps what arrives until the peer may send no more.
    /// [`Handler::closed`] is called when the peer ends or resets the connection, what it sent before being lost. For
    /// servers that have to misbehave.
    fn pause(&mut self, conn: Conn) {
        let _ = conn;
    }

    /// Closes at once, after what is queued has been handed to the kernel if `flush`. [`Handler::closed`] is not called
    /// for a close that the handler asked for, and nothing more is delivered for `conn`.
    fn close(&mut self, conn: Conn, flush: bool);

    /// Ends `conn` at once with a reset instead of a FIN; what is queued is lost, and [`Handler::closed`] is not called.
    /// For servers that have to misbehave.
    fn reset(&mut self, conn: Conn) {
        self.close(conn, false);
    }

    /// As [`Net::connect`], by QUIC: [`Handler::connected`] follows when the handshake is complete, [`Handler::closed`] with a
    /// [`crate::tls::Failure`] if it fails. Such a connection has streams; [`Net::send`] means nothing to it.
    ///
    /// Fails where no layer of QUIC is around the handler ([`crate::quic::Quic`]).
    fn connect_quic(&mut self, to: SocketAddr, from: Option<IpAddr>, peer: &Arc<Peer>) -> io::Result<Conn> {
        let _ = (to, from, peer);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Opens a stream; `None` if the peer allows no more now ([`Handler::streams_available`] follows), or `conn` is void. The
    /// peer hears of it with its first bytes.
    fn open_stream(&mut self, conn: Conn, kind: StreamKind) -> Option<Stream> {
        let _ = (conn, kind);
        None
    }

    /// Queues the first of these bytes: as many as flow control and memory allow. Returns their number; if it is less than all,
    /// [`Handler::stream_writable`] follows, unless the stream is over. `end`: the last byte is the stream's last; it counts
    /// only if all bytes were taken. They leave at the latest when the handler has seen the batch.
    fn send_on(&mut self, conn: Conn, stream: Stream, piece: Piece<'_>, end: bool) -> usize {
        let _ = (conn, stream, piece, end);
        0
    }

    /// Wants no more of what the peer sends on `stream`; nothing more of it is delivered.
    fn stop_stream(&mut self, conn: Conn, stream: Stream, code: u64) {
        let _ = (conn, stream, code);
    }

    /// Reads nothing more of what the peer sends on `stream`, ever, so that it may send no more than its window: for servers
    /// that have to misbehave. What has been read already still arrives.
    fn hold_stream(&mut self, conn: Conn, stream: Stream) {
        let _ = (conn, stream);
    }

    /// Breaks off what was being sent on `stream`.
    fn reset_stream(&mut self, conn: Conn, stream: Stream, code: u64) {
        let _ = (conn, stream, code);
    }

    /// Ends a QUIC connection at once, with a code of the protocol above and a reason for the peer's log.
    /// [`Handler::closed`] is not called. [`Net::close`] does the same with HTTP/3's code for "no error", and [`Net::reset`]
    /// ends it without a word.
    fn close_quic(&mut self, conn: Conn, code: u64, reason: &[u8]) {
        let _ = (conn, code, reason);
    }

    /// Takes a UDP socket, bound and connected as it is, and sets what QUIC wants of it: large buffers, coalesced
    /// receives, marks, no fragments. [`Handler::datagrams`] follows.
    fn adopt_udp(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        drop(socket);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Hands datagrams to the kernel at once. `WouldBlock`: it takes none now, and [`Handler::datagrams_writable`] follows.
    /// Any other error concerns these datagrams or earlier ones (`ConnectionRefused`); the socket goes on.
    fn send_datagrams(&mut self, udp: Udp, datagrams: &Datagrams<'_>) -> io::Result<()> {
        let _ = (udp, datagrams);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Closes the socket; nothing more is delivered for it.
    fn drop_udp(&mut self, udp: Udp) {
        let _ = udp;
    }

    /// Sets the loop's one timer (`None` clears it). [`Handler::timer`] fires once, not before `at`, with microsecond
    /// precision; timers in order are the handler's business.
    fn set_timer(&mut self, at: Option<Nanos>);

    /// Ends the loop after this batch.
    fn stop(&mut self);
}

/// A protocol on top of a loop. A stale [`Conn`] never arrives.
pub trait Handler {
    /// The loop is about to take its first batch: the place to connect from and to set the timer.
    fn started<N: Net>(&mut self, net: &mut N) {
        let _ = net;
    }

    /// A listener of this loop took a connection; `listener` counts those that [`crate::run`] was given.
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, listener: usize);

    /// A connection begun by [`Net::connect`] is established.
    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn);

    /// Bytes arrived; `data` is the loop's buffer and gone after the call.
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]);

    /// The kernel threw away `bytes` bytes of input, as asked by [`Net::discard`]; more than zero, and together with what
    /// arrived through [`Handler::received`] never more than was asked for.
    fn discarded<N: Net>(&mut self, net: &mut N, conn: Conn, bytes: u64) {
        let _ = (net, conn, bytes);
    }

    /// Everything queued on `conn` has been handed to the kernel. Certain to come after a send that did not fit at
    /// once, and after [`Net::queued`] told of bytes still waiting; may come at other times.
    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn);

    /// The connection ended (or never came about) and `conn` is void.
    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed);

    /// Bytes arrived on a stream of a QUIC connection, in order; `end`: no more come. The first bytes are also how a stream that
    /// the peer opened makes itself known.
    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        let _ = (net, conn, stream, data, end);
    }

    /// The peer broke off what it was sending on `stream`; nothing more of it arrives.
    fn stream_reset<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, code: u64) {
        let _ = (net, conn, stream, code);
    }

    /// The peer wants no more of what is sent on `stream`, which has been reset with the same code.
    fn stream_stopped<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, code: u64) {
        let _ = (net, conn, stream, code);
    }

    /// A stream that did not take all bytes takes some again.
    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        let _ = (net, conn, stream);
    }

    /// The peer allows more streams than before.
    fn streams_available<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let _ = (net, conn);
    }

    /// Datagrams arrived, one after the other in `data`, which is the loop's buffer and gone after the call.
    fn datagrams<N: Net>(&mut self, net: &mut N, udp: Udp, meta: &DatagramMeta, data: &[u8]) {
        let _ = (net, udp, meta, data);
    }

    /// After a send that would have blocked the kernel takes datagrams again.
    fn datagrams_writable<N: Net>(&mut self, net: &mut N, udp: Udp) {
        let _ = (net, udp);
    }

    /// The kernel reports an error of `udp`, such as a peer that is not there (`ConnectionRefused`). The socket goes on.
    fn datagrams_failed<N: Net>(&mut self, net: &mut N, udp: Udp, error: io::Error) {
        let _ = (net, udp, error);
    }

    /// The timer set by [`Net::set_timer`] is due.
    fn timer<N: Net>(&mut self, net: &mut N);

    /// The loop is about to end, with all its connections: the place for farewells. What is handed to QUIC or to UDP here still
    /// leaves once; for the rest that is not certain.
    fn stopping<N: Net>(&mut self, net: &mut N) {
        let _ = net;
    }

    /// All events of this batch have been delivered; what was queued leaves after this call.
    fn turn_ended<N: Net>(&mut self, net: &mut N);
}
