//! The chunked transfer coding (RFC 9112, section 7.1), received.

use super::{Malformed, head};

/// Where in the chunked coding the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunked {
    /// In the hexadecimal size; `digits` were read.
    Size { value: u64, digits: u8 },
    /// In a chunk extension, `bytes` long so far.
    Extension { value: u64, bytes: usize },
    /// After the CR of a size line.
    SizeEnd { value: u64 },
    /// In a chunk's data.
    Data { rest: u64 },
    /// After a chunk's data: CR, then LF.
    DataCr,
    /// After a chunk's data and CR.
    DataLf,
    /// In the trailer section.
    Trailer,
}

/// What [`Chunked::step`] found.
pub(super) enum Step<'a> {
    NeedMore,
    Data(&'a [u8]),
    End,
}

impl Chunked {
    pub(super) const START: Self = Self::Size { value: 0, digits: 0 };

    /// Takes bytes from `data` until there is something to say. `line` keeps an unfinished trailer line; `section`
    /// counts the trailer section against `limit`.
    pub(super) fn step<'a>(
        &mut self,
        data: &mut &'a [u8],
        line: &mut Vec<u8>,
        section: &mut usize,
        limit: usize,
    ) -> Result<Step<'a>, Malformed> {
        while let Some((&byte, after)) = data.split_first() {
            match *self {
                Self::Data { rest } => {
                    let take = (data.len() as u64).min(rest) as usize;
                    let (bytes, left) = data.split_at(take);
                    *data = left;
                    *self = match rest - take as u64 {
                        0 => Self::DataCr,
                        rest => Self::Data { rest },
                    };
                    return Ok(Step::Data(bytes));
                }
                Self::Trailer => {
                    *data = after;
                    *section += 1;
                    line.push(byte);
                    if *section > limit {
                        return Err(Malformed::TooLong);
                    }
                    if byte == b'\n' && end_of_trailers(line)? {
                        return Ok(Step::End);
                    }
                }
                _ => {
                    *self = self.framing_byte(byte, limit)?;
                    *data = after;
                }
            }
        }
        Ok(Step::NeedMore)
    }

    /// The state after one byte that belongs to the framing alone.
    fn framing_byte(self, byte: u8, limit: usize) -> Result<Self, Malformed> {
        match (self, byte) {
            (Self::Size { value, digits: digits @ 0..16 }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = (byte as char).to_digit(16).map_or(0, u64::from);
                Ok(Self::Size { value: value << 4 | digit, digits: digits + 1 })
            }
            (Self::Size { value, digits: 1.. } | Self::Extension { value, .. }, b'\r') => Ok(Self::SizeEnd { value }),
            (Self::Size { value, digits: 1.. }, b';' | b' ' | b'\t') => Ok(Self::Extension { value, bytes: 1 }),
            (Self::Extension { value, bytes }, b'\t' | b' '..=b'~' | 0x80..) if bytes < limit => {
                Ok(Self::Extension { value, bytes: bytes + 1 })
            }
            (Self::SizeEnd { value: 0 }, b'\n') => Ok(Self::Trailer),
            (Self::SizeEnd { value }, b'\n') => Ok(Self::Data { rest: value }),
            (Self::DataCr, b'\r') => Ok(Self::DataLf),
            (Self::DataLf, b'\n') => Ok(Self::START),
            _ => Err(Malformed::Chunk),
        }
    }
}

/// Checks one finished trailer line and clears it; true if it was the empty one that ends the section.
fn end_of_trailers(line: &mut Vec<u8>) -> Result<bool, Malformed> {
    let content = line.strip_suffix(b"\r\n").ok_or(Malformed::BareLineFeed)?;
    let last = content.is_empty();
    if !last {
        head::field_line(content)?;
    }
    line.clear();
    Ok(last)
}
