//! HTTP/3 (RFC 9114) without I/O, for either end of a connection, on top of any QUIC that does streams.
//!
//! [`Control`] is what concerns the whole connection: it says what our one unidirectional stream begins with and reads
//! those of the peer. [`Message`] reads one request or response from its stream. What is to be sent is appended to
//! buffers of the user by [`write_request`], [`write_response`] and [`frame::write_data_head`]; bodies are not copied.
//! Nothing is pushed, and no dynamic table is kept ([`qpack`]).

mod control;
mod error;
pub mod frame;
mod message;
pub mod qpack;
mod reader;
mod sections;
pub mod varint;
mod write;

pub use control::{Control, Notice, PeerSettings};
pub use error::{ErrorCode, H3Error, Scope};
pub use message::{Event, Message};
pub use reader::{FrameReader, Piece};
pub use sections::Sections;
pub use write::{write_request, write_response};

/// The end of a connection that one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It answers.
    Server,
    /// It asks.
    Client,
}

/// The largest list of fields that is taken unless its user wants it otherwise, counted as RFC 9114, 4.2.2 does.
pub const DEFAULT_LIST_BYTES: usize = 16 * 1024;

#[cfg(test)]
mod tests;
