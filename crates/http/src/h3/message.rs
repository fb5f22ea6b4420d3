//! One request or response, from the bytes of its stream.

use super::frame::kind;
use super::reader::{FrameReader, Piece};
use super::sections::{Of, Sections};
use super::{ErrorCode, H3Error, Role};

/// The longest field section, coded: what a list of the largest usual size takes, and plenty more.
const MOST_SECTION_BYTES: usize = 64 * 1024;
/// Frames in a row that serve nobody: unknown and empty ones, interim responses.
const MOST_IDLE_FRAMES: u16 = 100;

/// What a message brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'d> {
    /// The head of a request, or of a response other than an interim one; [`Sections::fields`] has its fields.
    Head,
    /// A piece of the body, never empty.
    Data(&'d [u8]),
    /// The message is complete. Trailers were checked and passed over.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    Body,
    /// Trailers have come.
    Trailed,
    /// Ended or failed: nothing more is read.
    Over,
}

/// The reader of one message.
#[derive(Debug)]
pub struct Message {
    reader: FrameReader,
    stage: Stage,
    /// Whose messages are read.
    sender: Role,
    /// No body belongs to this response, whatever its Content-Length says.
    is_bodyless: bool,
    idle_frames: u16,
    /// What is missing of the declared Content-Length.
    missing: Option<u64>,
}

impl Message {
    /// A reader of a request.
    #[must_use]
    pub fn request() -> Self {
        Self::new(Role::Client, false)
    }

    /// A reader of a response; `is_head` tells that the request was a HEAD.
    #[must_use]
    pub fn response(is_head: bool) -> Self {
        Self::new(Role::Server, is_head)
    }

    fn new(sender: Role, is_bodyless: bool) -> Self {
        let reader = FrameReader::default();
        Self { reader, stage: Stage::Head, sender, is_bodyless, idle_frames: 0, missing: None }
    }

    /// Forgets what it read, for the next message of the same sender; keeps its memory.
    pub fn reset(&mut self, is_head: bool) {
        self.reader.reset();
        (self.stage, self.is_bodyless) = (Stage::Head, is_head);
        (self.idle_frames, self.missing) = (0, None);
    }

    /// Whether the message has begun: its head has come.
    #[must_use]
    pub const fn has_head(&self) -> bool {
        matches!(self.stage, Stage::Body | Stage::Trailed)
    }

    /// Reads on in `data`, which is moved on, up to the next event; `None` once all of it has been read. With `end` the
    /// stream ends behind `data`.
    ///
    /// After an error nothing more is read.
    #[inline]
    pub fn advance<'d>(
        &mut self,
        data: &mut &'d [u8],
        end: bool,
        sections: &mut Sections,
    ) -> Result<Option<Event<'d>>, H3Error> {
        let outcome = self.step(data, end, sections);
        if outcome.is_err() {
            self.stage = Stage::Over;
            *data = &[];
        }
        outcome
    }

    fn step<'d>(
        &mut self,
        data: &mut &'d [u8],
        end: bool,
        sections: &mut Sections,
    ) -> Result<Option<Event<'d>>, H3Error> {
        if self.stage == Stage::Over {
            *data = &[];
            return Ok(None);
        }
        while let Some(piece) = self.reader.advance(data, MOST_SECTION_BYTES)? {
            match piece {
                Piece::Data(bytes) => return Ok(Some(Event::Data(bytes))),
                Piece::Begin { kind, length } => {
                    let idle = self.idle_frames;
                    self.idle_frames = check_begin(self.stage, self.sender, &mut self.missing, idle, kind, length)?;
                }
                Piece::Payload { bytes, .. } => {
                    // Of all frames with payloads only HEADERS may begin here.
                    if self.stage == Stage::Body {
                        sections.read(Of::Trailers, bytes)?;
                        self.stage = Stage::Trailed;
                        continue;
                    }
                    let of = if self.sender == Role::Client { Of::Request } else { Of::Response };
                    let head = sections.read(of, bytes)?;
                    if of == Of::Response && head.status < 200 {
                        self.idle_frames = idle(self.idle_frames)?;
                        continue;
                    }
                    let is_bodyless = self.is_bodyless || matches!(head.status, 204 | 304);
                    self.missing = if is_bodyless { Some(0) } else { head.content_length };
                    self.stage = Stage::Body;
                    return Ok(Some(Event::Head));
                }
            }
        }
        if end { self.end().map(Some) } else { Ok(None) }
    }

    fn end<'d>(&mut self) -> Result<Event<'d>, H3Error> {
        if !self.reader.is_between_frames() {
            return Err(H3Error::connection(ErrorCode::FRAME_ERROR, "a stream ends within a frame"));
        }
        if self.stage == Stage::Head {
            return Err(H3Error::stream(ErrorCode::REQUEST_INCOMPLETE, "a stream ends without a message"));
        }
        if self.missing.is_some_and(|missing| missing > 0) {
            return Err(H3Error::malformed("a body is shorter than its Content-Length"));
        }
        self.stage = Stage::Over;
        Ok(Event::End)
    }
}

/// Whether a frame may begin here; returns the count of idle frames that it makes.
fn check_begin(
    stage: Stage,
    sender: Role,
    missing: &mut Option<u64>,
    idle_frames: u16,
    kind: u64,
    length: u64,
) -> Result<u16, H3Error> {
    match kind {
        kind::DATA => {
            if stage != Stage::Body {
                return Err(H3Error::unexpected("DATA before HEADERS or behind trailers"));
            }
            if let Some(missing) = missing {
                *missing = missing
                    .checked_sub(length)
                    .ok_or(H3Error::malformed("a body is longer than its Content-Length"))?;
            }
            if length == 0 { idle(idle_frames) } else { Ok(0) }
        }
        kind::HEADERS if stage == Stage::Trailed => Err(H3Error::unexpected("HEADERS behind trailers")),
        kind::HEADERS => Ok(idle_frames),
        kind::PUSH_PROMISE if sender == Role::Server => {
            Err(H3Error::connection(ErrorCode::ID_ERROR, "a push that nobody allowed"))
        }
        kind::PUSH_PROMISE | kind::CANCEL_PUSH | kind::SETTINGS | kind::GOAWAY | kind::MAX_PUSH_ID => {
            Err(H3Error::unexpected("a frame that has no place on the stream of a message"))
        }
        _ if kind::is_of_http_2(kind) => Err(H3Error::unexpected("a frame of HTTP/2")),
        // RFC 9114, section 9: types that are unknown are ignored.
        _ => idle(idle_frames),
    }
}

fn idle(frames: u16) -> Result<u16, H3Error> {
    if frames < MOST_IDLE_FRAMES {
        return Ok(frames + 1);
    }
    Err(H3Error::stream(ErrorCode::EXCESSIVE_LOAD, "too many frames that serve nobody"))
}
