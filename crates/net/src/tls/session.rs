//! TLS on one connection, without I/O: ciphertext in and out, plaintext out and in.

use std::ops::Range;
use std::sync::Arc;

use super::half::{MOST_TEXT, RECORD_OVERHEAD};
use super::handshake::{Handshake, Progress};
use super::records::{Records, Then};
use super::{Alpn, Failure, Peer, Security, WireBytes};
use crate::Conn;
use crate::outbox::Outbox;

/// Ciphertext that a queue of the loop may hold before more is made: what is sent is encrypted as far as it leaves.
const MOST_AHEAD: usize = 256 * 1024;

/// How far a connection has got.
pub(super) enum Stage {
    /// TCP is not there yet.
    Connecting,
    /// Boxed: much larger than what follows.
    Shaking(Handshake),
    Open(Box<Records>),
    /// Nothing more can be made of it.
    Broken,
}

/// What a piece of input came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Nothing more before more input.
    Nothing,
    /// Data may be sent before the handshake is complete.
    Early,
    /// The handshake is complete; there may be more to read.
    Ready,
    /// The peer said that nothing follows.
    Closed,
    /// The connection can't go on.
    Failed(Failure),
}

/// How far the end of our output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// There is none.
    Open,
    /// It comes behind what is queued.
    Asked,
    /// The peer has been told inside TLS; TCP follows when that has left.
    Told,
}

/// One connection.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Session {
    pub conn: Conn,
    /// A client's side: whom it wants to talk to.
    pub peer: Option<Arc<Peer>>,
    /// The listener that took it, on a server's side.
    pub listener: usize,
    pub stage: Stage,
    pub security: Option<Security>,
    pub wire: WireBytes,
    /// What the handler queued and no record holds yet.
    pub out: Outbox,
    /// Input that is no whole record yet.
    partial: Vec<u8>,
    /// Data that came with the end of the handshake.
    pub first: Vec<u8>,
    /// The handler has heard that it may send, before the end of the handshake.
    pub early: bool,
    /// What it has sent so, until the server has accepted it.
    unsure: Vec<u8>,
    /// Ciphertext handed to the loop since its queue was last known to be short.
    ahead: usize,
    /// Plaintext in records since the loop's queue was last told to be empty.
    sealed: usize,
    /// Waits in the list of those with something queued.
    pub dirty: bool,
    /// The handler has been told of it and not left it.
    pub known: bool,
    /// The handler is done with it: what is queued leaves, then the connection ends.
    pub leaving: bool,
    /// The peer has said, with the end of the handshake, that nothing follows.
    pub closed: bool,
    pub end: End,
    /// Nothing is read any more.
    pub paused: bool,
    /// What had still to be sent when patience was last measured.
    pub left_then: usize,
}

impl Session {
    pub fn new(conn: Conn, stage: Stage, peer: Option<Arc<Peer>>, listener: usize) -> Self {
        Self {
            conn,
            known: peer.is_some(),
            peer,
            listener,
            stage,
            security: None,
            wire: WireBytes::default(),
            out: Outbox::default(),
            partial: Vec::new(),
            first: Vec::new(),
            early: false,
            unsure: Vec::new(),
            ahead: 0,
            sealed: 0,
            dirty: false,
            leaving: false,
            closed: false,
            end: End::Open,
            paused: false,
            left_then: 0,
        }
    }

    /// Puts what is to be read into `buffer`, which is empty: what was left over, and `data`.
    pub fn join(&mut self, data: &[u8], buffer: &mut Vec<u8>) {
        self.wire.received += data.len() as u64;
        if !self.partial.is_empty() {
            buffer.extend_from_slice(&std::mem::take(&mut self.partial));
        }
        buffer.extend_from_slice(data);
    }

    /// Keeps what could not be read yet.
    pub fn keep(&mut self, rest: &[u8]) {
        self.partial.extend_from_slice(rest);
    }

    /// Reads `input[from..]`, in which plaintext takes the place of ciphertext, and appends what TLS itself has to send to
    /// `output`. Returns where the plaintext is and how far input was read.
    pub fn read(&mut self, input: &mut [u8], from: usize, output: &mut Vec<u8>) -> (Range<usize>, usize, News) {
        match &mut self.stage {
            Stage::Open(records) => {
                let (plain, at, then) = records.read(input, from);
                records.respond(output);
                let news = match then {
                    Then::More => News::Nothing,
                    Then::Closed => News::Closed,
                    Then::Failed(failure) => {
                        records.seal_failure(output);
                        News::Failed(failure)
                    }
                };
                (plain, at, news)
            }
            Stage::Shaking(_) => {
                let (used, news) = self.shake(&mut input[from..], output);
                (from..from, from + used, news)
            }
            Stage::Connecting | Stage::Broken => (from..from, input.len(), News::Nothing),
        }
    }

    /// Goes on with the handshake.
    pub fn shake(&mut self, input: &mut [u8], output: &mut Vec<u8>) -> (usize, News) {
        let Stage::Shaking(handshake) = &mut self.stage else { return (0, News::Nothing) };
        let (used, progress) = handshake.advance(input, output, &mut self.first);
        let news = match progress {
            Progress::More => News::Nothing,
            Progress::Early => {
                self.early = true;
                self.security = self.peer.as_ref().and_then(|peer| handshake.expected(peer));
                News::Early
            }
            Progress::Failed(error) => News::Failed(self.failure(&error)),
            Progress::Done { closed } => match self.open(output) {
                Ok(()) => {
                    self.closed = closed;
                    News::Ready
                }
                Err(failure) => News::Failed(failure),
            },
        };
        (used, news)
    }

    fn failure(&self, error: &rustls::Error) -> Failure {
        match &self.peer {
            Some(peer) => Failure::from_rustls(error, &peer.name().to_str(), peer.protocols()),
            None => Failure::from_rustls(error, "the client", &[]),
        }
    }

    /// Appends what is queued as early data to `output`: a record at most.
    pub fn write_early(&mut self, output: &mut Vec<u8>) {
        let Stage::Shaking(handshake) = &mut self.stage else { return };
        let mut text = Vec::new();
        self.out.copy_to(&mut text, MOST_TEXT);
        text.truncate(handshake.send_early(&text, output));
        self.out.advance(text.len());
        self.unsure = text;
    }

    /// From the handshake to the records; early data that the server has not taken is the first in them.
    fn open(&mut self, output: &mut Vec<u8>) -> Result<(), Failure> {
        let Stage::Shaking(handshake) = std::mem::replace(&mut self.stage, Stage::Broken) else { return Ok(()) };
        let keeps_tickets = self.peer.as_ref().is_some_and(|peer| peer.resumes());
        let (security, mut records) = handshake.finish(keeps_tickets)?;
        if let Some(peer) = &self.peer {
            // Only HTTP/1.1 is older than the negotiation, and may go without.
            let asked = peer.protocols();
            let chosen = security.alpn.unwrap_or(Alpn::Http1);
            if !asked.is_empty() && !asked.contains(&chosen) {
                return Err(Failure::protocol(asked, security.alpn));
            }
        }
        let unsure = std::mem::take(&mut self.unsure);
        if !security.early_data && !unsure.is_empty() {
            records.seal(output, |text| text.extend_from_slice(&unsure));
            self.sealed += unsure.len();
        }
        self.security = Some(security);
        self.stage = Stage::Open(Box::new(records));
        Ok(())
    }

    /// Encrypts what is queued, as far as it may be ahead of the loop, whose queue `queued` tells; appends it to `output`.
    pub fn write(&mut self, output: &mut Vec<u8>, mut queued: impl FnMut() -> usize) {
        let Stage::Open(records) = &mut self.stage else { return };
        while !self.out.is_empty() {
            if self.ahead + output.len() >= MOST_AHEAD {
                self.ahead = queued();
                if self.ahead + output.len() >= MOST_AHEAD {
                    break;
                }
            }
            let (out, sealed) = (&mut self.out, &mut self.sealed);
            records.seal(output, |text| {
                let count = out.copy_to(text, MOST_TEXT);
                out.advance(count);
                *sealed += count;
            });
        }
    }

    /// `bytes` of ciphertext have been handed to the loop.
    pub fn handed(&mut self, bytes: usize) {
        self.ahead += bytes;
        self.wire.sent += bytes as u64;
    }

    /// The loop's queue is empty.
    pub const fn relieved(&mut self) {
        self.ahead = 0;
        self.sealed = 0;
    }

    /// How much plaintext has not left while the loop holds `below` bytes of ciphertext: as if they were full records, so that
    /// never less is told than there is, but nothing that TLS has to say for itself.
    pub fn queued(&self, below: usize) -> usize {
        let text = below - below / (MOST_TEXT + RECORD_OVERHEAD) * RECORD_OVERHEAD;
        self.out.len() + text.min(self.sealed)
    }

    /// Appends `close_notify`, where there is anybody to tell.
    pub fn write_close(&mut self, output: &mut Vec<u8>) {
        if let Stage::Open(records) = &mut self.stage {
            records.seal_close(output);
        }
    }

    /// Why a connection ended that the transport has ended: without a word, unless the peer has said before that nothing
    /// follows.
    pub fn cut(&self) -> Option<Failure> {
        match self.stage {
            Stage::Connecting | Stage::Shaking(_) => Some(Failure::Unfinished),
            Stage::Open(_) if self.paused => None,
            Stage::Open(_) | Stage::Broken => Some(Failure::Truncated),
        }
    }
}
