//! The reference server as a handler of one loop.

use photofinish_http::payload;
use photofinish_http::request::{Flow, Method, Request, RequestError, RequestParser, Version};
use photofinish_net::{Closed, Conn, Handler, Net};

use crate::handicap::Handicap;
use crate::response::{Fate, HELLO, HELLO_BODY, Head};
use crate::route::Route;

const DOWNLOAD_FIELDS: &str = "Cache-Control: no-cache\r\nAccess-Control-Allow-Origin: *\r\n";
/// Output beyond which a connection's further requests wait until it has left: what a reader that never reads may make
/// the server keep, beside the requests themselves.
const MOST_QUEUED: usize = 256 * 1024;
/// Requests that may wait so; a client that sends more without reading is cut off.
const MOST_HELD: usize = 1 << 20;

/// One connection.
#[derive(Debug, Default)]
struct Session {
    parser: RequestParser,
    /// Received while too much output was queued; not parsed.
    held: Vec<u8>,
}

/// Serves `/`, `/test/<size>` and `/info`.
#[derive(Debug)]
pub struct Origin {
    sessions: Vec<Session>,
    scratch: Vec<u8>,
    info: &'static [u8],
    handicap: Handicap,
}

impl Origin {
    /// A server that burns `handicap` for each request.
    #[must_use]
    pub fn new(handicap: Handicap) -> Self {
        let endpoints = ["/", "/info", "/test/1k", "/test/10k", "/test/100k", "/test/1m", "/test/10m", "/test/50m"];
        let server = concat!("photofinish-origin/", env!("CARGO_PKG_VERSION"));
        let sized = "/test/<bytes>";
        let endpoints: Vec<&str> = endpoints.into_iter().chain([sized]).collect();
        let info = serde_json::json!({ "server": server, "endpoints": endpoints }).to_string();
        // One loop, one origin: it lives as long as the process.
        let info = info.into_bytes().leak();
        Self { sessions: Vec::new(), scratch: Vec::with_capacity(512), info, handicap }
    }

    fn read<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        let Self { sessions, scratch, info, handicap } = self;
        let session = &mut sessions[conn.slot as usize];
        let mut ended = false;
        let outcome = session.parser.feed(data, |request| {
            handicap.pay();
            let flow = answer(net, conn, scratch, info, request);
            ended = flow == Flow::Stop;
            flow
        });
        if let Err(error) = outcome {
            refuse(net, conn, scratch, error);
            ended = true;
        }
        if ended {
            net.close(conn, true);
        }
    }
}

#[inline]
fn answer<N: Net>(net: &mut N, conn: Conn, scratch: &mut Vec<u8>, info: &'static [u8], request: &Request<'_>) -> Flow {
    let fate = match (request.keep_alive, request.version) {
        (false, _) => Fate::Ends,
        (true, Version::Http11) => Fate::Stays,
        (true, Version::Http10) => Fate::StaysSaid,
    };
    let route = Route::of(request.target);
    if request.method == Method::Get && route == Route::Hello && fate == Fate::Stays {
        net.send_static(conn, HELLO);
        return Flow::Continue;
    }
    let (status, content_type, fields, body) = content(route, request.method, info);
    scratch.clear();
    Head { status, content_type, content_length: body.len(), fields, fate }.write(scratch);
    net.send(conn, scratch);
    if request.method != Method::Head {
        net.send_static(conn, body);
    }
    if request.keep_alive { Flow::Continue } else { Flow::Stop }
}

type Content = (u16, &'static str, &'static str, &'static [u8]);

/// Status, content type, further fields and body.
fn content(route: Route, method: Method, info: &'static [u8]) -> Content {
    match (route, method) {
        (Route::Unknown, _) => plain(404, "", b"no such path: see /info\n"),
        (_, Method::Other) => plain(405, "Allow: GET, HEAD\r\n", b"only GET and HEAD are served\n"),
        (Route::Hello, _) => plain(200, "", HELLO_BODY),
        (Route::Info, _) => (200, "application/json", "Access-Control-Allow-Origin: *\r\n", info),
        (Route::BadSize, _) => plain(400, "", b"the size must be 1 byte to 100m\n"),
        (Route::Test(size), _) => match payload::bytes(size) {
            Ok(body) => (200, "application/octet-stream", DOWNLOAD_FIELDS, body),
            Err(_) => plain(500, "", b"no memory for a body of this size\n"),
        },
    }
}

const fn plain(status: u16, fields: &'static str, body: &'static [u8]) -> Content {
    (status, "text/plain", fields, body)
}

#[cold]
fn refuse<N: Net>(net: &mut N, conn: Conn, scratch: &mut Vec<u8>, error: RequestError) {
    let body = format!("{error}\n");
    scratch.clear();
    let (status, content_length) = (error.status(), body.len());
    Head { status, content_type: "text/plain", content_length, fields: "", fate: Fate::Ends }.write(scratch);
    scratch.extend_from_slice(body.as_bytes());
    net.send(conn, scratch);
}

impl Handler for Origin {
    fn accepted<N: Net>(&mut self, _net: &mut N, conn: Conn) {
        let slot = conn.slot as usize;
        if self.sessions.len() <= slot {
            self.sessions.resize_with(slot + 1, Session::default);
        }
        self.sessions[slot].parser.reset();
        self.sessions[slot].held.clear();
    }

    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}

    #[inline]
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        if net.queued(conn) <= MOST_QUEUED {
            return self.read(net, conn, data);
        }
        let held = &mut self.sessions[conn.slot as usize].held;
        held.extend_from_slice(data);
        if held.len() > MOST_HELD {
            net.close(conn, false);
        }
    }

    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let held = &mut self.sessions[conn.slot as usize].held;
        if !held.is_empty() {
            let mut data = std::mem::take(held);
            self.read(net, conn, &data);
            data.clear();
            self.sessions[conn.slot as usize].held = data;
        }
    }

    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}
