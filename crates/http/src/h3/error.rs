//! What goes wrong, in the words of RFC 9114, section 8.1, and RFC 9204, section 6.

use std::fmt;

use super::qpack::QpackError;
use crate::patience::Flood;

/// An error code, as resets, requests to stop and the end of a connection carry it. Unknown ones are kept as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u64);

impl ErrorCode {
    /// Not because of an error.
    pub const NO_ERROR: Self = Self(0x100);
    /// A breach of the protocol that no other code names.
    pub const GENERAL_PROTOCOL_ERROR: Self = Self(0x101);
    /// The sender can't go on.
    pub const INTERNAL_ERROR: Self = Self(0x102);
    /// A stream that the peer must not open.
    pub const STREAM_CREATION_ERROR: Self = Self(0x103);
    /// A stream ended without which the connection can't be.
    pub const CLOSED_CRITICAL_STREAM: Self = Self(0x104);
    /// A frame where its type has no place.
    pub const FRAME_UNEXPECTED: Self = Self(0x105);
    /// A frame of a size or layout that its type does not have.
    pub const FRAME_ERROR: Self = Self(0x106);
    /// The peer does what only an attacker does.
    pub const EXCESSIVE_LOAD: Self = Self(0x107);
    /// An identifier of a stream or push that is out of its range or was used before.
    pub const ID_ERROR: Self = Self(0x108);
    /// Settings that can't be.
    pub const SETTINGS_ERROR: Self = Self(0x109);
    /// The control stream does not begin with SETTINGS.
    pub const MISSING_SETTINGS: Self = Self(0x10a);
    /// Nothing was done for this request: it may be asked again.
    pub const REQUEST_REJECTED: Self = Self(0x10b);
    /// No longer wanted.
    pub const REQUEST_CANCELLED: Self = Self(0x10c);
    /// The stream ended within a message.
    pub const REQUEST_INCOMPLETE: Self = Self(0x10d);
    /// A message that must not be passed on.
    pub const MESSAGE_ERROR: Self = Self(0x10e);
    /// A tunnel's other end failed.
    pub const CONNECT_ERROR: Self = Self(0x10f);
    /// Another version of HTTP is asked for.
    pub const VERSION_FALLBACK: Self = Self(0x110);
    /// A field section can't be decoded.
    pub const QPACK_DECOMPRESSION_FAILED: Self = Self(0x200);
    /// An instruction of the peer's encoder can't be followed.
    pub const QPACK_ENCODER_STREAM_ERROR: Self = Self(0x201);
    /// An instruction of the peer's decoder can't be followed.
    pub const QPACK_DECODER_STREAM_ERROR: Self = Self(0x202);

    const NAMES: [&'static str; 17] = [
        "H3_NO_ERROR",
        "H3_GENERAL_PROTOCOL_ERROR",
        "H3_INTERNAL_ERROR",
        "H3_STREAM_CREATION_ERROR",
        "H3_CLOSED_CRITICAL_STREAM",
        "H3_FRAME_UNEXPECTED",
        "H3_FRAME_ERROR",
        "H3_EXCESSIVE_LOAD",
        "H3_ID_ERROR",
        "H3_SETTINGS_ERROR",
        "H3_MISSING_SETTINGS",
        "H3_REQUEST_REJECTED",
        "H3_REQUEST_CANCELLED",
        "H3_REQUEST_INCOMPLETE",
        "H3_MESSAGE_ERROR",
        "H3_CONNECT_ERROR",
        "H3_VERSION_FALLBACK",
    ];
    const QPACK_NAMES: [&'static str; 3] =
        ["QPACK_DECOMPRESSION_FAILED", "QPACK_ENCODER_STREAM_ERROR", "QPACK_DECODER_STREAM_ERROR"];
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, first) = if self.0 < 0x200 { (&Self::NAMES[..], 0x100) } else { (&Self::QPACK_NAMES[..], 0x200) };
        let at = self.0.checked_sub(first).and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| names.get(at)) {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "error code {:#x}", self.0),
        }
    }
}

/// How much an error ends (RFC 9114, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The stream is reset, and the peer asked to stop sending on it; others go on.
    Stream,
    /// The connection is closed.
    Connection,
}

/// Why a stream or connection can't go on. Its user tells the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HTTP/3 {} error {code}: {what}", if *.scope == Scope::Stream { "stream" } else { "connection" })]
pub struct H3Error {
    /// What ends.
    pub scope: Scope,
    /// What the peer is to be told.
    pub code: ErrorCode,
    /// What it did.
    pub what: &'static str,
}

impl H3Error {
    /// An error that ends the connection.
    #[must_use]
    pub const fn connection(code: ErrorCode, what: &'static str) -> Self {
        Self { scope: Scope::Connection, code, what }
    }

    /// An error that ends one stream.
    #[must_use]
    pub const fn stream(code: ErrorCode, what: &'static str) -> Self {
        Self { scope: Scope::Stream, code, what }
    }

    pub(super) const fn unexpected(what: &'static str) -> Self {
        Self::connection(ErrorCode::FRAME_UNEXPECTED, what)
    }

    pub(super) const fn malformed(what: &'static str) -> Self {
        Self::stream(ErrorCode::MESSAGE_ERROR, what)
    }
}

impl From<Flood> for H3Error {
    fn from(Flood(what): Flood) -> Self {
        Self::connection(ErrorCode::EXCESSIVE_LOAD, what)
    }
}

impl From<QpackError> for H3Error {
    fn from(error: QpackError) -> Self {
        Self::connection(ErrorCode::QPACK_DECOMPRESSION_FAILED, error.what())
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorCode, H3Error};

    #[test]
    fn codes_are_called_as_the_standards_call_them() {
        assert_eq!(ErrorCode::MESSAGE_ERROR.to_string(), "H3_MESSAGE_ERROR");
        assert_eq!(ErrorCode::VERSION_FALLBACK.to_string(), "H3_VERSION_FALLBACK");
        assert_eq!(ErrorCode::QPACK_DECODER_STREAM_ERROR.to_string(), "QPACK_DECODER_STREAM_ERROR");
        for (code, text) in [(0, "0x0"), (0x111, "0x111"), (0x203, "0x203"), (u64::MAX, "0xffffffffffffffff")] {
            assert_eq!(ErrorCode(code).to_string(), format!("error code {text}"));
        }
        let error = H3Error::malformed("it is");
        assert_eq!(error.to_string(), "HTTP/3 stream error H3_MESSAGE_ERROR: it is");
    }
}
