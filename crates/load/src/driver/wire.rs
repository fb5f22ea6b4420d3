//! What carries requests on streams: one version of HTTP for all connections of a driver.

use photofinish_http::fields::Fields;
use photofinish_http::h2::hpack::{Phrase, Vocabulary};
use photofinish_net::{Conn, Nanos, Net};

use super::Windows;
use super::http2::Http2;
use super::link::Flight;
use crate::Protocol;
use crate::mix::{Outgoing, Payload};

/// The state of one connection.
pub(super) enum Wire {
    /// HTTP/2, over TLS or not.
    Http2(Http2),
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
}

impl Requests {
    pub fn new(protocol: Protocol, entries: usize) -> Self {
        Self {
            scheme: protocol.scheme(),
            vocabulary: Vocabulary::default(),
            constants: (0..entries).map(|_| None).collect(),
            fields: Fields::new(usize::MAX),
        }
    }

    /// The entry's constant request.
    #[inline]
    pub fn constant(&mut self, outgoing: &Outgoing<'_>) -> (&Vocabulary, &Constant) {
        let Self { scheme, vocabulary, constants, fields } = self;
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

impl Wire {
    /// Of a connection that has just been established, on which up to `depth` requests are to be under way.
    pub fn new(windows: Windows, depth: u32, now: Nanos) -> Self {
        Self::Http2(Http2::new(windows, depth, now))
    }

    /// Requests that may be under way at once, as far as is known.
    pub fn most(&self) -> u32 {
        match self {
            Self::Http2(http2) => http2.most(),
        }
    }

    /// Sends a request on a new stream; its bytes gather until [`Self::flush`]. Returns how many they are, of the body
    /// all that will be sent.
    #[inline]
    pub fn send(&mut self, requests: &mut Requests, outgoing: &Outgoing<'_>, flight: Flight) -> u64 {
        match self {
            Self::Http2(http2) => http2.send(requests, outgoing, flight),
        }
    }

    /// Hands on what has gathered.
    #[inline]
    pub fn flush<N: Net>(&mut self, net: &mut N, conn: Conn) {
        match self {
            Self::Http2(http2) => http2.flush(net, conn),
        }
    }

    /// Whether it was not marked before.
    #[inline]
    pub fn mark(&mut self) -> bool {
        match self {
            Self::Http2(http2) => !std::mem::replace(&mut http2.is_marked, true),
        }
    }

    /// Requests under way.
    pub fn flights(&mut self) -> Vec<Flight> {
        match self {
            Self::Http2(http2) => http2.flights(),
        }
    }

    /// Ends the streams whose requests left before `before`; gives their requests. `None`: the connection is dead, as nothing
    /// came since the eldest of them left.
    pub fn expire(&mut self, before: Nanos) -> Option<Vec<Flight>> {
        match self {
            Self::Http2(http2) => http2.expire(before),
        }
    }
}
