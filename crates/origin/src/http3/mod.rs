//! The origin over HTTP/3: streams of QUIC around the same requests and answers.

mod leaving;
mod request;
mod turn;

use photofinish_http::h3::{Control, DEFAULT_LIST_BYTES, ErrorCode, H3Error, Notice, Role, Scope};
use photofinish_net::quic::{Piece, Stream, StreamKind};
use photofinish_net::{Conn, Net};

use crate::origin::Shared;
use request::{Reading, Request};
use turn::{Halt, Turn};

/// What evidence calls it.
pub(crate) const PROTOCOL: &str = "h3";
/// Between the numbers of two streams that a client opens one after the other.
const STREAM_STEP: u64 = 4;

/// One connection, from its handshake on.
#[derive(Debug)]
pub(crate) struct Http3 {
    /// `None` before it has begun and once it has ended.
    conn: Option<Conn>,
    control: Control,
    /// Where we say what concerns the connection.
    own: Option<Stream>,
    /// Requests that are read or answered.
    requests: Vec<Request>,
    /// Beyond all streams that brought a request.
    next: u64,
}

impl Default for Http3 {
    fn default() -> Self {
        Self { conn: None, control: Control::new(Role::Server), own: None, requests: Vec::new(), next: 0 }
    }
}

impl Http3 {
    /// Forgets everything, for the next connection. What was on its way ends here.
    pub fn reset(&mut self) {
        *self = Self { requests: std::mem::take(&mut self.requests), ..Self::default() };
        self.requests.clear();
    }

    /// Says what we are willing to take.
    pub fn begin<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared) {
        self.conn = Some(conn);
        let greeting = &mut shared.scratch;
        greeting.clear();
        Control::write_greeting(greeting, DEFAULT_LIST_BYTES as u64);
        self.own = net.open_stream(conn, StreamKind::Sending);
        let sent = self.own.map_or(0, |own| net.send_on(conn, own, Piece::Copied(greeting), false));
        if sent < greeting.len() {
            let what = "the peer leaves no room for a control stream";
            self.end(net, conn, shared, ErrorCode::GENERAL_PROTOCOL_ERROR, what);
        }
    }

    /// Takes what came on a stream; with `end` nothing more follows on it.
    pub fn received<N: Net>(
        &mut self,
        net: &mut N,
        conn: Conn,
        shared: &mut Shared,
        stream: Stream,
        data: &[u8],
        end: bool,
    ) {
        if stream.kind() == StreamKind::Sending {
            return match self.control.received(stream.0, data, end) {
                Ok(Notice::Unwanted) => net.stop_stream(conn, stream, ErrorCode::STREAM_CREATION_ERROR.0),
                // Its client pushes nothing, and asks nothing more.
                Ok(Notice::Nothing | Notice::GoAway(_)) => {}
                Err(error) => self.end(net, conn, shared, error.code, error.what),
            };
        }
        let place = self.place(stream);
        let at = place.unwrap_or(self.requests.len());
        if place.is_none() {
            self.next = self.next.max(stream.0 + STREAM_STEP);
            self.requests.push(Request::new(stream));
        }
        let outcome = Turn { net, conn, shared }.read(&mut self.requests[at], data, end);
        self.follow(net, conn, shared, at, outcome);
    }

    /// A stream takes bytes again.
    pub fn writable<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, stream: Stream) {
        let Some(at) = self.place(stream) else { return };
        Turn { net, conn, shared }.pump(&mut self.requests[at]);
        self.follow(net, conn, shared, at, Ok(()));
    }

    /// The peer broke off what it was sending, or `stopped` what we were.
    pub fn broken<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, stream: Stream, stopped: bool) {
        if stream.kind() == StreamKind::Sending {
            let outcome = match self.own {
                Some(own) if own == stream => {
                    let what = "the control stream is not wanted";
                    Err(H3Error::connection(ErrorCode::CLOSED_CRITICAL_STREAM, what))
                }
                _ => self.control.stream_reset(stream.0),
            };
            return match outcome {
                Ok(()) => {}
                Err(error) => self.end(net, conn, shared, error.code, error.what),
            };
        }
        let Some(at) = self.place(stream) else { return };
        let request = &mut self.requests[at];
        if stopped {
            request.leaving = None;
        } else if request.is_answered() {
            // Whoever has been answered may keep the rest to itself.
            request.reading = Reading::Over;
            return self.follow(net, conn, shared, at, Ok(()));
        }
        let gone = H3Error::stream(ErrorCode::REQUEST_CANCELLED, "the request was given up");
        self.follow(net, conn, shared, at, Err(Halt::Failed(gone)));
    }

    /// Tells the peer that no further requests are looked at.
    pub fn go_away<N: Net>(&self, net: &mut N) {
        let (Some(conn), Some(own)) = (self.conn, self.own) else { return };
        let mut frame = Vec::new();
        Control::write_go_away(&mut frame, self.next);
        net.send_on(conn, own, Piece::Copied(&frame), false);
    }

    #[inline]
    fn place(&self, stream: Stream) -> Option<usize> {
        self.requests.iter().rposition(|request| request.stream == stream)
    }

    /// Does what has to be done behind an event of the request at `at`.
    fn follow<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, at: usize, outcome: Result<(), Halt>) {
        let error = match outcome {
            Ok(()) => {
                if self.requests[at].is_over() {
                    self.requests.swap_remove(at);
                    self.control.progressed();
                }
                return;
            }
            Err(Halt::Close) => {
                self.reset();
                return shared.close(net, conn, false);
            }
            Err(Halt::Failed(error)) => error,
        };
        if error.scope == Scope::Connection {
            return self.end(net, conn, shared, error.code, error.what);
        }
        let stream = self.requests.swap_remove(at).stream;
        net.reset_stream(conn, stream, error.code.0);
        net.stop_stream(conn, stream, error.code.0);
        if let Err(error) = self.control.message_broken() {
            self.end(net, conn, shared, error.code, error.what);
        }
    }

    /// Ends the connection, and says why.
    #[cold]
    fn end<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, code: ErrorCode, what: &str) {
        // What was on its way ends here, for its trial before the connection does.
        self.reset();
        shared.service.ledger.part(net, conn);
        net.close_quic(conn, code.0, what.as_bytes());
    }
}
