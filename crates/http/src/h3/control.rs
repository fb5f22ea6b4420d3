//! What concerns the whole connection: the unidirectional streams of both ends (RFC 9114, 6.2).

use std::collections::VecDeque;

use super::frame::{self, kind, setting, stream_kind};
use super::qpack::{DecoderStream, EncoderStream};
use super::reader::{FrameReader, Piece};
use super::{ErrorCode, H3Error, Role, varint};
use crate::patience::Patience;

/// The longest frame on a control stream that is not passed over.
const MOST_FRAME_BYTES: usize = 4096;
/// Unwanted streams that are remembered: data may come for one that its sender was asked to end.
const MOST_UNWANTED: usize = 64;
/// Streams whose type has not come whole.
const MOST_UNTYPED: usize = 16;

/// What the peer told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Nothing that its user has to do something about.
    Nothing,
    /// It is about to leave. Requests on this stream and later ones are not looked at.
    GoAway(u64),
    /// The stream is of a type that nobody knows: the peer may be asked to stop sending on it, with
    /// [`ErrorCode::STREAM_CREATION_ERROR`].
    Unwanted,
}

/// What the peer grants us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerSettings {
    /// The largest list of fields that it takes, if it says so.
    pub most_list_bytes: Option<u64>,
}

/// A unidirectional stream of the peer.
#[derive(Debug)]
enum Inbound {
    /// So many bytes of its type have come.
    Untyped([u8; 8], usize),
    Control(Box<FrameReader>),
    Encoder,
    Decoder(DecoderStream),
}

/// One end's view of one connection.
#[derive(Debug)]
pub struct Control {
    role: Role,
    patience: Patience,
    streams: Vec<(u64, Inbound)>,
    unwanted: VecDeque<u64>,
    settings: Option<PeerSettings>,
    /// The last identifier of the peer's GOAWAY.
    left_at: Option<u64>,
    most_push: Option<u64>,
}

impl Control {
    /// The control of a connection of which this is the `role` end.
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self {
            role,
            patience: Patience::default(),
            streams: Vec::new(),
            unwanted: VecDeque::new(),
            settings: None,
            left_at: None,
            most_push: None,
        }
    }

    /// Appends what our control stream begins with; it has to be opened first of all, and stays open. Further
    /// unidirectional streams are not needed. Lists of fields may have up to `most_list_bytes`.
    pub fn write_greeting(out: &mut Vec<u8>, most_list_bytes: u64) {
        varint::write(out, stream_kind::CONTROL);
        frame::write_settings(out, &[(setting::MAX_FIELD_SECTION_SIZE, most_list_bytes)]);
    }

    /// Appends to our control stream that we are about to leave. A server tells the first stream that it does not look
    /// at, and may tell a lower one later; a client tells 0.
    pub fn write_go_away(out: &mut Vec<u8>, stream: u64) {
        frame::write_identifier(out, kind::GOAWAY, stream);
    }

    /// What the peer's settings are, once they have come.
    #[must_use]
    pub const fn peer_settings(&self) -> Option<PeerSettings> {
        self.settings
    }

    /// What the peer's last GOAWAY said: the first stream that it does not look at.
    #[must_use]
    pub const fn peer_left_at(&self) -> Option<u64> {
        self.left_at
    }

    /// Something useful happened: a message was completed, data came.
    #[inline]
    pub const fn progressed(&mut self) {
        self.patience.regain();
    }

    /// The peer gave a request up, or made us give it up; too many in a row end the connection (CVE-2023-44487).
    pub fn message_broken(&mut self) -> Result<(), H3Error> {
        Ok(self.patience.spend("too many requests were given up")?)
    }

    /// Takes what came on `stream`, a unidirectional one of the peer; with `end` nothing more follows. Every error is the
    /// connection's.
    pub fn received(&mut self, stream: u64, data: &[u8], end: bool) -> Result<Notice, H3Error> {
        let at = match self.streams.iter().position(|(known, _)| *known == stream) {
            Some(at) => at,
            None if self.unwanted.contains(&stream) => return Ok(Notice::Nothing),
            None => self.open(stream)?,
        };
        let mut data = data;
        if matches!(self.streams[at].1, Inbound::Untyped(..)) && !self.read_type(at, &mut data)? {
            // The stream is gone, or its type is not there yet.
            let is_unwanted = self.unwanted.back() == Some(&stream);
            if end && !is_unwanted {
                self.streams.swap_remove(at);
            }
            return Ok(if is_unwanted && !end { Notice::Unwanted } else { Notice::Nothing });
        }
        let notice = self.read(at, data)?;
        if end {
            return Err(closed_critical());
        }
        Ok(notice)
    }

    /// The peer reset `stream`, a unidirectional one of its own.
    pub fn stream_reset(&mut self, stream: u64) -> Result<(), H3Error> {
        let Some(at) = self.streams.iter().position(|(known, _)| *known == stream) else { return Ok(()) };
        let (_, inbound) = self.streams.swap_remove(at);
        if matches!(inbound, Inbound::Untyped(..)) { Ok(()) } else { Err(closed_critical()) }
    }

    fn open(&mut self, stream: u64) -> Result<usize, H3Error> {
        let untyped = self.streams.iter().filter(|(_, inbound)| matches!(inbound, Inbound::Untyped(..))).count();
        if untyped >= MOST_UNTYPED {
            return Err(H3Error::connection(ErrorCode::EXCESSIVE_LOAD, "too many streams without a type"));
        }
        self.streams.push((stream, Inbound::Untyped([0; 8], 0)));
        Ok(self.streams.len() - 1)
    }

    /// Reads the type of the stream at `at`. Returns whether there is something behind it to be read.
    fn read_type(&mut self, at: usize, data: &mut &[u8]) -> Result<bool, H3Error> {
        let (stream, Inbound::Untyped(bytes, count)) = &mut self.streams[at] else { return Ok(true) };
        let kind = loop {
            let Some((&byte, rest)) = data.split_first() else { return Ok(false) };
            *data = rest;
            bytes[*count] = byte;
            *count += 1;
            if let Some((kind, _)) = varint::read(&bytes[..*count]) {
                break kind;
            }
        };
        let stream = *stream;
        let inbound = match kind {
            stream_kind::CONTROL => Inbound::Control(Box::default()),
            stream_kind::QPACK_ENCODER => Inbound::Encoder,
            stream_kind::QPACK_DECODER => Inbound::Decoder(DecoderStream::default()),
            stream_kind::PUSH => {
                return Err(match self.role {
                    Role::Server => H3Error::connection(ErrorCode::STREAM_CREATION_ERROR, "a client that pushes"),
                    Role::Client => H3Error::connection(ErrorCode::ID_ERROR, "a push that nobody allowed"),
                });
            }
            _ => {
                self.patience.spend("too many streams of unknown types")?;
                self.streams.swap_remove(at);
                if self.unwanted.len() == MOST_UNWANTED {
                    self.unwanted.pop_front();
                }
                self.unwanted.push_back(stream);
                return Ok(false);
            }
        };
        let is_second = |(_, other): &(u64, Inbound)| std::mem::discriminant(other) == std::mem::discriminant(&inbound);
        if self.streams.iter().any(is_second) {
            let what = "a second stream of a type that may be there once";
            return Err(H3Error::connection(ErrorCode::STREAM_CREATION_ERROR, what));
        }
        self.streams[at].1 = inbound;
        Ok(true)
    }

    fn read(&mut self, at: usize, data: &[u8]) -> Result<Notice, H3Error> {
        let Self { streams, patience, settings, left_at, most_push, role, .. } = self;
        let reader = match &mut streams[at].1 {
            Inbound::Untyped(..) => return Ok(Notice::Nothing),
            Inbound::Encoder => return EncoderStream.read(data).map(|()| Notice::Nothing),
            Inbound::Decoder(decoder) => return decoder.read(data).map(|()| Notice::Nothing),
            Inbound::Control(reader) => reader,
        };
        let (mut data, mut notice) = (data, Notice::Nothing);
        while let Some(piece) = reader.advance(&mut data, MOST_FRAME_BYTES).map_err(of_connection)? {
            match piece {
                Piece::Begin { kind, .. } => {
                    check_begin(*role, settings.is_some(), kind)?;
                    patience.spend("too many frames on the control stream")?;
                }
                Piece::Payload { kind: kind::SETTINGS, bytes } => *settings = Some(read_settings(bytes)?),
                Piece::Payload { kind: kind::GOAWAY, bytes } => {
                    let stream = check_go_away(*role, *left_at, identifier(bytes)?)?;
                    *left_at = Some(stream);
                    notice = Notice::GoAway(stream);
                }
                Piece::Payload { kind: kind::MAX_PUSH_ID, bytes } => {
                    let most = identifier(bytes)?;
                    if most_push.replace(most).is_some_and(|before| most < before) {
                        return Err(H3Error::connection(ErrorCode::ID_ERROR, "MAX_PUSH_ID was lowered"));
                    }
                }
                // The rest does not get beyond its begin.
                Piece::Payload { bytes, .. } => {
                    identifier(bytes)?;
                    return Err(H3Error::connection(ErrorCode::ID_ERROR, "the end of a push that never was"));
                }
                Piece::Data(_) => {}
            }
        }
        Ok(notice)
    }
}

const fn closed_critical() -> H3Error {
    H3Error::connection(ErrorCode::CLOSED_CRITICAL_STREAM, "a stream ended without which the connection can't be")
}

fn of_connection(error: H3Error) -> H3Error {
    H3Error::connection(error.code, error.what)
}

fn check_begin(role: Role, has_settings: bool, kind: u64) -> Result<(), H3Error> {
    match kind {
        kind::SETTINGS if has_settings => Err(H3Error::unexpected("SETTINGS came twice")),
        kind::SETTINGS => Ok(()),
        _ if !has_settings => {
            Err(H3Error::connection(ErrorCode::MISSING_SETTINGS, "the control stream does not begin with SETTINGS"))
        }
        kind::DATA | kind::HEADERS | kind::PUSH_PROMISE => {
            Err(H3Error::unexpected("a frame that has no place on the control stream"))
        }
        kind::MAX_PUSH_ID if role == Role::Client => Err(H3Error::unexpected("MAX_PUSH_ID of a server")),
        _ if kind::is_of_http_2(kind) => Err(H3Error::unexpected("a frame of HTTP/2")),
        _ => Ok(()),
    }
}

/// The payload of a frame that is one identifier.
fn identifier(payload: &[u8]) -> Result<u64, H3Error> {
    match varint::read(payload) {
        Some((identifier, [])) => Ok(identifier),
        _ => Err(H3Error::connection(ErrorCode::FRAME_ERROR, "a frame is not one identifier long")),
    }
}

fn check_go_away(role: Role, before: Option<u64>, identifier: u64) -> Result<u64, H3Error> {
    // A server tells a stream that its client opens, in both directions; a client tells a push, of any number.
    if role == Role::Client && !identifier.is_multiple_of(4) {
        return Err(H3Error::connection(ErrorCode::ID_ERROR, "GOAWAY with a stream that is no request's"));
    }
    if before.is_some_and(|before| identifier > before) {
        return Err(H3Error::connection(ErrorCode::ID_ERROR, "GOAWAY with a higher stream than before"));
    }
    Ok(identifier)
}

fn read_settings(payload: &[u8]) -> Result<PeerSettings, H3Error> {
    let (mut settings, mut seen, mut rest) = (PeerSettings::default(), Vec::new(), payload);
    while !rest.is_empty() {
        let pair = varint::read(rest).and_then(|(identifier, rest)| Some((identifier, varint::read(rest)?)));
        let Some((identifier, (value, after))) = pair else {
            return Err(H3Error::connection(ErrorCode::FRAME_ERROR, "SETTINGS end within a setting"));
        };
        rest = after;
        if seen.contains(&identifier) {
            return Err(H3Error::connection(ErrorCode::SETTINGS_ERROR, "a setting came twice"));
        }
        seen.push(identifier);
        match identifier {
            0x0 | 0x2..=0x5 => return Err(H3Error::connection(ErrorCode::SETTINGS_ERROR, "a setting of HTTP/2")),
            setting::MAX_FIELD_SECTION_SIZE => settings.most_list_bytes = Some(value),
            // What we write needs nothing of the peer's dynamic table.
            _ => {}
        }
    }
    Ok(settings)
}
