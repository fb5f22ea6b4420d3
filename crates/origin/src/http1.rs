//! The origin over HTTP/1: heads and bodies off the wire, answers onto it.

use photofinish_http::h2::frame::PREFACE;
use photofinish_http::payload;
use photofinish_http::request::{Flow, Method, Reader, Request, RequestError, RequestParser, Version};
use photofinish_net::{Conn, Net};

use crate::exchange::{Answer, Ask, Content, Outcome};
use crate::http2::{self, Http2};
use crate::origin::Shared;
use crate::response::{CONTINUE, Fate, HELLO, Head};
use crate::sending::Sending;
use crate::upload::{Progress, Upload};

/// Output beyond which a connection's further requests wait until it has left: what a reader that never reads may make
/// the server keep, beside the requests themselves.
pub(crate) const MOST_QUEUED: usize = 256 * 1024;
/// Requests that may wait so; a client that sends more without reading is cut off.
const MOST_HELD: usize = 1 << 20;
/// Input that a connection may still bring when its end has been decided, so that the peer gets to read why.
const MOST_UNWANTED: u64 = 64 << 20;

/// How much of the preface of HTTP/2 tells it from any request of HTTP/1: its first line.
const TELLING_BYTES: usize = 16;

/// One connection; HTTP/1 until it turns out to be something else.
#[derive(Debug, Default)]
pub(crate) struct Http1 {
    parser: RequestParser,
    /// Received while no request could be taken; not parsed.
    held: Vec<u8>,
    state: State,
}

#[derive(Debug, Default)]
enum State {
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
}

#[derive(Debug)]
struct Receiving {
    upload: Upload,
    fate: Fate,
    /// The kernel was asked to throw the rest of the body away.
    discarding: bool,
}

#[derive(Debug)]
struct Leaving {
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
    }

    /// Takes what arrived.
    #[inline]
    pub fn received<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, data: &[u8]) {
        if self.reads() && net.queued(conn) <= MOST_QUEUED {
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
        let Self { parser, held, state } = self;
        let mut turn = Turn { net, conn, shared, state, closing: false };
        let outcome = parser.read(data, &mut turn);
        let closing = turn.closing;
        match outcome {
            Ok(rest) if !rest.is_empty() => held.extend_from_slice(rest),
            Ok(_) => {}
            Err(error) => return self.malformed(net, conn, shared, error),
        }
        if closing {
            shared.close(net, conn, true);
        } else if matches!(self.state, State::Receiving(_)) {
            self.let_discard(net, conn);
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
        let Self { parser, state, .. } = self;
        match state {
            State::Receiving(receiving) => {
                let progress = receiving.upload.pass(bytes);
                let mut turn = Turn { net, conn, shared, state, closing: false };
                if turn.proceed(progress) == Flow::Continue {
                    parser.pass(bytes, &mut turn);
                }
                if turn.closing {
                    shared.close(net, conn, true);
                }
            }
            State::Leaving(leaving) => {
                leaving.left = leaving.left.saturating_sub(bytes);
                if leaving.left == 0 {
                    self.end(net, conn, shared);
                }
            }
            State::New | State::Open | State::Sending(_) | State::Stalled | State::Http2(_) => {}
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
            State::Stalled => return,
            State::Sending(_) => {
                self.settle(net, conn, shared);
                if self.reads() {
                    return self.read(net, conn, shared, data);
                }
            }
            State::Open | State::Receiving(_) => {}
        }
        self.held.extend_from_slice(data);
        if self.held.len() > MOST_HELD {
            self.end(net, conn, shared);
        }
    }

    /// Finds out which protocol the connection speaks.
    fn begin<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, data: &[u8]) {
        if self.held.is_empty() && data.first() != PREFACE.first() {
            self.state = State::Open;
            return self.received(net, conn, shared, data);
        }
        self.held.extend_from_slice(data);
        let telling = &self.held[..self.held.len().min(TELLING_BYTES)];
        if !PREFACE.starts_with(telling) {
            self.state = State::Open;
        } else if telling.len() == TELLING_BYTES {
            self.state = State::Http2(Box::new(Http2::new(conn)));
        } else {
            return;
        }
        let mut data = std::mem::take(&mut self.held);
        self.received(net, conn, shared, &data);
        if self.held.is_empty() {
            data.clear();
            self.held = data;
        }
    }

    /// Does what HTTP/2 wants done with the connection.
    fn follow<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, fate: http2::Fate) {
        match fate {
            http2::Fate::Stays => {}
            http2::Fate::Leaves => leave(net, conn, shared, &mut self.state),
            http2::Fate::Ends => self.end(net, conn, shared),
        }
    }

    /// All output has been handed to the kernel.
    pub fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared) {
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
        let mut turn = Turn { net, conn, shared, state: &mut self.state, closing: false };
        turn.refuse(answer);
    }
}

/// Lets the peer read the last answer to its end: what it still sends is thrown away for a while. Closing at once would
/// answer that with a reset, which overtakes the answer (RFC 9112, 9.6).
fn leave<N: Net>(net: &mut N, conn: Conn, shared: &mut Shared, state: &mut State) {
    // Asking makes the loop say when all has left.
    let finished = net.queued(conn) == 0;
    if finished {
        net.finish(conn);
    }
    *state = State::Leaving(Leaving { left: MOST_UNWANTED, finished });
    net.discard(conn, MOST_UNWANTED);
    shared.leave(net, conn);
}

/// One reading of a connection's bytes.
struct Turn<'a, N> {
    net: &'a mut N,
    conn: Conn,
    shared: &'a mut Shared,
    state: &'a mut State,
    /// Close the connection when what was queued has left.
    closing: bool,
}

impl<N: Net> Reader for Turn<'_, N> {
    #[inline]
    fn head(&mut self, request: &Request<'_>) -> Flow {
        self.shared.handicap.pay();
        if request.method == Method::Get
            && request.target == b"/"
            && request.keep_alive
            && request.version == Version::Http11
        {
            self.net.send_static(self.conn, HELLO);
            return Flow::Continue;
        }
        self.take(request)
    }

    fn body(&mut self, piece: &[u8]) -> Flow {
        let State::Receiving(receiving) = &mut *self.state else { return Flow::Continue };
        let progress = receiving.upload.body(piece);
        self.proceed(progress)
    }

    fn end(&mut self) -> Flow {
        match std::mem::replace(self.state, State::Open) {
            State::Receiving(receiving) => self.answer(receiving.upload.end(), receiving.fate, false),
            // A body that nobody asked for.
            other => {
                *self.state = other;
                Flow::Continue
            }
        }
    }
}

impl<N: Net> Turn<'_, N> {
    fn take(&mut self, request: &Request<'_>) -> Flow {
        let fate = |stays: bool| match (stays, request.version) {
            (false, _) => Fate::Ends,
            (true, Version::Http11) => Fate::Stays,
            (true, Version::Http10) => Fate::StaysSaid,
        };
        let ask = Ask {
            protocol: if request.version == Version::Http10 { "http/1.0" } else { "http/1.1" },
            method: request.method,
            target: request.target,
            framing: request.framing,
            content_type: request.content_type,
        };
        match self.shared.service.take(self.net, self.conn, &ask) {
            Outcome::Answer(answer) => self.answer(answer, fate(request.keep_alive), request.method == Method::Head),
            Outcome::Refuse(answer) => self.refuse(answer),
            Outcome::Upload(upload) => self.receive(*upload, request, fate(request.persistent)),
        }
    }

    fn receive(&mut self, mut upload: Upload, request: &Request<'_>, fate: Fate) -> Flow {
        let progress = upload.body(&[]);
        if !request.has_body() && matches!(progress, Progress::More) {
            return self.answer(upload.end(), fate, false);
        }
        *self.state = State::Receiving(Box::new(Receiving { upload, fate, discarding: false }));
        let flow = self.proceed(progress);
        if flow == Flow::Continue && request.expects && request.version == Version::Http11 {
            self.net.send_static(self.conn, CONTINUE);
        }
        flow
    }

    /// After a piece of an upload's body.
    #[inline]
    fn proceed(&mut self, progress: Progress) -> Flow {
        match progress {
            Progress::More => return Flow::Continue,
            Progress::Refuse(answer) => return self.refuse(answer),
            Progress::Close => {
                *self.state = State::Stalled;
                self.shared.close(self.net, self.conn, false);
            }
            Progress::Stall => {
                *self.state = State::Stalled;
                self.net.pause(self.conn);
            }
        }
        Flow::Stop
    }

    /// Writes an answer after which nothing more of this connection is wanted.
    fn refuse(&mut self, answer: Answer) -> Flow {
        let Answer { status, content_type, fields, body, .. } = answer;
        let scratch = &mut self.shared.scratch;
        scratch.clear();
        Head { status, content_type, content_length: body.len(), fields, fate: Fate::Ends }.write(scratch);
        self.net.send(self.conn, scratch);
        match body {
            Content::Static(bytes) => self.net.send_static(self.conn, bytes),
            Content::Made(bytes) => self.net.send(self.conn, &bytes),
            Content::Payload(_) => {}
        }
        leave(self.net, self.conn, self.shared, self.state);
        Flow::Stop
    }

    fn answer(&mut self, answer: Answer, fate: Fate, head_only: bool) -> Flow {
        let Answer { status, content_type, fields, body, ticket } = answer;
        let scratch = &mut self.shared.scratch;
        scratch.clear();
        Head { status, content_type, content_length: body.len(), fields, fate }.write(scratch);
        self.net.send(self.conn, scratch);
        let last = fate == Fate::Ends;
        if !head_only {
            match body {
                Content::Static(bytes) => self.net.send_static(self.conn, bytes),
                Content::Made(bytes) => self.net.send(self.conn, &bytes),
                // In one piece where nobody asks when it has left; the service has seen that there is memory for it.
                Content::Payload(size) if ticket.is_none() && size <= payload::MOST_BYTES as u64 => {
                    self.net.send_static(self.conn, payload::bytes(size as usize).unwrap_or_default());
                }
                Content::Payload(size) => {
                    *self.state = State::Sending(Box::new(Sending::begin(self.net, self.conn, size, last, ticket)));
                    self.shared.unsettled.push(self.conn);
                    return if last { Flow::Stop } else { Flow::Pause };
                }
            }
        }
        if last && self.shared.service.ledger.carries(self.conn) {
            leave(self.net, self.conn, self.shared, self.state);
        } else {
            self.closing |= last;
        }
        if last { Flow::Stop } else { Flow::Continue }
    }
}
