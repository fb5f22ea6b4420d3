//! DATA: bodies of responses, and the windows that they use.

use super::super::frame::{self, FrameHead, HEAD_BYTES, flag};
use super::super::{ErrorCode, H2Error};
use super::{Client, DEFAULT_WINDOW, Told};

/// The DATA frame that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenData {
    pub stream: u32,
    /// Padding included: what the windows count.
    pub length: u32,
    /// What of the data is still to come.
    pub left: u32,
    pub end: bool,
}

impl<T: Default> Client<T> {
    #[inline]
    pub(super) fn whole_data<'d>(&mut self, head: FrameHead, bytes: &'d [u8]) -> Result<Option<Told<'d>>, H2Error> {
        let begun = self.begin_data(head, head.length)?;
        if begun.is_some() {
            self.return_window(head.length);
            self.data = None;
            return Ok(begun);
        }
        let Some(at) = self.streams.find(head.stream) else {
            return Ok(self.end_data());
        };
        let rest = self.streams.get(at).and_then(|stream| stream.missing);
        if head.has(flag::END_STREAM) {
            return Ok(match self.end_data() {
                Some(Told::End { at }) => Some(Told::Body { at, bytes, rest: Some(0), end: true }),
                other => other,
            });
        }
        self.end_data();
        Ok((!bytes.is_empty()).then_some(Told::Body { at, bytes, rest, end: false }))
    }

    #[inline]
    pub(super) fn begin_data<'d>(&mut self, head: FrameHead, bytes: u32) -> Result<Option<Told<'d>>, H2Error> {
        self.check_order(head)?;
        let FrameHead { length, stream: id, .. } = head;
        self.receive_window -= i64::from(length);
        if self.receive_window < 0 {
            return Err(H2Error::flow_control("more data than the window of the connection allows"));
        }
        let end = head.has(flag::END_STREAM);
        self.data = Some(OpenData { stream: id, length, left: bytes, end });
        if bytes > 0 {
            self.patience.regain();
        } else if !end {
            self.patience.spend("too many empty DATA frames")?;
        }
        let Some(at) = self.streams.find(id) else {
            return self.check_closed(id, "DATA on a stream that is not open").map(|()| None);
        };
        let Some(stream) = self.streams.get_mut(at) else { return Ok(None) };
        stream.receive_window -= i64::from(length);
        stream.wire_bytes += u64::from(length) + HEAD_BYTES as u64;
        if stream.receive_window < 0 && length > 0 {
            let what = "more data than the window of the stream allows";
            return Ok(Some(self.refuse(at, id, ErrorCode::FLOW_CONTROL_ERROR, what)));
        }
        if !stream.has_head {
            return Ok(Some(self.refuse(at, id, ErrorCode::PROTOCOL_ERROR, "a body without a head")));
        }
        if let Some(missing) = &mut stream.missing {
            let Some(left) = missing.checked_sub(u64::from(bytes)) else {
                let what = "a body longer than its Content-Length, or one where there must be none";
                return Ok(Some(self.refuse(at, id, ErrorCode::PROTOCOL_ERROR, what)));
            };
            *missing = left;
        }
        Ok(None)
    }

    pub(super) fn read_data<'d>(&mut self, bytes: &'d [u8]) -> Option<Told<'d>> {
        let open = self.data.as_mut()?;
        open.left -= bytes.len() as u32;
        let left = open.left;
        let at = self.streams.find(open.stream)?;
        let missing = self.streams.get(at).and_then(|stream| stream.missing);
        Some(Told::Body { at, bytes, rest: missing.map(|missing| missing + u64::from(left)), end: false })
    }

    #[inline]
    pub(super) fn end_data<'d>(&mut self) -> Option<Told<'d>> {
        let OpenData { stream: id, length, end, .. } = self.data.take()?;
        self.return_window(length);
        let at = self.streams.find(id)?;
        if end {
            return Some(self.end_stream(at));
        }
        let stream = self.streams.get_mut(at)?;
        stream.unreturned += length;
        let covered = stream.missing.is_some_and(|missing| missing as i64 <= stream.receive_window);
        if stream.unreturned > 0 && stream.unreturned >= self.limits.stream_window / 2 && !covered {
            stream.receive_window += i64::from(stream.unreturned);
            frame::write_window_update(&mut self.out, id, stream.unreturned);
            stream.unreturned = 0;
        }
        None
    }

    /// Gives the connection's window back once half of it is used.
    #[inline]
    fn return_window(&mut self, length: u32) {
        self.unreturned += length;
        if self.unreturned >= self.limits.connection_window.max(DEFAULT_WINDOW) / 2 {
            self.receive_window += i64::from(self.unreturned);
            frame::write_window_update(&mut self.out, 0, self.unreturned);
            self.unreturned = 0;
        }
    }
}
