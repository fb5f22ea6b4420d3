//! The asking end of a connection at the least cost: for one that sends the same requests again and again, many at once.
//!
//! What it shares with [`super::Connection`] are the frames, the field blocks and the rules. Beside that it recognises
//! field blocks that it has read before by their bytes, and keeps what its user knows of a stream next to its own.

mod control;
mod data;
mod fields;
mod streams;
#[cfg(test)]
mod tests;

pub use streams::Place;
use streams::{Stream, Streams};

use super::frame::{self, FrameHead, HEAD_BYTES, PREFACE, flag, kind, setting};
use super::headers::OpenBlock;
use super::hpack::{Decoder, Fields, Phrase, Speaker, Vocabulary};
use super::reader::{FrameReader, Piece};
use super::{ErrorCode, H2Error, Limits};
use crate::patience::Patience;
use data::OpenData;
use fields::KnownHeads;

/// The windows of both ends before anybody has said otherwise.
const DEFAULT_WINDOW: u32 = 65_535;
const MOST_STREAM_ID: u32 = 0x7fff_ffff;
/// Streams to have at once as long as the server has not said how many it takes: what RFC 9113, 6.5.2 recommends that
/// none goes below.
const MOST_AT_FIRST: u32 = 100;
/// The most of a frame that we fill, however much the peer would take: streams take turns frame by frame.
const MOST_FRAME_BYTES: usize = 64 * 1024;

/// What the server did. A [`Place`] is that of a stream; what the user keeps there ([`Client::user`]) stays until another
/// stream is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told<'d> {
    /// A response, not an interim one, has begun; [`Client::fields`] has its fields.
    Head {
        /// Its stream.
        at: Place,
        /// Its status.
        status: u16,
        /// Nothing follows: the stream is over.
        end: bool,
    },
    /// A piece of the body.
    Body {
        /// Its stream.
        at: Place,
        /// Never empty unless it is the end.
        bytes: &'d [u8],
        /// How many bytes are known to follow.
        rest: Option<u64>,
        /// Nothing follows: the stream is over.
        end: bool,
    },
    /// The response is complete, and the stream over.
    End {
        /// Its stream.
        at: Place,
    },
    /// The server gave the stream up.
    Reset {
        /// The stream, which is over.
        at: Place,
        /// Why.
        code: ErrorCode,
    },
    /// The response breaks the rules; the server is told.
    Malformed {
        /// The stream, which is over.
        at: Place,
        /// Which rule.
        what: &'static str,
    },
    /// The server takes no new streams; [`Client::forsaken`] gives those that it won't look at.
    GoAway {
        /// Why.
        code: ErrorCode,
    },
    /// The server has told or changed how many streams it takes at once.
    Settings,
}

/// What the server grants us.
#[derive(Debug)]
struct Peer {
    stream_window: u32,
    frame_bytes: usize,
    most_streams: u32,
    went_away: bool,
}

/// What came of reading on.
enum Step<'d> {
    /// Something that the user need not know.
    Nothing,
    Told(Told<'d>),
    /// All bytes have been read.
    Read,
}

impl<'d> From<Option<Told<'d>>> for Step<'d> {
    fn from(told: Option<Told<'d>>) -> Self {
        told.map_or(Self::Nothing, Self::Told)
    }
}

/// A connection of a client, which keeps a `T` for each stream.
#[derive(Debug)]
pub struct Client<T> {
    reader: FrameReader,
    streams: Streams<T>,
    heads: KnownHeads,
    decoder: Decoder,
    fields: Fields,
    block: OpenBlock,
    speaker: Speaker,
    patience: Patience,
    out: Vec<u8>,
    limits: Limits,
    peer: Peer,
    send_window: i64,
    receive_window: i64,
    unreturned: u32,
    data: Option<OpenData>,
    /// The identifier of the next stream.
    next: u32,
    has_settings: bool,
    /// The server has told how many streams it takes.
    knows_most: bool,
    failed: bool,
}

impl<T: Default> Client<T> {
    /// Preface and settings are in the output at once. [`Limits::most_streams`] is how many streams the user will have at
    /// once, at most.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, limits.stream_window),
            (setting::MAX_HEADER_LIST_SIZE, limits.most_list_bytes),
        ];
        frame::write_settings(&mut out, &settings);
        let window = limits.connection_window.max(DEFAULT_WINDOW);
        if window > DEFAULT_WINDOW {
            frame::write_window_update(&mut out, 0, window - DEFAULT_WINDOW);
        }
        Self {
            reader: FrameReader::new(false),
            streams: Streams::new(limits.most_streams),
            heads: KnownHeads::default(),
            decoder: Decoder::default(),
            fields: Fields::new(limits.most_list_bytes as usize),
            block: OpenBlock::default(),
            speaker: Speaker::default(),
            patience: Patience::default(),
            out,
            limits,
            peer: Peer {
                stream_window: DEFAULT_WINDOW,
                frame_bytes: frame::DEFAULT_FRAME_BYTES,
                most_streams: MOST_AT_FIRST,
                went_away: false,
            },
            send_window: i64::from(DEFAULT_WINDOW),
            receive_window: i64::from(window),
            unreturned: 0,
            data: None,
            next: 1,
            has_settings: false,
            knows_most: false,
            failed: false,
        }
    }

    /// Streams that may be open at once now; 0 for good once the server takes none or their numbers are used up.
    #[inline]
    #[must_use]
    pub fn most_streams(&self) -> u32 {
        let over = self.failed || self.peer.went_away || self.next > MOST_STREAM_ID;
        if over { 0 } else { self.peer.most_streams.min(self.limits.most_streams) }
    }

    /// Opens a stream with a request that is sent again and again; the user has seen to it that there are fewer than
    /// [`Self::most_streams`]. `end`: it has no body. `is_head`: no body belongs to the response.
    #[inline]
    pub fn ask(
        &mut self,
        vocabulary: &Vocabulary,
        number: u32,
        phrase: &Phrase,
        end: bool,
        is_head: bool,
    ) -> (Place, &mut T) {
        let at = frame::begin_headers(&mut self.out);
        self.speaker.say(vocabulary, number, phrase, &mut self.out);
        self.open(at, end, is_head)
    }

    /// As [`Self::ask`], with fields that come but once.
    pub fn ask_once(&mut self, fields: &Fields, end: bool, is_head: bool) -> (Place, &mut T) {
        let at = frame::begin_headers(&mut self.out);
        self.speaker.say_once(fields, &mut self.out);
        self.open(at, end, is_head)
    }

    /// `at`: where in the output the frame begins, its block being complete.
    #[inline]
    fn open(&mut self, at: usize, end: bool, is_head: bool) -> (Place, &mut T) {
        let id = self.next;
        self.next += 2;
        frame::end_headers(&mut self.out, at, id, end, self.peer.frame_bytes);
        let stream = Stream {
            id,
            has_head: false,
            bodyless: is_head,
            sends: !end,
            missing: None,
            send_window: i64::from(self.peer.stream_window),
            receive_window: i64::from(self.limits.stream_window),
            unreturned: 0,
            wire_bytes: 0,
        };
        self.streams.open(stream)
    }

    /// What the user keeps of a stream, or of one that has just ended.
    #[inline]
    #[must_use]
    pub fn user(&mut self, at: Place) -> &mut T {
        self.streams.user(at)
    }

    /// The bytes of all frames of a response so far, also of one that has just ended.
    #[inline]
    #[must_use]
    pub fn wire_bytes(&self, at: Place) -> u64 {
        self.streams.wire_bytes(at)
    }

    /// The fields of the last [`Told::Head`].
    #[must_use]
    pub fn fields(&self) -> &Fields {
        self.heads.last().unwrap_or(&self.fields)
    }

    /// What is to be sent next; the user empties it.
    #[inline]
    pub const fn output(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Bytes of a body that may be sent on the stream now.
    #[must_use]
    pub fn sendable(&self, at: Place) -> usize {
        self.streams
            .get(at)
            .filter(|stream| stream.sends)
            .map_or(0, |stream| stream.send_window.min(self.send_window).max(0) as usize)
    }

    /// Bytes that one frame may have.
    #[must_use]
    pub fn most_frame_bytes(&self) -> usize {
        self.peer.frame_bytes.min(MOST_FRAME_BYTES)
    }

    /// Writes the head of a DATA frame of `bytes` bytes, which the user has to send next: at most [`Self::sendable`] and
    /// [`Self::most_frame_bytes`].
    pub fn data_head(&mut self, at: Place, bytes: usize, end: bool) {
        debug_assert!(bytes <= self.sendable(at) && bytes <= self.most_frame_bytes(), "no more than is allowed");
        let Some(stream) = self.streams.get_mut(at) else { return };
        stream.send_window -= bytes as i64;
        stream.sends = !end;
        self.send_window -= bytes as i64;
        let flags = if end { flag::END_STREAM } else { 0 };
        let head = FrameHead { length: bytes as u32, kind: kind::DATA, flags, stream: stream.id };
        self.out.extend_from_slice(&head.bytes());
    }

    /// Gives a stream up; nothing more is told of it.
    pub fn cancel(&mut self, at: Place) {
        if let Some(id) = self.streams.get(at).map(|stream| stream.id) {
            self.give_up(at, id, ErrorCode::CANCEL);
        }
    }

    /// Tells the server that nothing more is wanted.
    pub fn go_away(&mut self) {
        if !self.failed {
            frame::write_goaway(&mut self.out, 0, ErrorCode::NO_ERROR, "");
        }
    }

    /// The next stream that the server said it won't look at, which is over.
    pub fn forsaken(&mut self) -> Option<Place> {
        self.streams.pop_beyond()
    }

    /// All streams that are open.
    pub fn open_streams(&mut self) -> impl Iterator<Item = (Place, &mut T)> {
        self.streams.all_mut()
    }

    /// Reads on in `data`, which is moved on, up to the next thing to tell; `None` once all of it has been read.
    ///
    /// After an error, which the server is told in the output, nothing more is read.
    #[inline]
    pub fn advance<'d>(&mut self, data: &mut &'d [u8]) -> Result<Option<Told<'d>>, H2Error> {
        while !self.failed {
            let outcome = match self.whole_frame(data) {
                Some(outcome) => outcome,
                None => self.part_of_frame(data),
            };
            match outcome {
                Ok(Step::Nothing) => {}
                Ok(Step::Told(told)) => return Ok(Some(told)),
                Ok(Step::Read) => return Ok(None),
                Err(error) => return Err(self.fail(error)),
            }
        }
        *data = &[];
        Ok(None)
    }

    #[cold]
    fn fail(&mut self, error: H2Error) -> H2Error {
        self.failed = true;
        frame::write_goaway(&mut self.out, 0, error.code, error.what);
        error
    }

    /// The common case: a frame of a response that is there as a whole. `None`: something else is.
    #[inline]
    fn whole_frame<'d>(&mut self, data: &mut &'d [u8]) -> Option<Result<Step<'d>, H2Error>> {
        if !self.reader.at_head() || self.block.is_open() || !self.has_settings {
            return None;
        }
        let (head, rest) = data.split_first_chunk::<HEAD_BYTES>()?;
        let head = FrameHead::parse(*head);
        let length = head.length as usize;
        if length > frame::DEFAULT_FRAME_BYTES {
            return None;
        }
        let (payload, behind) = rest.split_at_checked(length)?;
        let outcome = match head.kind {
            kind::DATA if head.flags & flag::PADDED == 0 => self.whole_data(head, payload),
            kind::HEADERS if head.flags & !flag::END_STREAM == flag::END_HEADERS => {
                self.read_block(head.stream, head.has(flag::END_STREAM), payload, HEAD_BYTES + payload.len())
            }
            _ => return None,
        };
        *data = behind;
        Some(outcome.map(Step::from))
    }

    /// Anything else: frames that are cut, padded, or about the connection.
    fn part_of_frame<'d>(&mut self, data: &mut &'d [u8]) -> Result<Step<'d>, H2Error> {
        // The reader lends its memory to what it found, and the rest of us is needed meanwhile.
        let mut reader = std::mem::replace(&mut self.reader, FrameReader::new(false));
        let step = match reader.advance(data) {
            Ok(None) => Ok(Step::Read),
            Ok(Some(Piece::Control(head, payload))) => self.read_control(head, payload).map(Step::from),
            Ok(Some(Piece::DataBegin(head, bytes))) => self.begin_data(head, bytes).map(Step::from),
            Ok(Some(Piece::Data(bytes))) => Ok(self.read_data(bytes).into()),
            Ok(Some(Piece::DataEnd)) => Ok(self.end_data().into()),
            Err(error) => Err(error),
        };
        self.reader = reader;
        step
    }

    /// The server has said all there is on a stream.
    #[inline]
    fn end_stream<'d>(&mut self, at: Place) -> Told<'d> {
        let Some(stream) = self.streams.get(at) else { return Told::End { at } };
        let (id, sends) = (stream.id, stream.sends);
        if !stream.has_head || stream.missing.is_some_and(|missing| missing > 0) {
            return self.refuse(at, id, ErrorCode::PROTOCOL_ERROR, "a body shorter than its Content-Length");
        }
        if sends {
            // RFC 9113, 8.1: an answer that did not wait for the whole request is good; the rest of the request is moot.
            self.give_up(at, id, ErrorCode::NO_ERROR);
        } else {
            self.streams.close(at);
        }
        Told::End { at }
    }

    /// A stream error (RFC 9113, 5.4.2).
    #[cold]
    fn refuse<'d>(&mut self, at: Place, id: u32, code: ErrorCode, what: &'static str) -> Told<'d> {
        self.give_up(at, id, code);
        Told::Malformed { at, what }
    }

    #[cold]
    fn give_up(&mut self, at: Place, id: u32, code: ErrorCode) {
        frame::write_reset(&mut self.out, id, code);
        self.streams.close(at);
        self.streams.remember_reset(id);
    }

    /// What comes for a stream that is not open is good if the server can't know yet.
    #[cold]
    fn check_closed(&mut self, id: u32, what: &'static str) -> Result<(), H2Error> {
        if self.is_idle(id) {
            return Err(H2Error::protocol(what));
        }
        if self.streams.was_reset(id) {
            return Ok(self.patience.spend("too much on streams that had been given up")?);
        }
        Err(H2Error { code: ErrorCode::STREAM_CLOSED, what })
    }

    /// Whether nobody has opened `id` yet. Servers open none, as nothing is pushed.
    const fn is_idle(&self, id: u32) -> bool {
        id.is_multiple_of(2) || id >= self.next
    }
}
