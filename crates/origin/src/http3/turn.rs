//! What the bytes of one request's stream lead to: the request is taken, and its answer written.

use std::sync::OnceLock;

use photofinish_http::h3::frame::write_data_head;
use photofinish_http::h3::{ErrorCode, Event, H3Error, write_response};
use photofinish_http::request::{Framing, Method};
use photofinish_net::quic::Piece;
use photofinish_net::{Conn, Net};

use super::PROTOCOL;
use super::leaving::Leaving;
use super::request::{Reading, Request};
use crate::exchange::{Answer, Ask, Content, Outcome, RequestFields};
use crate::lowered::lowered;
use crate::origin::Shared;
use crate::outgoing::Outgoing;
use crate::response::HELLO_BODY;
use crate::route::decimal;
use crate::upload::{Progress, Upload};

/// Up to this length copying a body behind its head is cheaper than sending it by itself.
const MOST_COPIED: usize = 4 * 1024;

/// Why a request does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// It, or its whole connection, is broken.
    Failed(H3Error),
    /// The connection ends at once, without a word.
    Close,
}

impl From<H3Error> for Halt {
    fn from(error: H3Error) -> Self {
        Self::Failed(error)
    }
}

/// How a response is written.
#[derive(Clone, Copy, Debug, Default)]
struct Manner {
    head_only: bool,
    /// The request's body is unwanted: its sender is asked to stop.
    stops: bool,
}

/// One event of one request.
pub(super) struct Turn<'a, N> {
    pub net: &'a mut N,
    pub conn: Conn,
    pub shared: &'a mut Shared,
}

impl<N: Net> Turn<'_, N> {
    /// Takes what came; with `end` nothing more follows.
    pub fn read(&mut self, request: &mut Request, data: &[u8], end: bool) -> Result<(), Halt> {
        let mut data = data;
        while !matches!(request.reading, Reading::Stalled) {
            match request.message.advance(&mut data, end, &mut self.shared.sections)? {
                None => break,
                Some(Event::Head) => {
                    let is_whole = end && data.is_empty();
                    self.begin(request, is_whole)?;
                }
                Some(Event::Data(bytes)) => {
                    if let Reading::Upload(upload) = &mut request.reading {
                        let progress = upload.body(bytes);
                        self.proceed(request, progress)?;
                    }
                }
                Some(Event::End) => {
                    if let Reading::Upload(upload) = std::mem::replace(&mut request.reading, Reading::Over) {
                        self.answer(request, upload.end(), Manner::default());
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends on what of an answer QUIC takes now.
    pub fn pump(&mut self, request: &mut Request) {
        let Self { net, conn, shared } = self;
        let Some(leaving) = &mut request.leaving else { return };
        if leaving.advance(*net, *conn, request.stream, shared) {
            let stops = leaving.stops;
            request.leaving = None;
            if stops {
                self.stop(request);
            }
        }
    }

    /// The rest of the request is unwanted, now that its answer has left.
    fn stop(&mut self, request: &mut Request) {
        self.net.stop_stream(self.conn, request.stream, ErrorCode::NO_ERROR.0);
        request.reading = Reading::Over;
    }

    /// Takes the head of a request.
    fn begin(&mut self, request: &mut Request, is_whole: bool) -> Result<(), Halt> {
        let Self { net, conn, shared } = self;
        shared.handicap.pay();
        request.reading = Reading::Unasked;
        let fields = shared.sections.fields();
        if fields.too_large() {
            let answer = Answer::plain(431, "the fields of the request are too large\n");
            self.answer(request, answer, Manner { stops: true, ..Manner::default() });
            return Ok(());
        }
        let method = Method::named(fields.get(b":method").unwrap_or_default());
        let target = fields.get(b":path").unwrap_or_default();
        if method == Method::Get && target == b"/" {
            self.say_hello(request);
            return Ok(());
        }
        let ask = Ask {
            protocol: PROTOCOL,
            method,
            target,
            framing: fields.get(b"content-length").and_then(decimal).map_or(Framing::None, Framing::Length),
            content_type: fields.get(b"content-type"),
            fields: RequestFields::List(fields),
        };
        let expects = fields.get(b"expect").is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
        match shared.service.take(*net, *conn, &ask) {
            Outcome::Answer(answer) => {
                self.answer(request, answer, Manner { head_only: method == Method::Head, stops: false });
            }
            Outcome::Refuse(answer) => {
                self.answer(request, answer, Manner { stops: true, ..Manner::default() });
            }
            Outcome::Upload(upload) => return self.receive(request, upload, expects && !is_whole),
        }
        Ok(())
    }

    /// The one answer that is always the same.
    fn say_hello(&mut self, request: &mut Request) {
        let hello = hello();
        request.answered = true;
        let sent = self.net.send_on(self.conn, request.stream, Piece::Static(hello), true);
        if sent < hello.len() {
            request.leaving = Some(Leaving::new(&hello[sent..], None, None, false));
        }
    }

    /// Writes an answer, and sends of it what QUIC takes now.
    fn answer(&mut self, request: &mut Request, answer: Answer, manner: Manner) {
        let Answer { status, content_type, fields, body, ticket } = answer;
        let Shared { scratch, output, .. } = &mut *self.shared;
        output.clear();
        write_response(output, status, lowered(scratch, content_type, body.len(), fields));
        let body = if manner.head_only || body.len() == 0 { None } else { Some(body) };
        if let Some(body) = &body {
            write_data_head(output, body.len());
        }
        request.answered = true;
        let rest = match (body, ticket) {
            (Some(Content::Static(bytes)), None) if bytes.len() <= MOST_COPIED => {
                output.extend_from_slice(bytes);
                None
            }
            (Some(Content::Made(bytes)), None) if bytes.len() <= MOST_COPIED => {
                output.extend_from_slice(&bytes);
                self.shared.service.recycle(bytes);
                None
            }
            (Some(body), ticket) => Some((Outgoing::new(body), ticket)),
            (None, _) => None,
        };
        let output = &self.shared.output[..];
        let sent = self.net.send_on(self.conn, request.stream, Piece::Copied(output), rest.is_none());
        if sent == output.len() && rest.is_none() {
            if manner.stops {
                self.stop(request);
            }
            return;
        }
        let (body, ticket) = rest.map_or((None, None), |(body, ticket)| (Some(body), ticket));
        request.leaving = Some(Leaving::new(&output[sent..], body, ticket, manner.stops));
        self.pump(request);
    }

    fn receive(&mut self, request: &mut Request, mut upload: Box<Upload>, expects: bool) -> Result<(), Halt> {
        let progress = upload.body(&[]);
        if expects && matches!(progress, Progress::More) {
            let interim = &mut self.shared.scratch;
            interim.clear();
            write_response(interim, 100, []);
            if self.net.send_on(self.conn, request.stream, Piece::Copied(interim), false) < interim.len() {
                // A client that grants not even this has no use for an answer.
                let what = "there is no room for an interim response";
                return Err(H3Error::stream(ErrorCode::EXCESSIVE_LOAD, what).into());
            }
        }
        request.reading = Reading::Upload(upload);
        self.proceed(request, progress)
    }

    /// After a piece of an upload's body.
    fn proceed(&mut self, request: &mut Request, progress: Progress) -> Result<(), Halt> {
        match progress {
            Progress::More => {}
            Progress::Refuse(answer) => {
                request.reading = Reading::Unasked;
                self.answer(request, answer, Manner { stops: true, ..Manner::default() });
            }
            Progress::Close => return Err(Halt::Close),
            Progress::Stall => {
                request.reading = Reading::Stalled;
                self.net.hold_stream(self.conn, request.stream);
            }
        }
        Ok(())
    }
}

/// What `GET /` is answered, head and body.
fn hello() -> &'static [u8] {
    static HELLO: OnceLock<Vec<u8>> = OnceLock::new();
    HELLO.get_or_init(|| {
        let (mut out, mut text) = (Vec::new(), Vec::new());
        let length = HELLO_BODY.len() as u64;
        write_response(&mut out, 200, lowered(&mut text, "text/plain", length, &[]));
        write_data_head(&mut out, length);
        out.extend_from_slice(HELLO_BODY);
        out
    })
}
