//! What the layer keeps of a socket.

use std::net::{IpAddr, SocketAddr};

use quinn_proto::{EcnCodepoint, Transmit};

use crate::{Conn, Datagrams, Ecn, Udp};

pub(super) struct Port {
    pub udp: Udp,
    /// The one connection of a client's socket.
    pub client: Option<Conn>,
    /// What the kernel did not take.
    pub stalled: Option<Stalled>,
    /// Connections that have more to send once it does.
    pub waiting: Vec<Conn>,
}

/// Datagrams that wait for room in the kernel.
pub(super) struct Stalled {
    to: SocketAddr,
    from: Option<IpAddr>,
    ecn: Option<Ecn>,
    segment_bytes: usize,
    bytes: Vec<u8>,
}

impl Port {
    pub const fn new(udp: Udp, client: Option<Conn>) -> Self {
        Self { udp, client, stalled: None, waiting: Vec::new() }
    }
}

impl Stalled {
    pub fn new(datagrams: &Datagrams<'_>) -> Self {
        let Datagrams { to, from, ecn, segment_bytes, bytes } = *datagrams;
        Self { to, from, ecn, segment_bytes, bytes: bytes.to_vec() }
    }

    pub fn datagrams(&self) -> Datagrams<'_> {
        let Self { to, from, ecn, segment_bytes, bytes } = self;
        Datagrams { to: *to, from: *from, ecn: *ecn, segment_bytes: *segment_bytes, bytes }
    }
}

/// The datagrams of `transmit`, which stand in `bytes`.
pub(super) fn datagrams<'a>(transmit: &Transmit, bytes: &'a [u8]) -> Datagrams<'a> {
    Datagrams {
        to: transmit.destination,
        from: transmit.src_ip,
        ecn: transmit.ecn.and_then(|mark| Ecn::from_bits(mark as u8)),
        segment_bytes: transmit.segment_size.unwrap_or(0),
        bytes: &bytes[..transmit.size],
    }
}

/// `quinn-proto`'s word for a mark.
pub(super) fn codepoint(ecn: Option<Ecn>) -> Option<EcnCodepoint> {
    EcnCodepoint::from_bits(ecn?.bits())
}
