//! Responses, rendered once: the ordinary one, and one for each fault of the script.

use std::fmt::Write as _;
use std::str::FromStr;

use photofinish_http::payload::{self, PayloadError};
use photofinish_net::{Conn, Nanos, Net};
use serde::{Deserialize, Serialize};

use super::fault::Kind;
use super::script::{Script, ScriptError};
use super::words::{positive_span, scripted_word, size};
use crate::response::HELLO_BODY;

/// A response that leaves byte by byte, ten bytes a second, keeps its client waiting for a second at least.
const SLOW_HEAD: Pace = Pace::All { bytes: 1, every: Nanos(100_000_000) };
const ENDLESS_CHUNK: usize = 16 << 10;
/// An endless body stops growing while so much of it waits in this process.
const ENDLESS_QUEUED: usize = 1 << 20;
/// From one chunk of an endless body to the next.
const ENDLESS_EVERY: Nanos = Nanos(1_000_000);

/// How a body leaves in pieces: `1/10ms` is one byte every ten milliseconds, the first with the head.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Drip {
    pub(super) word: String,
    bytes: usize,
    every: Nanos,
}

scripted_word!(Drip);

impl FromStr for Drip {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let parsed = text.split_once('/').and_then(|(bytes, every)| {
            Some((size(bytes.trim()).filter(|bytes| *bytes > 0)?, positive_span(every.trim())?))
        });
        let mend = "write BYTES/SPAN: 1/10ms is a byte every ten milliseconds";
        let (bytes, every) = parsed.ok_or_else(|| ScriptError::word("drip", text, mend))?;
        Ok(Self { word: text.to_owned(), bytes, every })
    }
}

/// At what pace a response leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    AtOnce,
    /// The head and the first `bytes` of the body, then `bytes` after each `every`.
    Body {
        bytes: usize,
        every: Nanos,
    },
    /// `bytes` after each `every` from the first byte of the head on.
    All {
        bytes: usize,
        every: Nanos,
    },
}

/// What comes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It stays.
    Stays,
    /// A whole response, and the end.
    Closes,
    /// The end before the response is whole.
    CutOff,
    /// A reset in place of a response.
    Reset,
    /// No response, and no end.
    Silent,
    /// The body goes on until the client leaves.
    Endless,
}

#[derive(Debug)]
enum Body {
    Lasting(&'static [u8]),
    Made(Vec<u8>),
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Lasting(bytes) => bytes,
            Self::Made(bytes) => bytes,
        }
    }
}

/// One response, ready to leave.
#[derive(Debug)]
pub(super) struct Reply {
    head: Vec<u8>,
    body: Body,
    pace: Pace,
    pub ending: Ending,
}

impl Reply {
    /// The response of `script` with the fault `kind`, or without one.
    pub fn new(script: &Script, kind: Option<Kind>) -> Result<Self, PayloadError> {
        let body = match script.body_bytes {
            Some(bytes) => payload::bytes(bytes)?,
            None => HELLO_BODY,
        };
        let length = body.len() as i64;
        let pace = match &script.drip {
            Some(drip) => Pace::Body { bytes: drip.bytes, every: drip.every },
            None => Pace::AtOnce,
        };
        let whole = |head: Vec<u8>| Self { head, body: Body::Lasting(body), pace, ending: Ending::Stays };
        let ordinary = || whole(head(200, length, ""));
        let chunks = |extension: &str, tail: &str| Self {
            head: chunked_head(),
            body: Body::Made(chunked(body, extension, tail)),
            ..ordinary()
        };
        let nothing = |ending| Self { head: Vec::new(), body: Body::Lasting(b""), pace: Pace::AtOnce, ending };
        Ok(match kind {
            None => ordinary(),
            Some(Kind::Reset) => nothing(Ending::Reset),
            Some(Kind::Silent) => nothing(Ending::Silent),
            Some(Kind::CloseEarly) => {
                Self { body: Body::Lasting(&body[..body.len() / 2]), ending: Ending::CutOff, ..ordinary() }
            }
            Some(Kind::CloseIdle) => Self { ending: Ending::Closes, ..ordinary() },
            Some(Kind::Interim103) => {
                let mut both = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n".to_vec();
                both.extend(head(200, length, ""));
                whole(both)
            }
            Some(Kind::Chunked) => chunks("", "\r\n"),
            Some(Kind::Trailers) => chunks(";note=\"a; b\"", "X-Trailer: 1\r\nX-Other: two\r\n\r\n"),
            Some(Kind::BigHead(bytes)) => whole(head(200, length, &format!("X-Padding: {}\r\n", "x".repeat(bytes)))),
            Some(Kind::EndlessChunks) => Self {
                head: chunked_head(),
                body: Body::Made(chunk(&[b'e'; ENDLESS_CHUNK], "")),
                pace: Pace::AtOnce,
                ending: Ending::Endless,
            },
            Some(Kind::LyingLength(by)) => whole(head(200, (length + by).max(0), "")),
            Some(Kind::WrongStatus(status)) => whole(head(status, length, "")),
            Some(Kind::Garbage) => {
                Self { head: b"\x00\x01\x02 no HTTP at all\r\n\r\n".to_vec(), ..nothing(Ending::Stays) }
            }
            Some(Kind::SlowHead) => Self { pace: SLOW_HEAD, ..ordinary() },
        })
    }

    /// Queues what is due of the response, of which `written` bytes have left; `None` once it is whole, otherwise how
    /// much has left now and how long it is until the next piece. A response to HEAD ends with its head.
    pub fn write<N: Net>(&self, net: &mut N, conn: Conn, written: usize, head_only: bool) -> Option<(usize, Nanos)> {
        let total = self.head.len() + if head_only { 0 } else { self.body.bytes().len() };
        if self.ending == Ending::Endless && !head_only {
            if net.queued(conn) < ENDLESS_QUEUED {
                self.send(net, conn, if written == 0 { 0 } else { self.head.len() }, total);
            }
            return Some((total, ENDLESS_EVERY));
        }
        let (upto, every) = match self.pace {
            Pace::AtOnce => (total, Nanos(0)),
            Pace::Body { bytes, every } => (written.max(self.head.len()).saturating_add(bytes), every),
            Pace::All { bytes, every } => (written + bytes, every),
        };
        let upto = upto.min(total);
        self.send(net, conn, written, upto);
        (upto < total).then_some((upto, every))
    }

    /// Queues the bytes `from..upto` of head and body together.
    fn send<N: Net>(&self, net: &mut N, conn: Conn, from: usize, upto: usize) {
        let head = self.head.len();
        if from < head {
            net.send(conn, &self.head[from..upto.min(head)]);
        }
        if upto > head {
            let range = from.max(head) - head..upto - head;
            match &self.body {
                Body::Lasting(bytes) => net.send_static(conn, &bytes[range]),
                Body::Made(bytes) => net.send(conn, &bytes[range]),
            }
        }
    }
}

fn head(status: u16, content_length: i64, fields: &str) -> Vec<u8> {
    let reason = if status == 200 { "OK" } else { "Not As Asked" };
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write!(
        text,
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {content_length}\r\n{fields}\r\n"
    );
    text.into_bytes()
}

fn chunked_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()
}

fn chunk(data: &[u8], extension: &str) -> Vec<u8> {
    let mut framed = format!("{:x}{extension}\r\n", data.len()).into_bytes();
    framed.extend_from_slice(data);
    framed.extend_from_slice(b"\r\n");
    framed
}

/// `body` in two chunks, the last chunk, and `tail`: trailers and the empty line.
fn chunked(body: &[u8], extension: &str, tail: &str) -> Vec<u8> {
    let (first, second) = body.split_at(body.len() / 2);
    let parts = [first, second].into_iter().filter(|part| !part.is_empty());
    let mut framed: Vec<u8> = parts.flat_map(|part| chunk(part, extension)).collect();
    framed.extend_from_slice(b"0\r\n");
    framed.extend_from_slice(tail.as_bytes());
    framed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::HELLO;

    fn bytes(kind: Option<Kind>) -> Vec<u8> {
        let reply = Reply::new(&Script::default(), kind).expect("a body");
        [&reply.head, reply.body.bytes()].concat()
    }

    #[test]
    fn the_ordinary_response_is_that_of_the_other_servers() {
        assert_eq!(bytes(None), HELLO);
    }

    #[test]
    fn faults_break_what_they_name_and_nothing_else() {
        let text = |kind| String::from_utf8(bytes(Some(kind))).expect("text");
        assert_eq!(text(Kind::LyingLength(5)), String::from_utf8_lossy(HELLO).replace("12", "17"));
        assert_eq!(
            text(Kind::CloseEarly),
            String::from_utf8_lossy(HELLO).replace(" World!", "").replace("Hello", "Hello ")
        );
        assert!(text(Kind::Trailers).ends_with("0\r\nX-Trailer: 1\r\nX-Other: two\r\n\r\n"));
        assert!(text(Kind::Chunked).ends_with("6\r\nHello \r\n6\r\nWorld!\r\n0\r\n\r\n"));
        assert!(text(Kind::BigHead(80 << 10)).len() > 80 << 10);
    }

    #[test]
    fn a_drip_is_bytes_and_their_interval() {
        let drip: Drip = "2/5ms".parse().expect("a drip");
        assert_eq!((drip.bytes, drip.every), (2, Nanos(5_000_000)));
        for word in ["", "1", "0/1ms", "1/0ms", "1/ms"] {
            assert!(word.parse::<Drip>().expect_err(word).to_string().contains("1/10ms"));
        }
    }
}
