//! Field blocks: recognised by their bytes, or put together and decoded, and what they mean for their streams.

use super::super::frame::{FrameHead, HEAD_BYTES, flag};
use super::super::headers::strip;
use super::super::hpack::Fields;
use super::super::{ErrorCode, H2Error};
use super::{Client, Place, Told};
use crate::fields::message::{check_response, check_trailers};

/// Blocks that are remembered: those of a few kinds of response.
const MOST_KNOWN: usize = 8;
/// Longer blocks are not worth it.
const LONGEST: usize = 1024;

/// A head that came before: the same block means the same as long as the table is the same.
#[derive(Debug)]
struct KnownHead {
    block: Vec<u8>,
    /// State of the table, which the block did not change.
    changes: u64,
    status: u16,
    length: Option<u64>,
    fields: Fields,
}

/// The last final heads that left the table as it was.
#[derive(Debug, Default)]
pub(super) struct KnownHeads {
    known: Vec<KnownHead>,
    /// The one that came last; `None` if the last head was none of these.
    last: Option<usize>,
    /// Where the next one goes.
    next: usize,
}

impl KnownHeads {
    #[inline]
    fn find(&mut self, block: &[u8], changes: u64) -> Option<(u16, Option<u64>)> {
        let is = |head: &KnownHead| head.changes == changes && head.block == block;
        let at = match self.last {
            Some(last) if is(&self.known[last]) => last,
            _ => self.known.iter().position(is)?,
        };
        self.last = Some(at);
        Some((self.known[at].status, self.known[at].length))
    }

    fn keep(&mut self, block: &[u8], changes: u64, meaning: (u16, Option<u64>), fields: &Fields) {
        if block.len() > LONGEST {
            return;
        }
        let head =
            KnownHead { block: block.to_vec(), changes, status: meaning.0, length: meaning.1, fields: fields.clone() };
        if self.known.len() < MOST_KNOWN {
            self.known.push(head);
        } else {
            self.known[self.next] = head;
            self.next = (self.next + 1) % MOST_KNOWN;
        }
    }

    pub fn last(&self) -> Option<&Fields> {
        self.last.map(|at| &self.known[at].fields)
    }
}

impl<T: Default> Client<T> {
    pub(super) fn read_headers<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Told<'d>>, H2Error> {
        let (block, _) = strip(head, payload)?;
        let end_stream = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.read_block(head.stream, end_stream, block, HEAD_BYTES + payload.len());
        }
        if self.is_idle(head.stream) {
            return Err(H2Error::protocol("HEADERS on a stream that nobody has opened"));
        }
        self.block.bytes.clear();
        (self.block.stream, self.block.frames, self.block.end_stream) = (head.stream, 0, end_stream);
        self.block.add(block).map(|()| None)
    }

    pub(super) fn read_continuation<'d>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Told<'d>>, H2Error> {
        if !self.block.is_open() || head.stream != self.block.stream {
            return Err(H2Error::protocol("CONTINUATION of nothing"));
        }
        self.block.add(payload)?;
        if !head.has(flag::END_HEADERS) {
            return Ok(None);
        }
        let bytes = std::mem::take(&mut self.block.bytes);
        let stream = std::mem::take(&mut self.block.stream);
        let framed = bytes.len() + HEAD_BYTES * self.block.frames as usize;
        let told = self.read_block(stream, self.block.end_stream, &bytes, framed);
        self.block.bytes = bytes;
        told
    }

    /// A whole block; `framed`: the bytes of its frames.
    #[inline]
    pub(super) fn read_block<'d>(
        &mut self,
        id: u32,
        end: bool,
        block: &[u8],
        framed: usize,
    ) -> Result<Option<Told<'d>>, H2Error> {
        let known = self.heads.find(block, self.decoder.changes());
        match (known, self.streams.find(id)) {
            (Some(meaning), Some(at)) if self.streams.get(at).is_some_and(|stream| !stream.has_head) => {
                Ok(Some(self.begin_response(at, meaning, framed, end)))
            }
            _ => self.read_new_block(id, end, block, framed),
        }
    }

    /// Every block has to be decoded, whatever becomes of its stream: the tables of both ends go with it.
    fn read_new_block<'d>(
        &mut self,
        id: u32,
        end: bool,
        block: &[u8],
        framed: usize,
    ) -> Result<Option<Told<'d>>, H2Error> {
        let changes = self.decoder.changes();
        self.heads.last = None;
        self.fields.clear();
        self.decoder.decode(block, &mut self.fields)?;
        let Some(at) = self.streams.find(id) else {
            return self.check_closed(id, "HEADERS on a stream that is not open").map(|()| None);
        };
        if let Some(stream) = self.streams.get_mut(at).filter(|stream| stream.has_head) {
            stream.wire_bytes += framed as u64;
            if !end || self.fields.too_large() || check_trailers(&self.fields).is_err() {
                return Ok(Some(self.refuse(at, id, ErrorCode::PROTOCOL_ERROR, "trailers that are none")));
            }
            return Ok(Some(self.end_stream(at)));
        }
        if self.fields.too_large() {
            return Ok(Some(self.refuse(at, id, ErrorCode::CANCEL, "a head larger than was agreed")));
        }
        let Ok((status, length)) = check_response(&self.fields) else {
            return Ok(Some(self.refuse(at, id, ErrorCode::PROTOCOL_ERROR, "a head that breaks the rules of HTTP/2")));
        };
        if status < 200 {
            self.patience.spend("too many interim responses")?;
            let what = "an interim response that ends its stream";
            return Ok(end.then(|| self.refuse(at, id, ErrorCode::PROTOCOL_ERROR, what)));
        }
        if self.decoder.changes() == changes {
            self.heads.keep(block, changes, (status, length), &self.fields);
        }
        Ok(Some(self.begin_response(at, (status, length), framed, end)))
    }

    #[inline]
    fn begin_response<'d>(&mut self, at: Place, meaning: (u16, Option<u64>), framed: usize, end: bool) -> Told<'d> {
        let (status, length) = meaning;
        self.patience.regain();
        if let Some(stream) = self.streams.get_mut(at) {
            stream.has_head = true;
            stream.missing = if stream.bodyless || matches!(status, 204 | 304) { Some(0) } else { length };
            stream.wire_bytes += framed as u64;
        }
        if !end {
            return Told::Head { at, status, end: false };
        }
        match self.end_stream(at) {
            Told::End { at } => Told::Head { at, status, end: true },
            other => other,
        }
    }
}
