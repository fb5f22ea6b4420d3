//! QPACK (RFC 9204) without a dynamic table: field sections that stand for themselves.
//!
//! We announce a table of capacity 0, so that no peer may refer to one, and put nothing into the peer's. The decoder
//! understands every form that is left. The encoder uses the static table and literals without Huffman coding: it costs
//! little, and the same fields are the same bytes every time.

mod decoder;
mod encoder;
mod instructions;
mod static_table;

pub use decoder::decode;
pub use encoder::{begin, encode};
pub(super) use instructions::{DecoderStream, EncoderStream};

use crate::fields::BlockError;

/// Why a field section can't be decoded: an error of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QpackError {
    /// A field can't be read.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// An index beyond the static table.
    #[error("{}", self.what())]
    Index,
    /// A prefix that no encoder writes.
    #[error("{}", self.what())]
    Base,
    /// A reference to a dynamic table, which we did not offer.
    #[error("{}", self.what())]
    Dynamic,
}

impl QpackError {
    /// In words.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::Block(BlockError::Truncated) => "a field section ends within a field",
            Self::Block(BlockError::Integer) => "an integer in a field section is too large",
            Self::Block(BlockError::Huffman) => "a string in a field section is no Huffman code",
            Self::Index => "a field section names an entry that the static table does not have",
            Self::Base => "a field section has a base below zero",
            Self::Dynamic => "a field section refers to a dynamic table that was not offered",
        }
    }
}

#[cfg(test)]
mod tests;
