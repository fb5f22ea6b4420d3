//! What a driver is told about its target.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use photofinish_net::tls::Peer;

use crate::{Checker, Mix, Protocol};

/// What a server may send before it is given more, in bytes. Large, so that the windows never are what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// On one stream; at most 2^31 − 1.
    pub stream: u32,
    /// On all streams of a connection together; from 65,535 to 2^31 − 1.
    pub connection: u32,
}

impl Default for Windows {
    fn default() -> Self {
        Self { stream: 1 << 30, connection: 1 << 30 }
    }
}

/// One target and the way to load it.
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// What is spoken with it.
    pub protocol: Protocol,
    /// The other end of TLS or QUIC; there where [`Protocol::is_secure`].
    pub peer: Option<Arc<Peer>>,
    /// For protocols with streams.
    pub windows: Windows,
    /// What is requested.
    pub mix: Mix,
    /// What each kind of request must get back: one for each of [`Mix::entries`].
    pub checkers: Vec<Checker>,
    /// Connections at once.
    pub connections: u32,
    /// Requests that a connection may have in flight: 1, or more for pipelining or streams.
    pub depth: u32,
    /// Requests after which a connection is replaced.
    pub requests_per_connection: Option<u32>,
    /// Requests in all.
    pub requests: Option<u64>,
    /// Addresses to connect from, in turn; none leaves the choice to the kernel.
    pub sources: Vec<IpAddr>,
    /// Whether to count each kind of request by itself.
    pub count_entries: bool,
    /// Whether a schedule, rather than the responses, decides when requests leave.
    pub open: bool,
}

impl Target {
    /// A target of one kind of request over connections that stay.
    #[must_use]
    pub fn new(address: SocketAddr, mix: impl Into<Mix>, connections: u32, checker: Checker, open: bool) -> Self {
        let mix = mix.into();
        let checkers = vec![checker; mix.entries().len()];
        Self {
            address,
            protocol: Protocol::default(),
            peer: None,
            windows: Windows::default(),
            mix,
            checkers,
            connections,
            depth: 1,
            requests_per_connection: None,
            requests: None,
            sources: Vec::new(),
            count_entries: false,
            open,
        }
    }
}
