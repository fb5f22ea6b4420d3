//! From the kernel to connections, and from connections to what the handler gets.

use bytes::Bytes;
use quinn_proto::{DatagramEvent, Incoming, ReadError, StreamId, VarInt};

use super::core::Core;
use super::port::codepoint;
use super::{Stream, StreamKind};
use crate::{Conn, DatagramMeta, Net, Udp};

/// Handshakes under way from which on a client has to prove its address first: what others could make of a server with
/// addresses that are not theirs stays bounded.
const UNPROVEN_HANDSHAKES: usize = 1024;

/// How a stream stands after reading.
pub(super) enum Ending {
    /// More may come.
    None,
    /// That was all.
    End,
    /// The peer broke it off.
    Reset(u64),
}

impl Core {
    /// Hands datagrams to the connections that they are for.
    pub fn arrive<N: Net>(&mut self, net: &mut N, udp: Udp, meta: &DatagramMeta, data: &[u8]) {
        self.arena.extend_from_slice(data);
        let mut rest = self.arena.split();
        let mut reply = std::mem::take(&mut self.out);
        let (from, local_ip, ecn) = (meta.from, meta.local_ip, codepoint(meta.ecn));
        while !rest.is_empty() {
            let bytes = rest.len().min(meta.segment_bytes);
            let datagram = rest.split_to(bytes);
            reply.clear();
            match self.endpoint.handle(self.instant, from, local_ip, ecn, datagram, &mut reply) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(conn) = self.conn_of(handle)
                        && let Some(link) = self.link_mut(conn)
                    {
                        link.wire.received += bytes as u64;
                        link.quic.handle_event(event);
                        self.touch(conn);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    if let Some(conn) = self.welcome(net, udp, incoming, &mut reply)
                        && let Some(link) = self.link_mut(conn)
                    {
                        link.wire.received += bytes as u64;
                    }
                }
                Some(DatagramEvent::Response(transmit)) => Self::respond(net, udp, &transmit, &reply),
                None => {}
            }
        }
        self.out = reply;
    }

    /// Begins the server's side of a connection, or says why not.
    fn welcome<N: Net>(&mut self, net: &mut N, udp: Udp, incoming: Incoming, reply: &mut Vec<u8>) -> Option<Conn> {
        let response = if self.is_full() {
            Some(self.endpoint.refuse(incoming, reply))
        } else if self.arriving >= UNPROVEN_HANDSHAKES && !incoming.remote_address_validated() {
            self.endpoint.retry(incoming, reply).ok()
        } else {
            match self.endpoint.accept(incoming, self.instant, reply, None) {
                Ok((handle, quic)) => {
                    let conn = self.add_link(handle, quic, udp, None);
                    self.touch(conn);
                    return Some(conn);
                }
                Err(error) => error.response,
            }
        };
        if let Some(transmit) = response {
            Self::respond(net, udp, &transmit, reply);
        }
        None
    }

    /// The next stream of one kind that the peer has opened.
    pub fn next_opened(&mut self, conn: Conn, dir: quinn_proto::Dir) -> Option<StreamId> {
        self.link_mut(conn)?.quic.streams().accept(dir)
    }

    /// Moves what has arrived on a stream, in order, to the end of `chunks`.
    pub fn read(&mut self, conn: Conn, id: StreamId, chunks: &mut Vec<Bytes>) -> Ending {
        let Some(link) = self.link_mut(conn).filter(|link| !link.held.contains(&id)) else { return Ending::None };
        let mut stream = link.quic.recv_stream(id);
        // A stream that is over, or that nothing more is wanted of.
        let Ok(mut reading) = stream.read(true) else { return Ending::None };
        let ending = loop {
            match reading.next(usize::MAX) {
                Ok(Some(chunk)) => chunks.push(chunk.bytes),
                Ok(None) => break Ending::End,
                Err(ReadError::Blocked) => break Ending::None,
                Err(ReadError::Reset(code)) => break Ending::Reset(code.into_inner()),
            }
        };
        // Whether to tell the peer of new room shows when the connection is driven, which follows in any case.
        let _ = reading.finalize();
        ending
    }

    /// The name of `stream`, if it can be one of `conn`'s that bytes are received on (`sending`: sent on).
    pub fn stream_id(&mut self, conn: Conn, stream: Stream, sending: bool) -> Option<StreamId> {
        let ours = self.link_mut(conn)?.quic.side().is_client() == stream.is_client_s();
        let goes = stream.kind() == StreamKind::Both || ours == sending;
        if goes { VarInt::from_u64(stream.0).ok().map(StreamId::from) } else { None }
    }
}
