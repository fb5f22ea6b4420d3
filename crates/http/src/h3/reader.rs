//! From the bytes of one stream to frames, whatever way they are cut.

use super::frame::{MOST_HEAD_BYTES, kind};
use super::varint;
use super::{ErrorCode, H3Error};

/// What a reader found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'r, 'd> {
    /// The head of a frame of any type, with the length of its payload. Payloads of unknown types are passed over.
    Begin {
        /// Its type.
        kind: u64,
        /// Bytes of its payload.
        length: u64,
    },
    /// The whole payload of the frame that has begun, other than DATA.
    Payload {
        /// The frame's type.
        kind: u64,
        /// Its payload.
        bytes: &'r [u8],
    },
    /// Data, never empty, as it arrived.
    Data(&'d [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    Payload { kind: u64, length: usize },
    Data { left: u64 },
    Unknown { left: u64 },
}

/// Frames of one direction of one stream. Data is handed on without a copy, other payloads are copied only where they
/// arrive in pieces; unknown frames are not kept.
#[derive(Debug)]
pub struct FrameReader {
    stage: Stage,
    /// A head that has not come whole.
    head: [u8; MOST_HEAD_BYTES],
    head_bytes: u8,
    payload: Vec<u8>,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self { stage: Stage::Head, head: [0; MOST_HEAD_BYTES], head_bytes: 0, payload: Vec::new() }
    }
}

impl FrameReader {
    /// Forgets what it was reading; keeps its memory.
    pub fn reset(&mut self) {
        self.stage = Stage::Head;
        self.head_bytes = 0;
        self.payload.clear();
    }

    /// Whether the bytes so far end with a frame.
    #[must_use]
    pub const fn is_between_frames(&self) -> bool {
        self.head_bytes == 0 && matches!(self.stage, Stage::Head)
    }

    /// The next piece of `data`, which is moved on; `None` once all of it has been read. Payloads beyond `most` bytes
    /// that would have to be kept are an error.
    #[inline]
    pub fn advance<'r, 'd: 'r>(
        &'r mut self,
        data: &mut &'d [u8],
        most: usize,
    ) -> Result<Option<Piece<'r, 'd>>, H3Error> {
        match self.stage {
            Stage::Head => {
                let Some((kind, length)) = self.read_head(data) else { return Ok(None) };
                self.stage = self.enter(kind, length, most)?;
                Ok(Some(Piece::Begin { kind, length }))
            }
            Stage::Payload { kind, length } => {
                if self.payload.is_empty() && data.len() >= length {
                    self.stage = Stage::Head;
                    return Ok(Some(Piece::Payload { kind, bytes: take(data, length as u64) }));
                }
                let missing = length - self.payload.len();
                self.payload.extend_from_slice(take(data, missing as u64));
                if self.payload.len() < length {
                    return Ok(None);
                }
                self.stage = Stage::Head;
                Ok(Some(Piece::Payload { kind, bytes: &self.payload }))
            }
            Stage::Data { left } => {
                let bytes = take(data, left);
                self.go_on(left - bytes.len() as u64, |left| Stage::Data { left });
                Ok(if bytes.is_empty() { None } else { Some(Piece::Data(bytes)) })
            }
            Stage::Unknown { left } => {
                let passed = take(data, left).len() as u64;
                self.go_on(left - passed, |left| Stage::Unknown { left });
                if self.is_between_frames() { self.advance(data, most) } else { Ok(None) }
            }
        }
    }

    fn enter(&mut self, kind: u64, length: u64, most: usize) -> Result<Stage, H3Error> {
        Ok(match kind {
            _ if length == 0 && kind == kind::DATA => Stage::Head,
            kind::DATA => Stage::Data { left: length },
            kind::HEADERS
            | kind::CANCEL_PUSH
            | kind::SETTINGS
            | kind::PUSH_PROMISE
            | kind::GOAWAY
            | kind::MAX_PUSH_ID => {
                let Some(length) = usize::try_from(length).ok().filter(|length| *length <= most) else {
                    return Err(H3Error::stream(ErrorCode::EXCESSIVE_LOAD, "a frame is longer than anybody needs"));
                };
                self.payload.clear();
                Stage::Payload { kind, length }
            }
            _ if length == 0 => Stage::Head,
            _ => Stage::Unknown { left: length },
        })
    }

    fn go_on(&mut self, left: u64, stage: impl FnOnce(u64) -> Stage) {
        self.stage = if left == 0 { Stage::Head } else { stage(left) };
    }

    #[inline]
    fn read_head(&mut self, data: &mut &[u8]) -> Option<(u64, u64)> {
        if self.head_bytes == 0
            && let Some((head, rest)) = parse(data)
        {
            *data = rest;
            return Some(head);
        }
        self.gather_head(data)
    }

    #[cold]
    fn gather_head(&mut self, data: &mut &[u8]) -> Option<(u64, u64)> {
        loop {
            let [byte] = *take(data, 1) else { return None };
            self.head[usize::from(self.head_bytes)] = byte;
            self.head_bytes += 1;
            if let Some((head, _)) = parse(&self.head[..usize::from(self.head_bytes)]) {
                self.head_bytes = 0;
                return Some(head);
            }
        }
    }
}

/// A head of a frame, type and length, and what follows it.
#[inline]
fn parse(bytes: &[u8]) -> Option<((u64, u64), &[u8])> {
    let (kind, rest) = varint::read(bytes)?;
    let (length, rest) = varint::read(rest)?;
    Some(((kind, length), rest))
}

/// Moves `data` on by at most `most` bytes; returns them.
#[inline]
fn take<'d>(data: &mut &'d [u8], most: u64) -> &'d [u8] {
    let most = usize::try_from(most).map_or(data.len(), |most| most.min(data.len()));
    let (taken, rest) = data.split_at(most);
    *data = rest;
    taken
}
