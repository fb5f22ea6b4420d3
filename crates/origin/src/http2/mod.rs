//! The origin over HTTP/2: streams and frames around the same requests and answers.

mod watch;

use photofinish_http::h2::{Connection, ErrorCode, Event, H2Error, Limits};
use photofinish_http::request::{Framing, Method};
use photofinish_net::{Conn, Net};

use crate::exchange::{Answer, Ask, Outcome, RequestFields};
use crate::lowered::lowered;
use crate::origin::Shared;
use crate::outgoing::{Outgoing, Piece};
use crate::route::decimal;
use crate::upload::{Progress, Upload};
use watch::Watch;

/// What evidence calls it.
pub(crate) const PROTOCOL: &str = "h2";
/// Output beyond which bodies wait until it has left.
const MOST_QUEUED: usize = 256 * 1024;
/// Output beyond which a peer that asks on without reading is cut off: heads and acknowledgements are not held back.
const MOST_UNREAD: usize = MOST_QUEUED + (1 << 20);
/// Up to this length copying a piece is cheaper than sending it by itself.
const MOST_COPIED: usize = 4 * 1024;

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Fate {
    /// It goes on.
    Stays,
    /// The peer has been told why it ends, and is let read it.
    Leaves,
    /// It ends at once.
    Ends,
}

/// One connection, from its preface on.
#[derive(Debug)]
pub(crate) struct Http2 {
    conn: Conn,
    connection: Connection,
    /// Requests whose bodies are read.
    uploads: Vec<(u32, Box<Upload>)>,
    /// Responses whose bodies leave, in turn.
    bodies: Vec<Leaving>,
    /// Whose turn it is.
    turn: usize,
    watch: Watch,
    is_watched: bool,
    /// Nothing leaves before the client has begun to speak HTTP/2: some can't hold more than its answer to an upgrade.
    waits: bool,
}

/// A request that has begun.
struct Opening {
    stream: u32,
    /// Nothing follows.
    end: bool,
    /// Its body may wait for an interim response.
    expects: bool,
    head_only: bool,
}

/// A response whose body leaves.
#[derive(Debug)]
struct Leaving {
    stream: u32,
    body: Outgoing,
    /// The request's body is unwanted: its stream is reset behind the response.
    resets: bool,
}

/// A response that is about to be written.
struct Response {
    stream: u32,
    head_only: bool,
    /// The request's body is unwanted.
    resets: bool,
}

impl Http2 {
    /// A connection whose first bytes, the preface, are still to be handed in.
    pub fn new(conn: Conn) -> Self {
        Self::around(conn, Connection::server(Limits::default()))
    }

    /// A connection that a request of HTTP/1 asked to go over with these settings; it is answered by [`Self::first`].
    pub fn upgraded(conn: Conn, settings: &[u8]) -> Result<Self, H2Error> {
        Connection::upgraded(Limits::default(), settings).map(|connection| Self::around(conn, connection))
    }

    fn around(conn: Conn, connection: Connection) -> Self {
        Self {
            conn,
            connection,
            uploads: Vec::new(),
            bodies: Vec::new(),
            turn: 0,
            watch: Watch::default(),
            is_watched: false,
            waits: true,
        }
    }

    /// Says who we are before the client has: it has asked for HTTP/2 in the handshake.
    pub fn begin_at_once<N: Net>(&mut self, net: &mut N, shared: &mut Shared) -> Fate {
        self.waits = false;
        self.received(net, shared, &[])
    }

    /// Takes what arrived.
    pub fn received<N: Net>(&mut self, net: &mut N, shared: &mut Shared, data: &[u8]) -> Fate {
        let mut data = data;
        self.waits &= data.is_empty();
        loop {
            let fate = match self.connection.advance(&mut data) {
                Ok(None) => break,
                Ok(Some(event)) => self.take(net, shared, event),
                // The peer is told by what is in the output.
                Err(H2Error { .. }) => Fate::Leaves,
            };
            if fate != Fate::Stays {
                flush(net, self.conn, &mut self.connection, &mut self.watch);
                return fate;
            }
        }
        self.pump(net, shared);
        if net.queued(self.conn) > MOST_UNREAD { Fate::Ends } else { Fate::Stays }
    }

    /// All output has been handed to the kernel.
    pub fn flushed<N: Net>(&mut self, net: &mut N, shared: &mut Shared) {
        self.watch.settle(net.queued(self.conn));
        self.pump(net, shared);
    }

    /// Looks how far watched bodies have got. Returns whether that has to be looked at again.
    pub fn settle<N: Net>(&mut self, net: &mut N) -> bool {
        self.is_watched = self.watch.settle(net.queued(self.conn));
        self.is_watched
    }

    /// The connection that this was made for.
    pub const fn conn(&self) -> Conn {
        self.conn
    }

    fn take<N: Net>(&mut self, net: &mut N, shared: &mut Shared, event: Event<'_>) -> Fate {
        match event {
            Event::Head { stream, end } => return self.begin(net, shared, stream, end),
            Event::Data { stream, bytes } => {
                if let Some(upload) = self.upload(stream) {
                    let progress = upload.body(bytes);
                    return self.proceed(shared, stream, progress);
                }
            }
            Event::End { stream } => {
                if let Some(upload) = self.forget_upload(stream) {
                    self.answer(shared, &Response { stream, head_only: false, resets: false }, upload.end());
                }
            }
            Event::Reset { stream, .. } => {
                // An upload that was being read ends here, and counts as aborted.
                drop(self.forget_upload(stream));
                self.forget_body(stream);
            }
            Event::GoAway { .. } => {}
        }
        Fate::Stays
    }

    fn upload(&mut self, stream: u32) -> Option<&mut Upload> {
        self.uploads.iter_mut().find(|(of, _)| *of == stream).map(|(_, upload)| &mut **upload)
    }

    fn forget_upload(&mut self, stream: u32) -> Option<Box<Upload>> {
        let at = self.uploads.iter().position(|(of, _)| *of == stream)?;
        Some(self.uploads.swap_remove(at).1)
    }

    fn forget_body(&mut self, stream: u32) {
        self.bodies.retain(|body| body.stream != stream);
        self.watch.broken(stream);
    }

    /// Takes the head of a request.
    fn begin<N: Net>(&mut self, net: &mut N, shared: &mut Shared, stream: u32, end: bool) -> Fate {
        shared.handicap.pay();
        let fields = self.connection.fields();
        if fields.too_large() {
            let answer = Answer::plain(431, "the fields of the request are too large\n");
            self.answer(shared, &Response { stream, head_only: false, resets: !end }, answer);
            return Fate::Stays;
        }
        let method = Method::named(fields.get(b":method").unwrap_or_default());
        let ask = Ask {
            protocol: PROTOCOL,
            method,
            target: fields.get(b":path").unwrap_or_default(),
            framing: fields.get(b"content-length").and_then(decimal).map_or(Framing::None, Framing::Length),
            content_type: fields.get(b"content-type"),
            fields: RequestFields::List(fields),
        };
        let expects = fields.get(b"expect").is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
        let outcome = shared.service.take(net, self.conn, &ask);
        self.follow(shared, &Opening { stream, end, expects, head_only: method == Method::Head }, outcome)
    }

    /// Answers the request of HTTP/1 that has become stream 1.
    pub fn first<N: Net>(&mut self, net: &mut N, shared: &mut Shared, ask: &Ask<'_>) -> Fate {
        let outcome = shared.service.take(net, self.conn, ask);
        let opening = Opening { stream: 1, end: true, expects: false, head_only: ask.method == Method::Head };
        self.follow(shared, &opening, outcome)
    }

    fn follow(&mut self, shared: &mut Shared, opening: &Opening, outcome: Outcome) -> Fate {
        let &Opening { stream, end, head_only, .. } = opening;
        match outcome {
            Outcome::Answer(answer) => self.answer(shared, &Response { stream, head_only, resets: false }, answer),
            Outcome::Refuse(answer) => {
                self.answer(shared, &Response { stream, head_only: false, resets: !end }, answer);
            }
            Outcome::Upload(upload) => return self.receive(shared, opening, upload),
        }
        Fate::Stays
    }

    fn receive(&mut self, shared: &mut Shared, opening: &Opening, mut upload: Box<Upload>) -> Fate {
        let &Opening { stream, end, expects, .. } = opening;
        let progress = upload.body(&[]);
        if end && matches!(progress, Progress::More) {
            self.answer(shared, &Response { stream, head_only: false, resets: false }, upload.end());
            return Fate::Stays;
        }
        let goes_on = matches!(progress, Progress::More);
        self.uploads.push((stream, upload));
        if expects && goes_on {
            self.connection.respond(stream, 100, [], false);
        }
        self.proceed(shared, stream, progress)
    }

    /// After a piece of an upload's body.
    fn proceed(&mut self, shared: &mut Shared, stream: u32, progress: Progress) -> Fate {
        match progress {
            Progress::More => return Fate::Stays,
            Progress::Refuse(answer) => {
                self.answer(shared, &Response { stream, head_only: false, resets: true }, answer);
            }
            Progress::Close => return Fate::Ends,
            Progress::Stall => self.connection.hold(stream),
        }
        drop(self.forget_upload(stream));
        Fate::Stays
    }

    /// Writes the head of a response; its body leaves by [`Self::pump`].
    fn answer(&mut self, shared: &mut Shared, response: &Response, answer: Answer) {
        let &Response { stream, head_only, resets } = response;
        let Answer { status, content_type, fields, body, ticket } = answer;
        let end = head_only || body.len() == 0;
        let fields = lowered(&mut shared.scratch, content_type, body.len(), fields);
        if !self.connection.respond(stream, status, fields, end) {
            return;
        }
        if end {
            if resets {
                self.connection.reset(stream, ErrorCode::NO_ERROR);
            }
            return;
        }
        if let Some(ticket) = ticket {
            self.watch.begin(stream, ticket);
        }
        self.bodies.push(Leaving { stream, body: Outgoing::new(body), resets });
    }

    /// Sends bodies as far as windows and the queue allow, a frame a stream in turn.
    fn pump<N: Net>(&mut self, net: &mut N, shared: &mut Shared) {
        if self.waits {
            return;
        }
        let mut blocked = 0;
        while blocked < self.bodies.len() && net.queued(self.conn) + self.connection.output().len() < MOST_QUEUED {
            if self.turn >= self.bodies.len() {
                self.turn = 0;
            }
            blocked = if self.send_frame(net, shared) { 0 } else { blocked + 1 };
        }
        flush(net, self.conn, &mut self.connection, &mut self.watch);
        if !self.is_watched && self.watch.settle(net.queued(self.conn)) {
            self.is_watched = true;
            shared.unsettled.push(self.conn);
        }
    }

    /// Sends the next frame of the body whose turn it is; whether its windows allowed one.
    fn send_frame<N: Net>(&mut self, net: &mut N, shared: &mut Shared) -> bool {
        let Self { conn, connection, bodies, turn, watch, .. } = self;
        let Leaving { stream, body, resets } = &mut bodies[*turn];
        let (stream, resets) = (*stream, *resets);
        let most = connection.sendable(stream).min(connection.most_frame_bytes());
        if most == 0 {
            *turn += 1;
            return false;
        }
        let (piece, last) = body.next(most);
        let bytes = piece.len();
        connection.data_head(stream, bytes, last);
        match piece {
            Piece::Static(piece) if bytes > MOST_COPIED => {
                flush(net, *conn, connection, watch);
                net.send_static(*conn, piece);
                watch.queued(bytes);
            }
            Piece::Static(piece) | Piece::Made(piece) => connection.output().extend_from_slice(piece),
        }
        if watch.watches(stream) {
            flush(net, *conn, connection, watch);
            watch.piece(stream, bytes, last);
        }
        if last {
            if resets {
                connection.reset(stream, ErrorCode::NO_ERROR);
            }
            shared.service.recycle(bodies.remove(*turn).body.into_memory());
        } else {
            *turn += 1;
        }
        true
    }
}

/// Hands what a connection wants sent to the loop.
fn flush<N: Net>(net: &mut N, conn: Conn, connection: &mut Connection, watch: &mut Watch) {
    let output = connection.output();
    if !output.is_empty() {
        net.send(conn, output);
        watch.queued(output.len());
        output.clear();
    }
}
