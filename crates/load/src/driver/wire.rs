//! What carries requests on streams: one version of HTTP for all connections of a driver.

use photofinish_http::fields::Fields;
use photofinish_http::h2::hpack::{Phrase, Vocabulary};
use photofinish_http::h3::{self, Sections, frame};
use photofinish_net::{Conn, Nanos, Net};

use super::Windows;
use super::http2::Http2;
use super::http3::{self, Http3};
use super::link::Flight;
use crate::Protocol;
use crate::mix::{Outgoing, Payload};

/// The state of one connection.
#[expect(clippy::large_enum_variant, reason = "boxed as a whole")]
pub(super) enum Wire {
    /// HTTP/2, over TLS or not.
    Http2(Http2),
    /// HTTP/3.
    Http3(Http3),
}

/// A request that is the same each time, made ready once.
pub(super) struct Constant {
    /// For HTTP/2.
    pub phrase: Phrase,
    pub body: Payload<'static>,
}

/// The requests of a driver in the form in which its protocol sends them.
pub(super) struct Requests {
    pub scheme: &'static str,
    pub vocabulary: Vocabulary,
    /// By entry; made when first sent.
    pub constants: Vec<Option<Constant>>,
    /// Fields of the last request that changes.
    pub fields: Fields,
    /// Constant requests as HTTP/3 sends them, by entry; made when first sent.
    blocks: Vec<Option<Block>>,
    /// What reads the heads of responses by HTTP/3.
    pub sections: Sections,
}

/// A request for HTTP/3 that is the same each time: its head, and its body if that is of that kind too.
#[derive(Clone, Copy)]
struct Block {
    head: &'static [u8],
    body: &'static [u8],
}

impl Requests {
    pub fn new(protocol: Protocol, entries: usize) -> Self {
        Self {
            scheme: protocol.scheme(),
            vocabulary: Vocabulary::default(),
            constants: (0..entries).map(|_| None).collect(),
            fields: Fields::new(usize::MAX),
            blocks: vec![None; entries],
            sections: Sections::new(http3::MOST_LIST_BYTES),
        }
    }

    /// The entry's constant request.
    #[inline]
    pub fn constant(&mut self, outgoing: &Outgoing<'_>) -> (&Vocabulary, &Constant) {
        let Self { scheme, vocabulary, constants, fields, .. } = self;
        let constant = constants[outgoing.entry as usize].get_or_insert_with(|| {
            let body = match outgoing.fields(scheme, fields) {
                Payload::Fixed(bytes) => Payload::Fixed(bytes),
                Payload::None | Payload::Rendered(_) => Payload::None,
            };
            Constant { phrase: vocabulary.phrase(fields), body }
        });
        (vocabulary, constant)
    }
}

impl Requests {
    /// Appends the frames of a request to `out`, or as much as has to be copied; gives what follows them.
    pub fn write_http3(&mut self, outgoing: &Outgoing<'_>, out: &mut Vec<u8>) -> &'static [u8] {
        if !outgoing.is_constant() {
            let body = outgoing.fields(self.scheme, &mut self.fields);
            return write_frames(&self.fields, body, out);
        }
        let Self { scheme, fields, blocks, .. } = self;
        let block = blocks[outgoing.entry as usize].get_or_insert_with(|| {
            let mut frames = Vec::new();
            let body = outgoing.fields(scheme, fields);
            let body = write_frames(fields, body, &mut frames);
            Block { head: Box::leak(frames.into_boxed_slice()), body }
        });
        if block.body.is_empty() {
            return block.head;
        }
        out.extend_from_slice(block.head);
        block.body
    }
}

fn write_frames(fields: &Fields, body: Payload<'_>, out: &mut Vec<u8>) -> &'static [u8] {
    h3::write_request(out, fields.iter());
    let length = body.bytes().len();
    if length > 0 {
        frame::write_data_head(out, length as u64);
    }
    match body {
        Payload::None => &[],
        Payload::Fixed(bytes) => bytes,
        Payload::Rendered(bytes) => {
            out.extend_from_slice(bytes);
            &[]
        }
    }
}

impl Wire {
    /// Of a connection that has just been established, on which up to `depth` requests are to be under way.
    pub fn new(protocol: Protocol, windows: Windows, depth: u32, now: Nanos) -> Self {
        match protocol {
            Protocol::Http3 => Self::Http3(Http3::new(depth, now)),
            _ => Self::Http2(Http2::new(windows, depth, now)),
        }
    }

    /// Requests that may be under way at once, as far as is known.
    pub fn most(&self) -> u32 {
        match self {
            Self::Http2(http2) => http2.most(),
            Self::Http3(http3) => http3.most(),
        }
    }

    /// Sends a request on a new stream; its bytes gather until [`Self::flush`]. Returns how many they are, of the body
    /// all that will be sent.
    #[inline]
    pub fn send(&mut self, requests: &mut Requests, outgoing: &Outgoing<'_>, flight: Flight) -> u64 {
        match self {
            Self::Http2(http2) => http2.send(requests, outgoing, flight),
            Self::Http3(http3) => http3.send(requests, outgoing, flight),
        }
    }

    /// Hands on what has gathered.
    #[inline]
    pub fn flush<N: Net>(&mut self, net: &mut N, conn: Conn) {
        match self {
            Self::Http2(http2) => http2.flush(net, conn),
            Self::Http3(http3) => http3.flush(net, conn),
        }
    }

    /// Whether it was not marked before.
    #[inline]
    pub fn mark(&mut self) -> bool {
        match self {
            Self::Http2(http2) => !std::mem::replace(&mut http2.is_marked, true),
            Self::Http3(http3) => !std::mem::replace(&mut http3.is_marked, true),
        }
    }

    /// Requests under way.
    pub fn flights(&mut self) -> Vec<Flight> {
        match self {
            Self::Http2(http2) => http2.flights(),
            Self::Http3(http3) => http3.flights(),
        }
    }

    /// Ends the streams whose requests left before `before`; gives their requests. `None`: the connection is dead, as nothing
    /// came since the eldest of them left.
    pub fn expire(&mut self, before: Nanos) -> Option<Vec<Flight>> {
        match self {
            Self::Http2(http2) => http2.expire(before),
            Self::Http3(http3) => http3.expire(before),
        }
    }
}
