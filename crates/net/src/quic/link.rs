//! The state of one connection.

use std::net::SocketAddr;
use std::sync::Arc;

use quinn_proto::{Connection, ConnectionHandle, StreamId};

use super::failure::Partner;
use super::session::Facts;
use super::timers::Armed;
use crate::Udp;
use crate::tls::{Peer, Security, WireBytes};

/// What the handler knows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Begun here: it knows the connection, which is not established.
    Connecting,
    /// Begun by a client: it does not know the connection yet.
    Arriving,
    /// It has been told that the connection is established.
    Open,
}

pub(super) struct Link {
    pub quic: Connection,
    pub handle: ConnectionHandle,
    pub udp: Udp,
    pub phase: Phase,
    /// Whom a client asked for; none on the server's side.
    pub peer: Option<Arc<Peer>>,
    pub security: Option<Security>,
    pub wire: WireBytes,
    pub armed: Armed,
    /// Streams that nothing more is read of.
    pub held: Vec<StreamId>,
    /// Waits in `Core::dirty`.
    pub dirty: bool,
    /// Waits in `Core::touched`.
    pub touched: bool,
}

impl Link {
    pub fn new(quic: Connection, handle: ConnectionHandle, udp: Udp, peer: Option<Arc<Peer>>) -> Self {
        let phase = if peer.is_some() { Phase::Connecting } else { Phase::Arriving };
        Self {
            quic,
            handle,
            udp,
            phase,
            peer,
            security: None,
            wire: WireBytes::default(),
            armed: Armed::default(),
            held: Vec::new(),
            dirty: false,
            touched: false,
        }
    }

    pub fn facts(&self) -> Option<Facts> {
        self.quic.crypto_session().handshake_data()?.downcast().ok().map(|facts| *facts)
    }

    /// Calls `tell` with what messages say of this connection.
    pub fn partner<T>(&self, tell: impl FnOnce(&Partner<'_>) -> T) -> T {
        let address: SocketAddr = self.quic.remote_address();
        let name = self.peer.as_ref().map(|peer| peer.name().to_str());
        let asked = self.peer.as_ref().map_or(&[][..], |peer| peer.protocols());
        let handshaking = self.security.is_none();
        tell(&Partner { address, name: name.as_deref().unwrap_or("the client"), asked, handshaking })
    }
}
