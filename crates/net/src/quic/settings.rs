//! What a layer of QUIC is told before it starts, and what that means for the protocol.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{IdleTimeout, TransportConfig, VarInt};

use crate::socket::{self, KernelAddress};
use crate::{NetError, Options};

/// Streams of one direction that a peer may have open: HTTP/3 needs three, and some for what comes after it.
const ONE_WAY_STREAMS: u32 = 16;

/// Settings of one layer.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The first slot ([`crate::Conn::slot`]) of its connections: beyond those of TCP, which are below twice the loop's
    /// `max_connections`.
    pub first_slot: u32,
    /// Connections at once. Beyond it [`crate::Net::connect_quic`] fails, and clients are refused.
    pub most_connections: usize,
    /// Streams in both directions that a peer may have open at once; those that a client opens are no part of it.
    pub streams: u32,
    /// Bytes that may arrive on one stream before the handler has had them.
    pub stream_window: u32,
    /// Bytes that may arrive on all streams of a connection before the handler has had them.
    pub connection_window: u32,
    /// Bytes that may wait on a connection until the peer has acknowledged them.
    pub send_window: u32,
    /// A connection on which nothing arrives for so long is over; so is a handshake that nobody answers.
    pub idle: Duration,
}

impl Settings {
    /// For a loop with these options: as many connections as it has of TCP, in the slots behind those. Windows let one stream
    /// run at 10 Gbit/s over 1 ms, or at 100 Mbit/s over 160 ms.
    #[must_use]
    pub fn beside(options: &Options) -> Self {
        Self {
            first_slot: 2 * options.max_connections as u32,
            most_connections: options.max_connections,
            streams: 256,
            stream_window: 2 << 20,
            connection_window: 8 << 20,
            send_window: 8 << 20,
            idle: Duration::from_secs(30),
        }
    }

    /// For loopback and real links alike. What is not set here is quinn's choice, which is that of the standards: packets of
    /// 1,200 bytes that grow by probing up to 1,452, an initial window of ten packets, CUBIC.
    pub(super) fn transport(&self) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        let idle = IdleTimeout::try_from(self.idle).unwrap_or_else(|_| VarInt::from_u32(u32::MAX).into());
        transport
            .max_concurrent_bidi_streams(self.streams.into())
            .max_concurrent_uni_streams(ONE_WAY_STREAMS.into())
            .stream_receive_window(self.stream_window.into())
            .receive_window(self.connection_window.into())
            .send_window(self.send_window.into())
            .max_idle_timeout(Some(idle))
            .datagram_receive_buffer_size(None);
        Arc::new(transport)
    }
}

/// Opens a socket for a server of QUIC with `SO_REUSEPORT`, so that several loops share one address. Port 0 lets the kernel
/// choose.
pub fn listen(address: SocketAddr) -> Result<UdpSocket, NetError> {
    let wrap = |source| NetError::Listen { address, source };
    let socket = udp_socket(address).map_err(wrap)?;
    socket::set_flag(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEPORT).map_err(wrap)?;
    bind(&socket, address).map_err(wrap)?;
    Ok(socket.into())
}

fn udp_socket(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: no pointers; the result is checked before it becomes an owned descriptor.
    let raw = unsafe { libc::socket(family, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `raw` was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

fn bind(socket: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    let form = KernelAddress::from(address);
    // SAFETY: `form` holds `length` valid bytes.
    match unsafe { libc::bind(socket.as_raw_fd(), (&raw const form.storage).cast(), form.length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
