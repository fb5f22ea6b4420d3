//! One end of a connection: bytes in, events out; what it wants sent, in.

use super::core::{Core, Role};
use super::frame::{self, FrameHead, PREFACE, flag, kind, setting};
use super::hpack::{Fields, encode};
use super::reader::FrameReader;
use super::streams::Parting;
use super::{ErrorCode, H2Error};

/// The most of a frame that we fill, however much the peer would take: streams take turns frame by frame.
const MOST_FRAME_BYTES: usize = 64 * 1024;

/// What this end grants the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What a peer may send on one stream before it is given more, in bytes; at most 2^31 − 1.
    pub stream_window: u32,
    /// Likewise on all streams together; at least 65,535.
    pub connection_window: u32,
    /// Streams that a peer may have open at once.
    pub most_streams: u32,
    /// The largest list of fields, counted as RFC 9113, 6.5.2 does.
    pub most_list_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { stream_window: 1 << 20, connection_window: 16 << 20, most_streams: 256, most_list_bytes: 16 * 1024 }
    }
}

/// What a peer did that concerns the user of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'d> {
    /// A request, or a response other than an interim one, has begun; [`Connection::fields`] has its fields.
    Head {
        /// Its stream.
        stream: u32,
        /// Nothing follows: there will be no [`Event::End`].
        end: bool,
    },
    /// A piece of the body, never empty. Windows are raised again as it is read.
    Data {
        /// Its stream.
        stream: u32,
        /// The bytes.
        bytes: &'d [u8],
    },
    /// The message is complete; [`Connection::fields`] has its trailers, if any.
    End {
        /// Its stream.
        stream: u32,
    },
    /// The stream ended early, whoever wanted it: nothing more comes or can be sent.
    Reset {
        /// The stream.
        stream: u32,
        /// Why.
        code: ErrorCode,
    },
    /// The peer takes no new streams.
    GoAway {
        /// The last stream that it will look at.
        last: u32,
        /// Why.
        code: ErrorCode,
    },
}

/// One end of one connection. Nothing is allocated for a stream once as many have been open before.
///
/// Bytes to be sent gather in [`Connection::output`]; the user empties it before it sends a body's bytes of its own.
#[derive(Debug)]
pub struct Connection {
    reader: FrameReader,
    core: Core,
}

impl Connection {
    /// The end that answers. Its settings are in the output at once.
    #[must_use]
    pub fn server(limits: Limits) -> Self {
        let mut core = Core::new(Role::Server, limits);
        let settings = [
            (setting::MAX_CONCURRENT_STREAMS, limits.most_streams),
            (setting::INITIAL_WINDOW_SIZE, limits.stream_window),
            (setting::MAX_HEADER_LIST_SIZE, limits.most_list_bytes),
        ];
        frame::write_settings(&mut core.out, &settings);
        core.widen_connection();
        Self { reader: FrameReader::new(true), core }
    }

    /// The end that asks. Preface and settings are in the output at once.
    #[must_use]
    pub fn client(limits: Limits) -> Self {
        let mut core = Core::new(Role::Client, limits);
        core.out.extend_from_slice(PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, limits.stream_window),
            (setting::MAX_HEADER_LIST_SIZE, limits.most_list_bytes),
        ];
        frame::write_settings(&mut core.out, &settings);
        core.widen_connection();
        Self { reader: FrameReader::new(false), core }
    }

    /// The server's end after `Upgrade: h2c` (RFC 7540, 3.2): stream 1 waits for its response. `settings` is the decoded
    /// value of the field `HTTP2-Settings`.
    pub fn upgraded(limits: Limits, settings: &[u8]) -> Result<Self, H2Error> {
        let mut connection = Self::server(limits);
        connection.core.apply_settings(settings)?;
        connection.core.open(1, false);
        connection.core.last = 1;
        Ok(connection)
    }

    /// Reads on in `data`, which is moved on, up to the next event; `None` once all of it has been read.
    ///
    /// After an error, which the peer is told in the output, nothing more is read.
    #[inline]
    pub fn advance<'d>(&mut self, data: &mut &'d [u8]) -> Result<Option<Event<'d>>, H2Error> {
        let Self { reader, core } = self;
        while !core.failed {
            let outcome = match reader.advance(data) {
                Ok(None) => return Ok(None),
                Ok(Some(piece)) => core.take(piece),
                Err(error) => Err(error),
            };
            match outcome {
                Ok(None) => {}
                Ok(event) => return Ok(event),
                Err(error) => {
                    core.fail(error);
                    return Err(error);
                }
            }
        }
        *data = &[];
        Ok(None)
    }

    /// The fields of the last [`Event::Head`], or the trailers of the last [`Event::End`], until [`Self::advance`] is
    /// called again.
    #[must_use]
    pub const fn fields(&self) -> &Fields {
        &self.core.fields
    }

    /// What is to be sent next, in the order of its making.
    pub const fn output(&mut self) -> &mut Vec<u8> {
        &mut self.core.out
    }

    /// Whether a stream is still ours to send on.
    #[must_use]
    pub fn may_send(&self, stream: u32) -> bool {
        self.core.streams.get(stream).is_some_and(|stream| stream.sends)
    }

    /// How many bytes of a body may be sent on `stream` now: what its window and the connection's allow.
    #[inline]
    #[must_use]
    pub fn sendable(&self, stream: u32) -> usize {
        let Some(stream) = self.core.streams.get(stream).filter(|stream| stream.sends) else { return 0 };
        stream.send_window.min(self.core.send_window).max(0) as usize
    }

    /// How many bytes one frame may have.
    #[must_use]
    pub fn most_frame_bytes(&self) -> usize {
        self.core.peer.frame_bytes.min(MOST_FRAME_BYTES)
    }

    /// Writes the head of a response; one below 200 is an interim one. Returns whether the stream was there to take it.
    pub fn respond<'f>(
        &mut self,
        stream: u32,
        status: u16,
        fields: impl IntoIterator<Item = (&'f [u8], &'f [u8])>,
        end: bool,
    ) -> bool {
        debug_assert!((100..1000).contains(&status) && (status >= 200 || !end));
        if !self.may_send(stream) {
            return false;
        }
        let digits = [status / 100, status / 10 % 10, status % 10].map(|digit| b'0' + digit as u8);
        let core = &mut self.core;
        let at = core.begin_head();
        encode(&mut core.out, b":status", &digits);
        core.write_head(at, stream, fields, end);
        true
    }

    /// Opens a stream with a request, whose `fields` begin with its pseudo-fields; `None` while the peer allows no more
    /// streams, or for good once the numbers of streams are used up or the peer wants no more.
    ///
    /// `is_head` tells that no body belongs to the response, whatever it says.
    pub fn request<'f>(
        &mut self,
        fields: impl IntoIterator<Item = (&'f [u8], &'f [u8])>,
        end: bool,
        is_head: bool,
    ) -> Option<u32> {
        let core = &mut self.core;
        let id = core.next_id()?;
        core.open(id, is_head);
        let at = core.begin_head();
        core.write_head(at, id, fields, end);
        Some(id)
    }

    /// Writes the head of a DATA frame of `bytes` bytes, which the user has to send next: at most [`Self::sendable`] and
    /// [`Self::most_frame_bytes`].
    #[inline]
    pub fn data_head(&mut self, stream: u32, bytes: usize, end: bool) {
        debug_assert!(bytes <= self.sendable(stream) && bytes <= self.most_frame_bytes(), "no more than is allowed");
        let core = &mut self.core;
        let Some(found) = core.streams.get_mut(stream) else { return };
        found.send_window -= bytes as i64;
        core.send_window -= bytes as i64;
        let flags = if end { flag::END_STREAM } else { 0 };
        let head = FrameHead { length: bytes as u32, kind: kind::DATA, flags, stream };
        core.out.extend_from_slice(&head.bytes());
        if bytes > 0 {
            core.patience.regain();
        }
        if end {
            core.end_sending(stream);
        }
    }

    /// Gives a stream up; no event follows for it.
    pub fn reset(&mut self, stream: u32, code: ErrorCode) {
        if self.core.streams.close(stream, Parting::ByUs) {
            frame::write_reset(&mut self.core.out, stream, code);
        }
    }

    /// Never raises the window of `stream` again: its sender has to stop once it is used up.
    pub fn hold(&mut self, stream: u32) {
        if let Some(stream) = self.core.streams.get_mut(stream) {
            stream.held = true;
        }
    }

    /// Tells the peer that this end is about to leave. Streams that are open go on.
    pub fn go_away(&mut self, code: ErrorCode) {
        self.core.go_away(code, "");
    }

    /// Whether an error has ended the connection.
    #[must_use]
    pub const fn failed(&self) -> bool {
        self.core.failed
    }

    /// Streams that are open.
    #[must_use]
    pub fn open_streams(&self) -> usize {
        self.core.streams.len()
    }
}
