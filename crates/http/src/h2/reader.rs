//! From bytes to frames, whatever way they are cut.

use super::H2Error;
use super::frame::{DEFAULT_FRAME_BYTES, FrameHead, HEAD_BYTES, PREFACE, flag, kind};

/// What a reader found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'r, 'd> {
    /// Any frame but DATA, with its payload.
    Control(FrameHead, &'r [u8]),
    /// The head of a DATA frame, and how many of its bytes are data.
    DataBegin(FrameHead, u32),
    /// Data, never empty, as it arrived.
    Data(&'d [u8]),
    /// The frame has ended, its padding passed over.
    DataEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// So much of the preface has passed.
    Preface(usize),
    Head,
    Payload(FrameHead),
    /// Before the length of the padding.
    PadLength(FrameHead),
    Data {
        left: usize,
        padding: usize,
    },
    Padding(usize),
}

/// Frames of one direction of a connection. Data is handed on without a copy, other payloads are copied only where they
/// arrive in pieces.
#[derive(Debug)]
pub struct FrameReader {
    stage: Stage,
    head: [u8; HEAD_BYTES],
    head_bytes: usize,
    payload: Vec<u8>,
}

impl FrameReader {
    /// A reader of what a client sends (the preface first) or, without `preface`, of what a server sends.
    #[must_use]
    pub const fn new(preface: bool) -> Self {
        let stage = if preface { Stage::Preface(0) } else { Stage::Head };
        Self { stage, head: [0; HEAD_BYTES], head_bytes: 0, payload: Vec::new() }
    }

    /// Whether the next byte is the first one of a frame.
    #[inline]
    #[must_use]
    pub const fn at_head(&self) -> bool {
        matches!(self.stage, Stage::Head) && self.head_bytes == 0
    }

    /// The next piece of `data`, which is moved on; `None` once all of it has been read.
    #[inline]
    pub fn advance<'r, 'd: 'r>(&'r mut self, data: &mut &'d [u8]) -> Result<Option<Piece<'r, 'd>>, H2Error> {
        loop {
            match self.stage {
                Stage::Preface(passed) => {
                    if !self.match_preface(passed, data)? {
                        return Ok(None);
                    }
                }
                Stage::Head => {
                    let Some(head) = self.read_head(data) else { return Ok(None) };
                    if head.length as usize > DEFAULT_FRAME_BYTES {
                        return Err(H2Error::frame_size("a frame is longer than was agreed"));
                    }
                    match head.kind {
                        kind::DATA if head.has(flag::PADDED) => self.stage = Stage::PadLength(head),
                        kind::DATA => {
                            self.stage = Stage::Data { left: head.length as usize, padding: 0 };
                            return Ok(Some(Piece::DataBegin(head, head.length)));
                        }
                        _ => {
                            self.payload.clear();
                            self.stage = Stage::Payload(head);
                        }
                    }
                }
                Stage::Payload(head) => {
                    let length = head.length as usize;
                    if self.payload.is_empty() && data.len() >= length {
                        self.stage = Stage::Head;
                        return Ok(Some(Piece::Control(head, take(data, length))));
                    }
                    self.payload.extend_from_slice(take(data, length - self.payload.len()));
                    if self.payload.len() < length {
                        return Ok(None);
                    }
                    self.stage = Stage::Head;
                    return Ok(Some(Piece::Control(head, &self.payload)));
                }
                Stage::PadLength(head) => {
                    if head.length == 0 {
                        return Err(H2Error::frame_size("a padded frame has no room for the length of its padding"));
                    }
                    let &[padding] = take(data, 1) else { return Ok(None) };
                    let Some(left) = (head.length - 1).checked_sub(u32::from(padding)) else {
                        return Err(H2Error::protocol("a frame has more padding than payload"));
                    };
                    self.stage = Stage::Data { left: left as usize, padding: usize::from(padding) };
                    return Ok(Some(Piece::DataBegin(head, left)));
                }
                Stage::Data { left: 0, padding } => self.stage = Stage::Padding(padding),
                Stage::Data { left, padding } => {
                    let bytes = take(data, left);
                    self.stage = Stage::Data { left: left - bytes.len(), padding };
                    return Ok(if bytes.is_empty() { None } else { Some(Piece::Data(bytes)) });
                }
                Stage::Padding(left) => {
                    let left = left - take(data, left).len();
                    if left > 0 {
                        self.stage = Stage::Padding(left);
                        return Ok(None);
                    }
                    self.stage = Stage::Head;
                    return Ok(Some(Piece::DataEnd));
                }
            }
        }
    }

    /// Whether the preface is complete.
    #[cold]
    fn match_preface(&mut self, passed: usize, data: &mut &[u8]) -> Result<bool, H2Error> {
        let expected = &PREFACE[passed..];
        let came = take(data, expected.len());
        if !expected.starts_with(came) {
            return Err(H2Error::protocol("the connection does not begin with the preface"));
        }
        let complete = came.len() == expected.len();
        self.stage = if complete { Stage::Head } else { Stage::Preface(passed + came.len()) };
        Ok(complete)
    }

    #[inline]
    fn read_head(&mut self, data: &mut &[u8]) -> Option<FrameHead> {
        if self.head_bytes == 0
            && let Some((head, rest)) = data.split_first_chunk()
        {
            *data = rest;
            return Some(FrameHead::parse(*head));
        }
        let part = take(data, HEAD_BYTES - self.head_bytes);
        self.head[self.head_bytes..self.head_bytes + part.len()].copy_from_slice(part);
        self.head_bytes += part.len();
        if self.head_bytes < HEAD_BYTES {
            return None;
        }
        self.head_bytes = 0;
        Some(FrameHead::parse(self.head))
    }
}

/// Moves `data` on by at most `most` bytes; returns them.
#[inline]
fn take<'d>(data: &mut &'d [u8], most: usize) -> &'d [u8] {
    let (taken, rest) = data.split_at(most.min(data.len()));
    *data = rest;
    taken
}
