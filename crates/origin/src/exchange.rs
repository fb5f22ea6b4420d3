//! From a request to its answer, whatever protocol carries the two.
//!
//! A protocol hands [`Service::take`] what the head says and gets either the answer at once or an [`Upload`], which takes
//! the pieces of the body and then gives the answer.

use std::borrow::Cow;

use photofinish_http::fields::Fields as RequestList;
use photofinish_http::payload;
use photofinish_http::request::{self, Framing, Method};
use photofinish_net::{Conn, Nanos, Net};

use crate::coded::Coder;
use crate::ledger::Ledger;
use crate::response::HELLO_BODY;
use crate::route::{Query, Route};
use crate::trial::Ticket;
use crate::trials::{Mode, RegisterError, Trials};
use crate::upload::Upload;

/// Fields of a response beside `Content-Type` and `Content-Length`.
pub(crate) type Fields = &'static [(&'static str, &'static str)];

const ANY_ORIGIN: (&str, &str) = ("Access-Control-Allow-Origin", "*");
const DOWNLOAD_FIELDS: Fields = &[("Cache-Control", "no-cache"), ANY_ORIGIN];

/// A request's head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// `http/1.1`, `h2` …, as evidence says it.
    pub protocol: &'static str,
    pub method: Method,
    /// The path, with the query if there is one.
    pub target: &'a [u8],
    pub framing: Framing,
    pub content_type: Option<&'a [u8]>,
    /// All fields, for routes that look for one.
    pub fields: RequestFields<'a>,
}

/// The fields of a request as its protocol has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestFields<'a> {
    /// The lines of an HTTP/1 head.
    Lines(&'a [u8]),
    /// The decoded list of a later protocol.
    List(&'a RequestList),
}

impl<'a> RequestFields<'a> {
    /// The value of `name` (in lower case); of several such fields the values joined by commas.
    pub fn joined(self, name: &[u8]) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Lines(lines) => request::field(lines, name),
            Self::List(list) => list.joined(name),
        }
    }
}

/// A response, whatever its form on the wire.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub fields: Fields,
    /// What GET gets; for HEAD only its length counts.
    pub body: Content,
    /// To be told how much of the body is handed to the kernel.
    pub ticket: Option<Ticket>,
}

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Content {
    /// Made once.
    Static(&'static [u8]),
    /// Made for this response.
    Made(Vec<u8>),
    /// So many bytes of [`payload`].
    Payload(u64),
}

impl Content {
    /// Length in bytes.
    pub const fn len(&self) -> u64 {
        match self {
            Self::Static(bytes) => bytes.len() as u64,
            Self::Made(bytes) => bytes.len() as u64,
            Self::Payload(bytes) => *bytes,
        }
    }
}

impl Answer {
    pub const fn plain(status: u16, text: &'static str) -> Self {
        let body = Content::Static(text.as_bytes());
        Self { status, content_type: "text/plain", fields: &[], body, ticket: None }
    }

    /// As [`Answer::plain`], with a text made for the occasion.
    pub fn said(status: u16, what: impl std::fmt::Display) -> Self {
        Self { body: Content::Made(format!("{what}\n").into_bytes()), ..Self::plain(status, "") }
    }

    pub fn json(status: u16, body: Vec<u8>) -> Self {
        Self { content_type: "application/json", body: Content::Made(body), ..Self::plain(status, "") }
    }

    fn not_allowed(fields: Fields, text: &'static str) -> Self {
        Self { fields, ..Self::plain(405, text) }
    }
}

impl Ask<'_> {
    /// Length of the body, as declared.
    pub fn content_length(&self) -> Option<u64> {
        if let Framing::Length(length) = self.framing { Some(length) } else { None }
    }
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Answered, whatever its body says.
    Answer(Answer),
    /// The body is wanted first.
    Upload(Box<Upload>),
    /// Answered before the body, which is so unwanted that the connection has to end.
    Refuse(Answer),
}

/// The routes of one loop.
#[derive(Debug)]
pub(crate) struct Service {
    info: &'static [u8],
    trials: Trials,
    most_body_bytes: u64,
    pub(crate) coder: Coder,
    /// Which connections carry which trials.
    pub ledger: Ledger,
}

impl Service {
    /// Bodies of uploads beyond `most_body_bytes` are refused; `trials` may be shared with other loops.
    pub fn new(trials: Trials, most_body_bytes: u64) -> Self {
        let endpoints = [
            "/",
            "/info",
            "/test/1k",
            "/test/10k",
            "/test/100k",
            "/test/1m",
            "/test/10m",
            "/test/50m",
            "/test/<bytes>",
        ];
        let coded = ["/patients/<n>", "/corpus/<name>", "/level/<l>/patients/<n>", "/level/<l>/corpus/<name>"];
        let further = coded.into_iter().chain(["/dictionary/patients", "/upload", "/trials/<id>"]);
        let endpoints: Vec<&str> = endpoints.into_iter().chain(further).collect();
        let server = concat!("photofinish-origin/", env!("CARGO_PKG_VERSION"));
        let info = serde_json::json!({ "server": server, "endpoints": endpoints }).to_string();
        // One loop, one service: it lives as long as the process.
        let info = info.into_bytes().leak();
        Self { info, trials, most_body_bytes, coder: Coder::default(), ledger: Ledger::default() }
    }

    /// Takes back the memory of a [`Content::Made`] that has been sent.
    pub fn recycle(&mut self, memory: Vec<u8>) {
        self.coder.recycle(memory);
    }

    /// Takes the head of a request that came over `conn`.
    pub fn take<N: Net>(&mut self, net: &mut N, conn: Conn, ask: &Ask<'_>) -> Outcome {
        let (route, query) = Route::of(ask.target);
        let reads = matches!(ask.method, Method::Get | Method::Head);
        Outcome::Answer(match route {
            Route::Unknown => Answer::plain(404, "no such path: see /info\n"),
            Route::Upload => return self.upload(net, conn, ask, query),
            Route::Trial(id) => self.trial(net, ask.method, id, query),
            _ if !reads => Answer::not_allowed(&[("Allow", "GET, HEAD")], "only GET and HEAD are served\n"),
            Route::Hello => Answer { body: Content::Static(HELLO_BODY), ..Answer::plain(200, "") },
            Route::Info => {
                let body = Content::Static(self.info);
                Answer { content_type: "application/json", fields: &[ANY_ORIGIN], body, ..Answer::plain(200, "") }
            }
            Route::BadSize => Answer::plain(400, "the size must be 1 byte to 1g\n"),
            Route::Test(size) => self.download(net, conn, ask, query, size),
            Route::Coded(path) => self.coded(net, conn, ask, path, query),
        })
    }

    fn download<N: Net>(&mut self, net: &mut N, conn: Conn, ask: &Ask<'_>, query: Query<'_>, size: u64) -> Answer {
        let mut ticket = self.ticket(net, conn, ask.protocol, query);
        // What can't be held now can't be sent later.
        if payload::piece(0, usize::try_from(size).unwrap_or(usize::MAX)).is_err() {
            if let Some(ticket) = &mut ticket {
                ticket.refused(500);
            }
            return Answer::plain(500, "no memory for a body of this size\n");
        }
        if ask.method == Method::Head
            && let Some(ticket) = &mut ticket
        {
            ticket.sent_whole();
        }
        let (content_type, fields) = ("application/octet-stream", DOWNLOAD_FIELDS);
        Answer { status: 200, content_type, fields, body: Content::Payload(size), ticket }
    }

    fn upload<N: Net>(&mut self, net: &mut N, conn: Conn, ask: &Ask<'_>, query: Query<'_>) -> Outcome {
        if !matches!(ask.method, Method::Post | Method::Put) {
            return Outcome::Answer(Answer::not_allowed(&[("Allow", "POST, PUT")], "send a body by POST or PUT\n"));
        }
        let ticket = self.ticket(net, conn, ask.protocol, query);
        match Upload::begin(ask, query, self.most_body_bytes, ticket) {
            Ok(upload) => Outcome::Upload(Box::new(upload)),
            Err(answer) => Outcome::Refuse(*answer),
        }
    }

    /// The ticket of a request that names a trial which is known; counts its head.
    pub(crate) fn ticket<N: Net>(
        &mut self,
        net: &mut N,
        conn: Conn,
        protocol: &'static str,
        query: Query<'_>,
    ) -> Option<Ticket> {
        let trial = self.trials.find(query.get("trial")?)?;
        self.ledger.carry(net, conn, &trial);
        let protocol = if net.security(conn).is_some() { secured(protocol) } else { protocol };
        Some(Ticket::new(trial, protocol, Nanos::now()))
    }

    fn trial<N: Net>(&mut self, net: &mut N, method: Method, id: &[u8], query: Query<'_>) -> Answer {
        let unknown = || Answer::plain(404, "no such trial: register it with PUT /trials/<id>?mode=check or count\n");
        match method {
            Method::Get | Method::Head => self
                .trials
                .find(id)
                .map_or_else(unknown, |trial| Answer::json(200, self.ledger.evidence(net, &trial).to_json())),
            Method::Delete => self
                .trials
                .remove(id)
                .map_or_else(unknown, |trial| Answer::json(200, self.ledger.evidence(net, &trial).to_json())),
            Method::Put => {
                let Some(mode) = query.get("mode").and_then(Mode::named) else {
                    return Answer::plain(400, "say what to do with bodies: mode=check or mode=count\n");
                };
                match self.trials.register(id, mode) {
                    Ok((trial, fresh)) => {
                        let evidence = self.ledger.evidence(net, &trial);
                        Answer::json(if fresh { 201 } else { 200 }, evidence.to_json())
                    }
                    Err(error @ RegisterError::BadId) => Answer::said(400, error),
                    Err(error @ RegisterError::Full) => Answer::said(507, error),
                }
            }
            _ => Answer::not_allowed(&[("Allow", "GET, HEAD, PUT, DELETE")], "a trial is put, got or deleted\n"),
        }
    }
}

/// What evidence calls a protocol inside TLS; HTTP/3 is never anywhere else.
fn secured(protocol: &'static str) -> &'static str {
    match protocol {
        "http/1.0" => "http/1.0+tls",
        "http/1.1" => "http/1.1+tls",
        "h2" => "h2+tls",
        other => other,
    }
}
