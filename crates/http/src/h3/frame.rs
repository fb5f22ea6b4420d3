//! Frames as bytes (RFC 9114, section 7).

use super::varint;

/// Types of frames.
pub mod kind {
    /// A piece of a body.
    pub const DATA: u64 = 0x0;
    /// The fields of a message.
    pub const HEADERS: u64 = 0x1;
    /// A push is not wanted.
    pub const CANCEL_PUSH: u64 = 0x3;
    /// What one end grants the other.
    pub const SETTINGS: u64 = 0x4;
    /// A push is announced.
    pub const PUSH_PROMISE: u64 = 0x5;
    /// The sender is about to leave.
    pub const GOAWAY: u64 = 0x7;
    /// How many pushes a client takes.
    pub const MAX_PUSH_ID: u64 = 0xd;

    /// Whether HTTP/2 has a frame of this type and HTTP/3 forbids it: PRIORITY, PING, `WINDOW_UPDATE`, CONTINUATION.
    #[must_use]
    pub const fn is_of_http_2(kind: u64) -> bool {
        matches!(kind, 0x2 | 0x6 | 0x8 | 0x9)
    }
}

/// Types of unidirectional streams (RFC 9114, 6.2; RFC 9204, 4.2).
pub mod stream_kind {
    /// What concerns the connection.
    pub const CONTROL: u64 = 0x0;
    /// A pushed response.
    pub const PUSH: u64 = 0x1;
    /// What the sender puts into the dynamic table.
    pub const QPACK_ENCODER: u64 = 0x2;
    /// What the sender knows of the receiver's dynamic table.
    pub const QPACK_DECODER: u64 = 0x3;
}

/// Identifiers of settings.
pub mod setting {
    /// Bytes of the dynamic table that the sender keeps.
    pub const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
    /// The largest field section that the sender takes.
    pub const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
    /// Streams that may wait for the dynamic table.
    pub const QPACK_BLOCKED_STREAMS: u64 = 0x7;
}

/// The longest head of a frame.
pub const MOST_HEAD_BYTES: usize = 16;

/// Appends the head of a frame.
#[inline]
pub fn write_head(out: &mut Vec<u8>, kind: u64, length: u64) {
    varint::write(out, kind);
    varint::write(out, length);
}

/// Appends the head of a DATA frame; its `bytes` bytes have to follow.
#[inline]
pub fn write_data_head(out: &mut Vec<u8>, bytes: u64) {
    write_head(out, kind::DATA, bytes);
}

/// Begins a frame of `kind` whose length is not known yet; returns what [`end`] has to be told.
#[inline]
pub fn begin(out: &mut Vec<u8>, kind: u64) -> usize {
    varint::write(out, kind);
    let at = out.len();
    // A length of two bytes, as nearly all field sections have.
    out.extend_from_slice(&[0x40, 0]);
    at
}

/// Ends the frame that was begun at `at`.
#[inline]
pub fn end(out: &mut Vec<u8>, at: usize) {
    let length = out.len() - at - 2;
    if let Ok(short @ 0..=0x3fff) = u16::try_from(length) {
        out[at..at + 2].copy_from_slice(&(short | 0x4000).to_be_bytes());
        return;
    }
    let mut coded = Vec::with_capacity(8);
    varint::write(&mut coded, length as u64);
    out.splice(at..at + 2, coded);
}

/// Appends SETTINGS.
pub fn write_settings(out: &mut Vec<u8>, settings: &[(u64, u64)]) {
    let at = begin(out, kind::SETTINGS);
    for &(identifier, value) in settings {
        varint::write(out, identifier);
        varint::write(out, value);
    }
    end(out, at);
}

/// Appends a frame whose payload is one identifier: GOAWAY, `CANCEL_PUSH`, `MAX_PUSH_ID`.
pub fn write_identifier(out: &mut Vec<u8>, kind: u64, identifier: u64) {
    let at = begin(out, kind);
    varint::write(out, identifier);
    end(out, at);
}
