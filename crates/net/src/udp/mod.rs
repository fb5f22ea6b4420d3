//! Datagrams, for QUIC: batches in one system call (`UDP_SEGMENT`, `UDP_GRO`, `recvmmsg`), the same for both back ends,
//! which only have to say when a socket is readable or writable.
//!
//! Reference: udp(7), ip(7), RFC 9000 (13.4, 14).

mod control;
mod inbox;
mod port;
mod ports;

use std::net::{IpAddr, SocketAddr};

pub(crate) use port::Port;
pub(crate) use ports::{HasPorts, Ports, receive, writable};

/// One UDP socket of one loop. Never reused: a slot's next tenant has another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Udp {
    /// Dense index.
    pub slot: u32,
    /// Tells the tenants of one slot apart.
    pub generation: u32,
}

/// The mark for explicit congestion notification (RFC 3168, 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Able to take the mark: `ECT(0)`.
    Ect0,
    /// Able to take the mark: `ECT(1)`.
    Ect1,
    /// Congestion was met on the way.
    Ce,
}

impl Ecn {
    /// The two bits of the IP header.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Ect0 => 0b10,
            Self::Ect1 => 0b01,
            Self::Ce => 0b11,
        }
    }

    /// What the two lower bits of `bits` say; `None` for a packet that is not able to take a mark.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits & 0b11 {
            0b10 => Some(Self::Ect0),
            0b01 => Some(Self::Ect1),
            0b11 => Some(Self::Ce),
            _ => None,
        }
    }
}

/// Where datagrams came from and how they lie in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramMeta {
    /// The sender.
    pub from: SocketAddr,
    /// The address that they were sent to; `None` where the socket has only one, because it is connected.
    pub local_ip: Option<IpAddr>,
    /// The length of each datagram in the buffer, the last of which may be shorter.
    pub segment_bytes: usize,
    /// The mark of all of them.
    pub ecn: Option<Ecn>,
}

/// Datagrams to send, all to one peer.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams<'a> {
    /// The receiver; a connected socket sends to its peer instead.
    pub to: SocketAddr,
    /// The address to send from, where the socket has several.
    pub from: Option<IpAddr>,
    /// The mark of all of them.
    pub ecn: Option<Ecn>,
    /// The length of each datagram in `bytes`, the last of which may be shorter; 0 or more than there are bytes: all is one.
    pub segment_bytes: usize,
    /// One after the other; at most [`Datagrams::MOST_BYTES`] and [`Datagrams::MOST_SEGMENTS`].
    pub bytes: &'a [u8],
}

impl Datagrams<'_> {
    /// What one call takes: the largest UDP payload over IPv4.
    pub const MOST_BYTES: usize = 65_507;
    /// Datagrams that the kernel takes at once (`UDP_MAX_SEGMENTS` of the kernels before 6.10).
    pub const MOST_SEGMENTS: usize = 64;
}

#[cfg(test)]
mod tests {
    use super::Ecn;

    #[test]
    fn a_mark_survives_its_two_bits_and_foreign_bits_say_nothing() {
        for mark in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(Ecn::from_bits(mark.bits() | 0b1110_0000), Some(mark));
        }
        assert_eq!(Ecn::from_bits(0b1111_1100), None);
    }
}
