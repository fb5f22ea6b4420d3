//! HPACK (RFC 7541): field lists in less room.
//!
//! The decoder understands all of it. The encoder uses the static table and literals without Huffman coding: it keeps no
//! state, costs little, and the same fields are the same bytes every time. [`Speaker`] goes beyond: it says the same blocks
//! again and again, and uses the peer's table for that.

mod decoder;
mod dynamic_table;
mod encoder;
mod phrase;
mod static_table;

pub use crate::fields::{FIELD_OVERHEAD_BYTES, Fields};
pub use decoder::Decoder;
pub use encoder::{Encoder, encode};
pub use phrase::{Phrase, Speaker, Vocabulary};

use crate::fields::BlockError;

/// The size of a dynamic table before anybody has said otherwise (RFC 9113, 6.5.2).
pub const DEFAULT_TABLE_BYTES: usize = 4096;

/// Why a block can't be decoded. Both ends no longer have the same table, so the connection is of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HpackError {
    /// A field can't be read.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// An index into neither table.
    #[error("a field block names an entry that no table has")]
    Index,
    /// A size of the dynamic table beyond what was agreed, or told behind the first field.
    #[error("a field block changes the size of the table where or as it must not")]
    TableSize,
}

#[cfg(test)]
mod tests;
