//! What one end knows, and what it does with each frame but those that carry fields.

use super::connection::{Event, Limits};
use super::frame::{self, FrameHead, flag, kind};
use super::headers::OpenBlock;
use super::hpack::{Decoder, Encoder, Fields, encode};
use super::reader::Piece;
use super::streams::{Parting, Stream, Streams};
use super::{ErrorCode, H2Error};
use crate::patience::Patience;

/// The windows of both ends before anybody has said otherwise.
const DEFAULT_WINDOW: u32 = 65_535;
const MOST_STREAM_ID: u32 = 0x7fff_ffff;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Server,
    Client,
}

/// What the peer grants us.
#[derive(Debug)]
pub(super) struct Peer {
    pub stream_window: u32,
    pub frame_bytes: usize,
    pub most_streams: u32,
    pub went_away: bool,
}

/// The DATA frame that is being read.
#[derive(Clone, Copy, Debug)]
struct OpenData {
    stream: u32,
    /// Bytes of the frame, padding included: what the windows count.
    length: u32,
    end: bool,
}

#[derive(Debug)]
pub(super) struct Core {
    pub role: Role,
    pub limits: Limits,
    pub peer: Peer,
    pub streams: Streams,
    /// The highest identifier of a stream that the client has opened.
    pub last: u32,
    pub out: Vec<u8>,
    pub encoder: Encoder,
    pub decoder: Decoder,
    pub fields: Fields,
    pub block: OpenBlock,
    pub patience: Patience,
    pub send_window: i64,
    receive_window: i64,
    unreturned: u32,
    data: Option<OpenData>,
    has_settings: bool,
    /// The peer has seen our settings.
    pub has_ack: bool,
    pub failed: bool,
}

impl Core {
    pub fn new(role: Role, limits: Limits) -> Self {
        Self {
            role,
            limits,
            peer: Peer {
                stream_window: DEFAULT_WINDOW,
                frame_bytes: frame::DEFAULT_FRAME_BYTES,
                most_streams: u32::MAX,
                went_away: false,
            },
            streams: Streams::default(),
            last: 0,
            out: Vec::new(),
            encoder: Encoder::default(),
            decoder: Decoder::default(),
            fields: Fields::new(limits.most_list_bytes as usize),
            block: OpenBlock::default(),
            patience: Patience::default(),
            send_window: i64::from(DEFAULT_WINDOW),
            receive_window: i64::from(limits.connection_window.max(DEFAULT_WINDOW)),
            unreturned: 0,
            data: None,
            has_settings: false,
            has_ack: false,
            failed: false,
        }
    }

    /// Tells of a connection window beyond the one that every connection begins with.
    pub fn widen_connection(&mut self) {
        let more = self.limits.connection_window.saturating_sub(DEFAULT_WINDOW);
        if more > 0 {
            frame::write_window_update(&mut self.out, 0, more);
        }
    }

    pub fn fail(&mut self, error: H2Error) {
        self.failed = true;
        self.go_away(error.code, error.what);
    }

    pub fn go_away(&mut self, code: ErrorCode, debug: &str) {
        // A server opens no streams that its client could have looked at.
        let last = if self.role == Role::Server { self.last } else { 0 };
        frame::write_goaway(&mut self.out, last, code, debug);
    }

    /// The identifier of the next stream that a client may open.
    pub fn next_id(&self) -> Option<u32> {
        let next = if self.last == 0 { 1 } else { self.last + 2 };
        let allowed = self.role == Role::Client
            && !self.failed
            && !self.peer.went_away
            && next <= MOST_STREAM_ID
            && self.streams.len() < self.peer.most_streams as usize;
        allowed.then_some(next)
    }

    /// Opens stream `id`; a server's peer has said all there is unless [`Self::receives`] is called.
    pub fn open(&mut self, id: u32, bodyless: bool) -> &mut Stream {
        self.last = id;
        let stream = Stream {
            send_window: i64::from(self.peer.stream_window),
            receive_window: i64::from(self.receive_window_at_begin()),
            unreturned: 0,
            receives: self.role == Role::Client,
            sends: true,
            held: false,
            has_head: self.role == Role::Server,
            bodyless,
            missing: None,
        };
        self.streams.open(id, stream)
    }

    /// A peer that has not seen our settings yet goes by the default.
    fn receive_window_at_begin(&self) -> u32 {
        if self.has_ack { self.limits.stream_window } else { self.limits.stream_window.max(DEFAULT_WINDOW) }
    }

    /// The peer has seen our settings: if they make windows smaller, it has taken the difference off already.
    pub fn take_ack(&mut self) {
        let less = i64::from(self.receive_window_at_begin() - self.limits.stream_window);
        self.has_ack = true;
        self.streams.all_mut().for_each(|stream| stream.receive_window -= less);
    }

    pub fn begin_head(&mut self) -> usize {
        let at = frame::begin_headers(&mut self.out);
        self.encoder.begin(&mut self.out);
        at
    }

    pub fn write_head<'f>(
        &mut self,
        at: usize,
        id: u32,
        fields: impl IntoIterator<Item = (&'f [u8], &'f [u8])>,
        end: bool,
    ) {
        for (name, value) in fields {
            encode(&mut self.out, name, value);
        }
        frame::end_headers(&mut self.out, at, id, end, self.peer.frame_bytes);
        if end {
            self.end_sending(id);
        }
    }

    pub fn end_sending(&mut self, id: u32) {
        self.patience.regain();
        if let Some(stream) = self.streams.get_mut(id) {
            stream.sends = false;
            if !stream.receives {
                self.streams.close(id, Parting::Ended);
            }
        }
    }

    /// The peer has ended `id`: an event, unless less came than was declared.
    pub fn end_receiving(&mut self, id: u32) -> Result<Option<Event<'static>>, H2Error> {
        let Some(stream) = self.streams.get_mut(id) else { return Ok(None) };
        if !stream.has_head || stream.missing.is_some_and(|missing| missing > 0) {
            return self.refuse(id, ErrorCode::PROTOCOL_ERROR);
        }
        stream.receives = false;
        if !stream.sends {
            self.streams.close(id, Parting::Ended);
        }
        Ok(Some(Event::End { stream: id }))
    }

    /// A stream error (RFC 9113, 5.4.2).
    pub fn refuse(&mut self, id: u32, code: ErrorCode) -> Result<Option<Event<'static>>, H2Error> {
        self.patience.spend("too many streams had to be reset")?;
        frame::write_reset(&mut self.out, id, code);
        let known = self.streams.close(id, Parting::ByUs);
        if !known {
            self.streams.remember(id, Parting::ByUs);
        }
        Ok(known.then_some(Event::Reset { stream: id, code }))
    }

    /// Whether nobody has opened `id` yet. Servers open none, as nothing is pushed.
    pub const fn is_idle(&self, id: u32) -> bool {
        id.is_multiple_of(2) || id > self.last
    }

    #[inline]
    pub fn take<'d>(&mut self, piece: Piece<'_, 'd>) -> Result<Option<Event<'d>>, H2Error> {
        match piece {
            Piece::Data(bytes) => Ok(self.read_data(bytes)),
            Piece::DataBegin(head, bytes) => self.begin_data(head, bytes),
            Piece::DataEnd => self.end_data(),
            Piece::Control(head, payload) => self.read_control(head, payload),
        }
    }

    fn check_order(&mut self, head: FrameHead) -> Result<(), H2Error> {
        if !self.has_settings {
            if head.kind != kind::SETTINGS || head.has(flag::ACK) {
                return Err(H2Error::protocol("the first frame is not SETTINGS"));
            }
            self.has_settings = true;
        }
        if self.block.is_open() && head.kind != kind::CONTINUATION {
            return Err(H2Error::protocol("a field block is interrupted by another frame"));
        }
        Ok(())
    }

    fn begin_data<'d>(&mut self, head: FrameHead, bytes: u32) -> Result<Option<Event<'d>>, H2Error> {
        self.check_order(head)?;
        let FrameHead { length, stream: id, .. } = head;
        if self.is_idle(id) {
            return Err(H2Error::protocol("DATA on a stream that nobody has opened"));
        }
        self.receive_window -= i64::from(length);
        if self.receive_window < 0 {
            return Err(H2Error::flow_control("more data than the window of the connection allows"));
        }
        let end = head.has(flag::END_STREAM);
        self.data = Some(OpenData { stream: id, length, end });
        if bytes == 0 && !end {
            self.patience.spend("too many empty DATA frames")?;
        } else if bytes > 0 {
            self.patience.regain();
        }
        let Some(stream) = self.streams.get_mut(id).filter(|stream| stream.receives) else {
            return match self.streams.parting(id) {
                // It was under way when we gave the stream up.
                Some(Parting::ByUs) => Ok(None),
                _ => self.refuse(id, ErrorCode::STREAM_CLOSED),
            };
        };
        stream.receive_window -= i64::from(length);
        if stream.receive_window < 0 && length > 0 {
            return self.refuse(id, ErrorCode::FLOW_CONTROL_ERROR);
        }
        let declared = match stream.missing {
            Some(missing) => missing.checked_sub(u64::from(bytes)).map(Some),
            None => Some(None),
        };
        match declared {
            Some(missing) if stream.has_head => stream.missing = missing,
            _ => return self.refuse(id, ErrorCode::PROTOCOL_ERROR),
        }
        Ok(None)
    }

    #[inline]
    fn read_data<'d>(&self, bytes: &'d [u8]) -> Option<Event<'d>> {
        let stream = self.data?.stream;
        self.streams.get(stream).is_some_and(|stream| stream.receives).then_some(Event::Data { stream, bytes })
    }

    /// Gives windows back once half of them is used. Only at ends of frames, so that it does not matter how bytes are cut.
    fn end_data<'d>(&mut self) -> Result<Option<Event<'d>>, H2Error> {
        let Some(OpenData { stream: id, length, end }) = self.data.take() else { return Ok(None) };
        self.unreturned += length;
        if self.unreturned >= self.limits.connection_window.max(DEFAULT_WINDOW) / 2 {
            self.receive_window += i64::from(self.unreturned);
            frame::write_window_update(&mut self.out, 0, self.unreturned);
            self.unreturned = 0;
        }
        if end {
            // Trailers of an earlier message are not those of this one.
            self.fields.clear();
            let receives = self.streams.get(id).is_some_and(|stream| stream.receives);
            return if receives { self.end_receiving(id) } else { Ok(None) };
        }
        let Some(stream) = self.streams.get_mut(id) else { return Ok(None) };
        stream.unreturned += length;
        let covered = stream.missing.is_some_and(|missing| missing as i64 <= stream.receive_window);
        if stream.unreturned >= self.limits.stream_window / 2 && stream.unreturned > 0 && !stream.held && !covered {
            stream.receive_window += i64::from(stream.unreturned);
            frame::write_window_update(&mut self.out, id, stream.unreturned);
            stream.unreturned = 0;
        }
        Ok(None)
    }

    fn read_control<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
        self.check_order(head)?;
        match head.kind {
            kind::HEADERS => self.read_headers(head, payload),
            kind::CONTINUATION => self.read_continuation(head, payload),
            kind::PRIORITY => self.read_priority(head, payload),
            kind::RST_STREAM => self.read_reset(head, payload),
            kind::SETTINGS => self.read_settings(head, payload).map(|()| None),
            kind::PING => self.read_ping(head, payload).map(|()| None),
            kind::GOAWAY => self.read_goaway(head, payload),
            kind::WINDOW_UPDATE => self.read_window_update(head, payload),
            kind::PUSH_PROMISE => Err(H2Error::protocol("a push that nobody allowed")),
            // RFC 9113, 4.1: types that are unknown are ignored.
            _ => {
                self.patience.spend("too many frames of unknown types")?;
                Ok(None)
            }
        }
    }
}
