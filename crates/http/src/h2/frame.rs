//! Frames as they travel (RFC 9113, sections 4 and 6): their heads, and how each is written.

use super::ErrorCode;

/// What the client begins every connection with (RFC 9113, 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The head of every frame.
pub const HEAD_BYTES: usize = 9;
/// The payload that every receiver takes, and the most that we take.
pub const DEFAULT_FRAME_BYTES: usize = 16_384;

/// The types of frames.
pub mod kind {
    #![expect(missing_docs, reason = "named as in RFC 9113, section 6")]
    pub const DATA: u8 = 0x0;
    pub const HEADERS: u8 = 0x1;
    pub const PRIORITY: u8 = 0x2;
    pub const RST_STREAM: u8 = 0x3;
    pub const SETTINGS: u8 = 0x4;
    pub const PUSH_PROMISE: u8 = 0x5;
    pub const PING: u8 = 0x6;
    pub const GOAWAY: u8 = 0x7;
    pub const WINDOW_UPDATE: u8 = 0x8;
    pub const CONTINUATION: u8 = 0x9;
}

/// The flags of frames.
pub mod flag {
    #![expect(missing_docs, reason = "named as in RFC 9113, section 6")]
    pub const END_STREAM: u8 = 0x1;
    pub const ACK: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// The identifiers of settings.
pub mod setting {
    #![expect(missing_docs, reason = "named as in RFC 9113, 6.5.2")]
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    pub const ENABLE_PUSH: u16 = 0x2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    pub const MAX_FRAME_SIZE: u16 = 0x5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 0x6;
}

/// The head of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes of payload, below 2^24.
    pub length: u32,
    /// One of [`kind`], or something unknown.
    pub kind: u8,
    /// A sum of [`flag`]s.
    pub flags: u8,
    /// The stream, without the reserved bit; 0 is the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Reads a head.
    #[inline]
    #[must_use]
    pub const fn parse(bytes: [u8; HEAD_BYTES]) -> Self {
        let [high, middle, low, kind, flags, stream @ ..] = bytes;
        Self {
            length: u32::from_be_bytes([0, high, middle, low]),
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & 0x7fff_ffff,
        }
    }

    /// The head as it travels.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> [u8; HEAD_BYTES] {
        let [_, high, middle, low] = self.length.to_be_bytes();
        let [first, second, third, fourth] = self.stream.to_be_bytes();
        [high, middle, low, self.kind, self.flags, first, second, third, fourth]
    }

    fn append(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes());
    }

    /// Whether `flag` is set.
    #[inline]
    #[must_use]
    pub const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

fn write_control(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    FrameHead { length: payload.len() as u32, kind, flags, stream }.append(out);
    out.extend_from_slice(payload);
}

/// Appends SETTINGS.
pub fn write_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    FrameHead { length: 6 * settings.len() as u32, kind: kind::SETTINGS, flags: 0, stream: 0 }.append(out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends the acknowledgement of SETTINGS.
pub fn write_settings_ack(out: &mut Vec<u8>) {
    write_control(out, kind::SETTINGS, flag::ACK, 0, &[]);
}

/// Appends PING, or the answer to one.
pub fn write_ping(out: &mut Vec<u8>, ack: bool, opaque: [u8; 8]) {
    write_control(out, kind::PING, if ack { flag::ACK } else { 0 }, 0, &opaque);
}

/// Appends `RST_STREAM`.
pub fn write_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    write_control(out, kind::RST_STREAM, 0, stream, &code.0.to_be_bytes());
}

/// Appends `WINDOW_UPDATE`; `bytes` is 1 to 2^31 − 1.
pub fn write_window_update(out: &mut Vec<u8>, stream: u32, bytes: u32) {
    write_control(out, kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
}

/// Appends GOAWAY: streams beyond `last` were not looked at.
pub fn write_goaway(out: &mut Vec<u8>, last: u32, code: ErrorCode, debug: &str) {
    let payload = [&last.to_be_bytes(), &code.0.to_be_bytes(), debug.as_bytes()].concat();
    write_control(out, kind::GOAWAY, 0, 0, &payload);
}

/// Leaves room for the head of a HEADERS frame, whose field block is then appended; returns its place for
/// [`end_headers`].
#[inline]
pub fn begin_headers(out: &mut Vec<u8>) -> usize {
    let at = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    at
}

/// Ends the HEADERS frame that began at `at`; a block beyond `most_bytes` goes on in CONTINUATION frames.
#[inline]
pub fn end_headers(out: &mut Vec<u8>, at: usize, stream: u32, end_stream: bool, most_bytes: usize) {
    let mut flags = if end_stream { flag::END_STREAM } else { 0 };
    let length = out.len() - at - HEAD_BYTES;
    if length <= most_bytes {
        flags |= flag::END_HEADERS;
        let head = FrameHead { length: length as u32, kind: kind::HEADERS, flags, stream };
        out[at..at + HEAD_BYTES].copy_from_slice(&head.bytes());
        return;
    }
    let block = out.split_off(at + HEAD_BYTES);
    out.truncate(at);
    let mut kind = kind::HEADERS;
    let mut pieces = block.chunks(most_bytes).peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            flags |= flag::END_HEADERS;
        }
        write_control(out, kind, flags, stream, piece);
        (kind, flags) = (kind::CONTINUATION, 0);
    }
}
