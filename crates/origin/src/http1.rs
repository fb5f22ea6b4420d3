//! One connection of the origin: when its bytes are read, held back or thrown away, and when it ends.

mod switch;

use photofinish_http::request::{Flow, RequestError, RequestParser};
use photofinish_net::{Conn, Net};

use crate::exchange::Answer;
use crate::http2::Http2;
use crate::origin::Shared;
use crate::response::Fate;
use crate::sending::Sending;
use crate::turn::Turn;
use crate::upload::Upload;

/// Output beyond which a connection's further requests wait until it has left: what a reader that never reads may make
/// the server keep, beside the requests themselves.
pub(crate) const MOST_QUEUED: usize = 256 * 1024;
/// Requests that may wait so; a client that sends more without reading is cut off.
const MOST_HELD: usize = 1 << 20;
/// Input that a connection may still bring when its end has been decided, so that the peer gets to read why.
const MOST_UNWANTED: u64 = 64 << 20;

/// One connection; HTTP/1 until it turns out to be something else.
#[derive(Debug, Default)]
pub(crate) struct Http1 {
    parser: RequestParser,
    /// Received while no request could be taken; not parsed.
    held: Vec<u8>,
    state: State,
    /// Bytes queued since the queue was last looked at, so that asking for its length, which makes the loop tell of its
    /// end, is not part of every request.
    sent: usize,
}

#[derive(Debug, Default)]
pub(crate) enum State {
    /// Nothing has been read: it may be HTTP/2 yet.
    #[default]
    New,
    /// Requests are taken.
    Open,
    /// The body of an upload is read.
    Receiving(Box<Receiving>),
    /// A body leaves piece by piece, or its leaving is watched; requests wait.
    Sending(Box<Sending>),
    /// The last answer is on its way, then the end of our output; input is thrown away until the peer ends the connection.
    Leaving(Leaving),
    /// Nothing is read any more, ever.
    Stalled,
    /// It is HTTP/2.
    Http2(Box<Http2>),
    /// The last answer is queued: the connection is closed behind it.
    Ended,
}

#[derive(Debug)]
pub(crate) struct Receiving {
    pub upload: Upload,
    pub fate: Fate,
    /// The kernel was asked to throw the rest of the body away.
    pub discarding: bool,
}

#[derive(Debug)]
pub(crate) struct Leaving {
    /// So much input is borne with.
    left: u64,
    /// The peer was told that no more output comes.
    finished: bool,
}

impl Http1 {
    /// Forgets everything, for the next connection; keeps the memory.
    pub fn reset(&mut self) {
        self.parser.reset();
        self.held.clear();
        self.state = State::New;
        self.sent = 0;
    }

    /// Takes what arrived.
    #[inline]
    pub fn received<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, data: &[u8]) {
        if self.reads() && self.sent <= MOST_QUEUED {
            return self.read(net, conn, shared, data);
        }
        self.hold(net, conn, shared, data);
    }

    /// Whether what arrives may be read at once: there is nothing before it that has to wait.
    #[inline]
    fn reads(&self) -> bool {
        self.held.is_empty() && matches!(self.state, State::Open | State::Receiving(_))
    }

    #[inline]
    fn read<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, data: &[u8]) {
        let Self { parser, state, sent, .. } = self;
        let outcome = parser.read(data, &mut Turn { net, conn, shared, state, sent });
        if !matches!((&outcome, &self.state), (Ok([]), State::Open)) {
            self.after_reading(net, conn, shared, outcome);
        }
    }

    /// What has to be done behind a reading that does not leave everything as it was.
    fn after_reading<N: Net>(
        &mut self,
        net: &mut N,
        conn: Conn,
        shared: &mut Shared,
        outcome: Result<&[u8], RequestError>,
    ) {
        match outcome {
            Ok(rest) => self.held.extend_from_slice(rest),
            Err(error) => return self.malformed(net, conn, shared, error),
        }
        match self.state {
            State::Ended => shared.close(net, conn, true),
            State::Receiving(_) => self.let_discard(net, conn),
            State::Http2(_) => self.go_over(net, conn, shared),
            State::New | State::Open | State::Sending(_) | State::Leaving(_) | State::Stalled => {}
        }
    }

    /// Lets the kernel throw away what nobody wants to see of a body.
    fn let_discard<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (State::Receiving(receiving), Some(left)) = (&mut self.state, self.parser.body_left()) else { return };
        let unseen = receiving.upload.indifferent_to().min(left);
        if unseen > 0 && !receiving.discarding {
            receiving.discarding = true;
            net.discard(conn, unseen);
        }
    }

    /// The kernel threw `bytes` bytes away.
    pub fn discarded<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, bytes: u64) {
        let Self { parser, state, sent, .. } = self;
        match state {
            State::Receiving(receiving) => {
                let progress = receiving.upload.pass(bytes);
                let mut turn = Turn { net, conn, shared, state, sent };
                if turn.proceed(progress) == Flow::Continue {
                    parser.pass(bytes, &mut turn);
                }
                self.after_reading(net, conn, shared, Ok(&[]));
            }
            State::Leaving(leaving) => {
                leaving.left = leaving.left.saturating_sub(bytes);
                if leaving.left == 0 {
                    self.end(net, conn, shared);
                }
            }
            State::New | State::Open | State::Sending(_) | State::Stalled | State::Ended | State::Http2(_) => {}
        }
    }

    /// What arrived can't be read now.
    #[cold]
    fn hold<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, data: &[u8]) {
        match &mut self.state {
            State::New => return self.begin(net, conn, shared, data),
            State::Http2(http2) => {
                let fate = http2.received(net, shared, data);
                return self.follow(net, conn, shared, fate);
            }
            State::Leaving(_) => return self.discarded(net, conn, shared, data.len() as u64),
            State::Stalled | State::Ended => return,
            State::Sending(_) => {
                self.settle(net, conn, shared);
                if self.reads() {
                    return self.read(net, conn, shared, data);
                }
            }
            State::Open | State::Receiving(_) => {
                self.sent = net.queued(conn);
                if self.reads() && self.sent <= MOST_QUEUED {
                    return self.read(net, conn, shared, data);
                }
            }
        }
        self.held.extend_from_slice(data);
        if self.held.len() > MOST_HELD {
            self.end(net, conn, shared);
        }
    }

    /// All output has been handed to the kernel.
    #[inline]
    pub fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared) {
        if !(self.held.is_empty() && matches!(self.state, State::Open)) {
            self.go_on(net, conn, shared);
        }
    }

    /// Goes on with what waited for output to leave.
    fn go_on<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared) {
        if let State::Http2(http2) = &mut self.state {
            return http2.flushed(net, shared);
        }
        self.settle(net, conn, shared);
        if let State::Leaving(leaving) = &mut self.state {
            if !std::mem::replace(&mut leaving.finished, true) {
                net.finish(conn);
            }
            return;
        }
        if !self.held.is_empty() && matches!(self.state, State::Open | State::Receiving(_)) {
            let mut data = std::mem::take(&mut self.held);
            self.read(net, conn, shared, &data);
            if self.held.is_empty() {
                data.clear();
                self.held = data;
            }
        }
    }

    /// Closes the connection; whatever is on its way is broken off.
    fn end<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared) {
        self.state = State::Stalled;
        shared.close(net, conn, false);
    }

    /// Looks how far the body being sent has got. Returns whether it has to be looked at again.
    pub fn settle<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared) -> bool {
        if let State::Http2(http2) = &mut self.state {
            return http2.conn() == conn && http2.settle(net);
        }
        let State::Sending(sending) = &mut self.state else { return false };
        if sending.conn != conn {
            return false;
        }
        if !sending.advance(net) {
            return true;
        }
        let last = sending.last;
        self.state = State::Open;
        if last {
            leave(net, conn, shared, &mut self.state);
        }
        false
    }

    #[cold]
    fn malformed<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, error: RequestError) {
        let answer = Answer::said(error.status(), error);
        // An upload that was being read ends here, and counts as aborted.
        self.state = State::Open;
        let mut turn = Turn { net, conn, shared, state: &mut self.state, sent: &mut self.sent };
        turn.refuse(answer);
    }
}

/// Lets the peer read the last answer to its end: what it still sends is thrown away for a while. Closing at once would
/// answer that with a reset, which overtakes the answer (RFC 9112, 9.6).
pub(crate) fn leave<N: Net>(net: &mut N, conn: Conn, shared: &mut Shared, state: &mut State) {
    // Asking makes the loop say when all has left.
    let finished = net.queued(conn) == 0;
    if finished {
        net.finish(conn);
    }
    *state = State::Leaving(Leaving { left: MOST_UNWANTED, finished });
    net.discard(conn, MOST_UNWANTED);
    shared.leave(net, conn);
}
