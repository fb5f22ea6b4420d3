//! Where a body is in the bytes of a connection: its pieces without the transfer coding, and its end.

use super::{MOST_HEAD_BYTES, RequestError};

/// The longest line of a chunk's size, extensions included.
const MOST_SIZE_LINE_BYTES: u16 = 4096;

/// What of a body is still to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Body {
    #[default]
    None,
    /// So many bytes; never zero.
    Length(u64),
    /// Chunked, somewhere inside.
    Chunked(Chunk),
}

/// The place inside a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// In the hexadecimal size: its value and its digits so far.
    Size { value: u64, digits: u8 },
    /// In an extension after the size; `line` bytes of it have passed.
    Extension { value: u64, line: u16 },
    /// Before the LF of the line of the size.
    SizeEnd { value: u64 },
    /// So many bytes of data are left; never zero.
    Data { left: u64 },
    /// Before the CR after the data.
    DataEnd,
    /// Before the LF after the data.
    DataLineEnd,
    /// In the trailer: bytes of it so far, and of its current line.
    Trailer { bytes: u16, line: u16 },
    /// Before an LF in the trailer.
    TrailerLineEnd { bytes: u16, last: bool },
}

impl Body {
    pub const fn chunked() -> Self {
        Self::Chunked(Chunk::Size { value: 0, digits: 0 })
    }

    /// Reads the begin of `data`: the body's next piece, transfer coding removed (empty if `data` holds none), and what lies
    /// behind. Stops behind one piece; at the end of the body `self` is [`Body::None`].
    pub fn next<'d>(&mut self, mut data: &'d [u8]) -> Result<(&'d [u8], &'d [u8]), RequestError> {
        while !data.is_empty() {
            match *self {
                Self::None => break,
                Self::Length(left) => {
                    let (piece, rest) = cut(left, data);
                    self.pass(piece.len() as u64);
                    return Ok((piece, rest));
                }
                Self::Chunked(Chunk::Data { left }) => {
                    let (piece, rest) = cut(left, data);
                    let left = left - piece.len() as u64;
                    *self = Self::Chunked(if left == 0 { Chunk::DataEnd } else { Chunk::Data { left } });
                    return Ok((piece, rest));
                }
                Self::Chunked(chunk) => {
                    *self = chunk.after(data[0])?.map_or(Self::None, Self::Chunked);
                    data = &data[1..];
                }
            }
        }
        Ok((&[], data))
    }

    /// `bytes` bytes of a body of known length went another way; bytes beyond its end are ignored.
    pub fn pass(&mut self, bytes: u64) {
        if let Self::Length(left) = *self {
            *self = if bytes >= left { Self::None } else { Self::Length(left - bytes) };
        }
    }
}

/// The first `left` bytes of `data`, or all, and the rest.
fn cut(left: u64, data: &[u8]) -> (&[u8], &[u8]) {
    data.split_at(usize::try_from(left).map_or(data.len(), |left| left.min(data.len())))
}

impl Chunk {
    /// The place after one more byte; `None` at the end of the body.
    fn after(self, byte: u8) -> Result<Option<Self>, RequestError> {
        let next = match (self, byte) {
            (Self::Size { value, digits }, _) if byte.is_ascii_hexdigit() => {
                // Fifteen digits: what follows can't overflow.
                if digits == 15 {
                    return Err(RequestError::Malformed("a chunk size beyond all measure"));
                }
                let digit = (byte as char).to_digit(16).unwrap_or(0);
                Self::Size { value: value << 4 | u64::from(digit), digits: digits + 1 }
            }
            (Self::Size { value, digits: 1.. }, b';' | b' ' | b'\t') => Self::Extension { value, line: 0 },
            (Self::Size { value, digits: 1.. } | Self::Extension { value, .. }, b'\r') => Self::SizeEnd { value },
            (Self::Extension { value, line }, _) if byte != b'\n' && line < MOST_SIZE_LINE_BYTES => {
                Self::Extension { value, line: line + 1 }
            }
            (Self::SizeEnd { value: 0 }, b'\n') => Self::Trailer { bytes: 0, line: 0 },
            (Self::SizeEnd { value }, b'\n') => Self::Data { left: value },
            (Self::DataEnd, b'\r') => Self::DataLineEnd,
            (Self::DataLineEnd, b'\n') => Self::Size { value: 0, digits: 0 },
            (Self::Trailer { bytes, line }, b'\r') => Self::TrailerLineEnd { bytes, last: line == 0 },
            (Self::Trailer { bytes, .. }, _) if bytes as usize >= MOST_HEAD_BYTES => {
                return Err(RequestError::HeadTooLong);
            }
            (Self::Trailer { bytes, line }, _) if byte != b'\n' => Self::Trailer { bytes: bytes + 1, line: line + 1 },
            (Self::TrailerLineEnd { last: true, .. }, b'\n') => return Ok(None),
            (Self::TrailerLineEnd { bytes, .. }, b'\n') => Self::Trailer { bytes, line: 0 },
            _ => return Err(RequestError::Malformed("the chunked body is broken")),
        };
        Ok(Some(next))
    }
}
