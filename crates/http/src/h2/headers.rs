//! Field blocks: put together, decoded, and what they mean for their streams.

use super::connection::Event;
use super::core::{Core, Role};
use super::frame::{FrameHead, flag};
use super::streams::Parting;
use super::{ErrorCode, H2Error};
use crate::fields::message::{check_request, check_response, check_trailers};

/// The longest field block, coded: what a list of the largest allowed size takes, and plenty more.
const MOST_BLOCK_BYTES: usize = 64 * 1024;
/// Frames that one block may come in (CVE-2024-27316: without a bound, empty ones go on for ever).
const MOST_BLOCK_FRAMES: u32 = 32;

/// A block whose end has not come.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    pub bytes: Vec<u8>,
    /// 0 if none is open.
    pub stream: u32,
    pub frames: u32,
    pub end_stream: bool,
    depends_on_itself: bool,
}

impl OpenBlock {
    pub const fn is_open(&self) -> bool {
        self.stream != 0
    }

    pub fn add(&mut self, part: &[u8]) -> Result<(), H2Error> {
        self.frames += 1;
        self.bytes.extend_from_slice(part);
        if self.frames > MOST_BLOCK_FRAMES || self.bytes.len() > MOST_BLOCK_BYTES {
            return Err(H2Error::calm("a field block that does not end"));
        }
        Ok(())
    }
}

/// Where a whole block belongs.
#[derive(Clone, Copy)]
struct Target {
    stream: u32,
    end_stream: bool,
    depends_on_itself: bool,
}

impl Core {
    pub fn read_headers<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
        let stream = head.stream;
        if stream.is_multiple_of(2) || self.role == Role::Client && stream > self.last {
            return Err(H2Error::protocol("HEADERS on a stream that the peer can't open"));
        }
        let (block, parent) = strip(head, payload)?;
        let end_stream = head.has(flag::END_STREAM);
        let target = Target { stream, end_stream, depends_on_itself: parent == Some(stream) };
        if head.has(flag::END_HEADERS) {
            return self.read_block(target, block);
        }
        let Target { stream, end_stream, depends_on_itself } = target;
        self.block.bytes.clear();
        (self.block.stream, self.block.frames) = (stream, 0);
        (self.block.end_stream, self.block.depends_on_itself) = (end_stream, depends_on_itself);
        self.block.add(block).map(|()| None)
    }

    pub fn read_continuation<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
        if !self.block.is_open() || head.stream != self.block.stream {
            return Err(H2Error::protocol("CONTINUATION of nothing"));
        }
        self.block.add(payload)?;
        if !head.has(flag::END_HEADERS) {
            return Ok(None);
        }
        let bytes = std::mem::take(&mut self.block.bytes);
        let stream = std::mem::take(&mut self.block.stream);
        let (end_stream, depends_on_itself) = (self.block.end_stream, self.block.depends_on_itself);
        let outcome = self.read_block(Target { stream, end_stream, depends_on_itself }, &bytes);
        self.block.bytes = bytes;
        outcome
    }

    /// Every block has to be decoded, whatever becomes of its stream: the tables of both ends go with it.
    fn read_block<'d>(&mut self, target: Target, block: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
        self.fields.clear();
        self.decoder.decode(block, &mut self.fields)?;
        let id = target.stream;
        if let Some(stream) = self.streams.get(id) {
            return match *stream {
                _ if !stream.receives => self.refuse(id, ErrorCode::STREAM_CLOSED),
                _ if target.depends_on_itself => self.refuse(id, ErrorCode::PROTOCOL_ERROR),
                _ if stream.has_head => self.read_trailers(target),
                _ => self.read_response(target),
            };
        }
        if id <= self.last {
            return match self.streams.parting(id) {
                // It was under way when we gave the stream up.
                Some(Parting::ByUs) => Ok(None),
                Some(_) => Err(H2Error { code: ErrorCode::STREAM_CLOSED, what: "HEADERS on a stream that has ended" }),
                None => Err(H2Error::protocol("a stream opened out of order")),
            };
        }
        self.read_request(target)
    }

    fn read_trailers<'d>(&mut self, target: Target) -> Result<Option<Event<'d>>, H2Error> {
        if !target.end_stream || check_trailers(&self.fields).is_err() {
            return self.refuse(target.stream, ErrorCode::PROTOCOL_ERROR);
        }
        self.end_receiving(target.stream)
    }

    fn read_request<'d>(&mut self, target: Target) -> Result<Option<Event<'d>>, H2Error> {
        let Target { stream: id, end_stream, depends_on_itself } = target;
        self.last = id;
        if self.streams.len() >= self.limits.most_streams as usize {
            return self.refuse(id, ErrorCode::REFUSED_STREAM);
        }
        // Of a list that is too large not all is there to be checked; its user answers 431.
        let length = if self.fields.too_large() { Ok(None) } else { check_request(&self.fields) };
        let Ok(missing) = length else { return self.refuse(id, ErrorCode::PROTOCOL_ERROR) };
        let promises_more = end_stream && missing.is_some_and(|bytes| bytes > 0);
        if depends_on_itself || promises_more {
            return self.refuse(id, ErrorCode::PROTOCOL_ERROR);
        }
        let stream = self.open(id, false);
        stream.receives = !end_stream;
        stream.missing = missing;
        Ok(Some(Event::Head { stream: id, end: end_stream }))
    }

    fn read_response<'d>(&mut self, target: Target) -> Result<Option<Event<'d>>, H2Error> {
        let Target { stream: id, end_stream, .. } = target;
        let too_large = self.fields.too_large();
        let Ok((status, length)) = (if too_large { Ok((200, None)) } else { check_response(&self.fields) }) else {
            return self.refuse(id, ErrorCode::PROTOCOL_ERROR);
        };
        if status < 200 {
            self.patience.spend("too many interim responses")?;
            return if end_stream { self.refuse(id, ErrorCode::PROTOCOL_ERROR) } else { Ok(None) };
        }
        let Some(stream) = self.streams.get_mut(id) else { return Ok(None) };
        let bodyless = stream.bodyless || matches!(status, 204 | 304);
        stream.has_head = true;
        stream.missing = if bodyless { Some(0) } else { length };
        if end_stream {
            return Ok(match self.end_receiving(id)? {
                Some(Event::End { stream }) => Some(Event::Head { stream, end: true }),
                other => other,
            });
        }
        Ok(Some(Event::Head { stream: id, end: false }))
    }
}

/// The field block of HEADERS without padding and priority, and the stream that it was said to depend on.
pub(super) fn strip(head: FrameHead, payload: &[u8]) -> Result<(&[u8], Option<u32>), H2Error> {
    let mut block = payload;
    let mut padding = 0;
    if head.has(flag::PADDED) {
        let Some((&length, rest)) = block.split_first() else {
            return Err(H2Error::frame_size("a padded frame has no room for the length of its padding"));
        };
        (padding, block) = (usize::from(length), rest);
    }
    let mut parent = None;
    if head.has(flag::PRIORITY) {
        let Some((priority, rest)) = block.split_first_chunk::<5>() else {
            return Err(H2Error::frame_size("HEADERS have no room for their priority"));
        };
        let [first, second, third, fourth, _] = *priority;
        parent = Some(u32::from_be_bytes([first, second, third, fourth]) & 0x7fff_ffff);
        block = rest;
    }
    let Some(bytes) = block.len().checked_sub(padding) else {
        return Err(H2Error::protocol("a frame has more padding than payload"));
    };
    Ok((&block[..bytes], parent))
}
