//! What one reading of an HTTP/1 connection's bytes leads to: requests are taken, and answers written.

use photofinish_http::payload;
use photofinish_http::request::{Flow, Method, Reader, Request, Version};
use photofinish_net::{Conn, Net};

use crate::exchange::{Answer, Ask, Content, Outcome, RequestFields};
use crate::http1::{Receiving, State, leave};
use crate::origin::Shared;
use crate::response::{CONTINUE, Fate, HELLO, Head};
use crate::sending::Sending;
use crate::trial::Ticket;
use crate::upload::{Progress, Upload};

/// One reading of a connection's bytes.
pub(crate) struct Turn<'a, N> {
    pub net: &'a mut N,
    pub conn: Conn,
    pub shared: &'a mut Shared,
    pub state: &'a mut State,
    /// Bytes queued: every answer adds its own.
    pub sent: &'a mut usize,
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
            *self.sent += HELLO.len();
            self.net.send_static(self.conn, HELLO);
            return Flow::Continue;
        }
        self.take(request)
    }

    fn upgrade(&mut self, request: &Request<'_>, settings: &[u8]) -> Flow {
        self.shared.handicap.pay();
        if self.switch(request, settings) { Flow::Pause } else { self.take(request) }
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

/// What a request is to the service.
pub(crate) fn ask_of<'a>(request: &Request<'a>) -> Ask<'a> {
    Ask {
        protocol: if request.version == Version::Http10 { "http/1.0" } else { "http/1.1" },
        method: request.method,
        target: request.target,
        framing: request.framing,
        content_type: request.content_type,
        fields: RequestFields::Lines(request.lines),
    }
}

impl<N: Net> Turn<'_, N> {
    fn take(&mut self, request: &Request<'_>) -> Flow {
        let fate = |stays: bool| match (stays, request.version) {
            (false, _) => Fate::Ends,
            (true, Version::Http11) => Fate::Stays,
            (true, Version::Http10) => Fate::StaysSaid,
        };
        match self.shared.service.take(self.net, self.conn, &ask_of(request)) {
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
    pub fn proceed(&mut self, progress: Progress) -> Flow {
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
    pub fn refuse(&mut self, answer: Answer) -> Flow {
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
        *self.sent += scratch.len();
        let last = fate == Fate::Ends;
        if !head_only {
            *self.sent += body.len() as usize;
            // In one piece where nobody asks when it has left; the service has seen that there is memory for a payload.
            match (body, ticket) {
                (body, Some(ticket)) => return self.watch(body, last, Some(ticket)),
                (Content::Static(bytes), None) => self.net.send_static(self.conn, bytes),
                (Content::Made(bytes), None) => {
                    self.net.send(self.conn, &bytes);
                    self.shared.service.recycle(bytes);
                }
                (Content::Payload(size), None) if size <= payload::MOST_BYTES as u64 => {
                    self.net.send_static(self.conn, payload::bytes(size as usize).unwrap_or_default());
                }
                (body @ Content::Payload(_), None) => return self.watch(body, last, None),
            }
        }
        if !last {
            return Flow::Continue;
        }
        if self.shared.service.ledger.carries(self.conn) {
            leave(self.net, self.conn, self.shared, self.state);
        } else {
            *self.state = State::Ended;
        }
        Flow::Stop
    }

    /// Sends a body piece by piece, and says how far it has got.
    fn watch(&mut self, body: Content, last: bool, ticket: Option<Ticket>) -> Flow {
        let sending = Sending::begin(self.net, self.conn, body, last, ticket);
        *self.state = State::Sending(Box::new(sending));
        self.shared.unsettled.push(self.conn);
        if last { Flow::Stop } else { Flow::Pause }
    }
}
