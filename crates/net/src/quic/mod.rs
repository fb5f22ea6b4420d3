//! QUIC for the loops: connections with streams, as a layer around a handler ([`Quic`]). `quinn-proto` is the protocol;
//! here are its sockets, its timers and its TLS.
//!
//! A client has a socket for each connection, as browsers have: servers that spread clients over threads by address see
//! them as they are. A server has one socket a loop.
//!
//! Reference: RFC 9000, 9001, 9002.

mod core;
mod failure;
mod layer;
mod link;
mod net;
mod port;
mod receiving;
mod sending;
mod session;
mod settings;
mod stream;
mod timers;

pub use layer::Quic;
pub use net::QuicNet;
pub use settings::{Settings, listen};
pub use stream::{Piece, Stream, StreamKind};
