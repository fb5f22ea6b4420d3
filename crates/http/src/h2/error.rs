//! What goes wrong, in the words of RFC 9113, section 7.

use std::fmt;

use super::hpack::HpackError;
use crate::fields::BlockError;
use crate::patience::Flood;

/// An error code, as `RST_STREAM` and GOAWAY carry it. Unknown ones are kept as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// Not because of an error.
    pub const NO_ERROR: Self = Self(0x0);
    /// A breach of the protocol that no other code names.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// The sender can't go on.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// More was sent than the window allowed.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// SETTINGS were never acknowledged.
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    /// A frame for a stream that its sender had ended.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame of a size that its type does not have.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// Nothing was done for this stream: it may be asked for again.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// No longer wanted.
    pub const CANCEL: Self = Self(0x8);
    /// The field tables of both ends differ from here on.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// A tunnel's other end failed.
    pub const CONNECT_ERROR: Self = Self(0xa);
    /// The peer does what only an attacker does.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    /// The transport is not safe enough.
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    /// HTTP/1.1 is asked for.
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);

    const NAMES: [&'static str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.get(self.0 as usize) {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "error code {:#x}", self.0),
        }
    }
}

/// Why a connection can't go on. The peer has been told by GOAWAY once the output has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HTTP/2 connection error {code}: {what}")]
pub struct H2Error {
    /// What the peer is told.
    pub code: ErrorCode,
    /// What it did.
    pub what: &'static str,
}

impl H2Error {
    pub(super) const fn protocol(what: &'static str) -> Self {
        Self { code: ErrorCode::PROTOCOL_ERROR, what }
    }

    pub(super) const fn frame_size(what: &'static str) -> Self {
        Self { code: ErrorCode::FRAME_SIZE_ERROR, what }
    }

    pub(super) const fn flow_control(what: &'static str) -> Self {
        Self { code: ErrorCode::FLOW_CONTROL_ERROR, what }
    }

    pub(super) const fn calm(what: &'static str) -> Self {
        Self { code: ErrorCode::ENHANCE_YOUR_CALM, what }
    }
}

impl From<Flood> for H2Error {
    fn from(Flood(what): Flood) -> Self {
        Self::calm(what)
    }
}

impl From<HpackError> for H2Error {
    fn from(error: HpackError) -> Self {
        let what = match error {
            HpackError::Block(BlockError::Truncated) => "a field block ends within a field",
            HpackError::Block(BlockError::Integer) => "an integer in a field block is too large",
            HpackError::Block(BlockError::Huffman) => "a string in a field block is no Huffman code",
            HpackError::Index => "a field block names an entry that no table has",
            HpackError::TableSize => "a field block changes the size of the table where or as it must not",
        };
        Self { code: ErrorCode::COMPRESSION_ERROR, what }
    }
}
