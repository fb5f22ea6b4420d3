//! HTTP/2 (RFC 9113) without I/O, for either end of a connection.
//!
//! Bytes of the peer go into [`Connection::advance`], events come out; what is to be sent gathers in
//! [`Connection::output`]. Bodies are not copied: the user sends them itself behind the heads of their frames
//! ([`Connection::data_head`]), as far as the peer's windows allow ([`Connection::sendable`]). Nothing is pushed, and
//! priorities are ignored.

pub mod client;
mod connection;
mod control;
mod core;
mod error;
pub mod frame;
mod headers;
pub mod hpack;
mod reader;
mod streams;

pub use client::{Client, Place, Told};
pub use connection::{Connection, Event, Limits};
pub use error::{ErrorCode, H2Error};
pub use reader::{FrameReader, Piece};

#[cfg(test)]
mod tests;
