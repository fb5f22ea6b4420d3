//! HTTP/2 on one connection.

use photofinish_http::fields::Fields;
use photofinish_http::h2::{Client, ErrorCode, Limits, Place, Told};
use photofinish_net::{Conn, Nanos, Net};

use super::link::Flight;
use super::streams::Exchange;
use super::wire::Requests;
use super::{Driver, Routes, Windows, Wire};
use crate::Reason;
use crate::mix::{Outgoing, Payload};

/// What may wait in the loop before bodies of requests wait here, in bytes.
const MOST_QUEUED: usize = 256 * 1024;

/// The largest head of a response, counted as RFC 9113, 6.5.2 does.
const MOST_LIST_BYTES: u32 = 64 * 1024;

/// A request's body that has not left completely.
struct Upload {
    at: Place,
    body: Bytes,
    sent: usize,
}

enum Bytes {
    Fixed(&'static [u8]),
    Own(Box<[u8]>),
}

impl Bytes {
    const fn as_slice(&self) -> &[u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

pub(super) struct Http2 {
    client: Client<Exchange>,
    uploads: Vec<Upload>,
    /// No request under way left before this.
    eldest: Nanos,
    /// When anything came last.
    heard: Nanos,
    /// Whether the server has shown that it speaks HTTP/2.
    pub speaks: bool,
    /// Waits for [`Driver::flush`].
    pub is_marked: bool,
}

/// What came of some bytes from the server.
enum Outcome {
    /// Streams that are over.
    Ended(u32),
    /// The connection can't go on.
    Broken(Reason, String),
}

impl Http2 {
    pub fn new(windows: Windows, depth: u32, now: Nanos) -> Self {
        let limits = Limits {
            stream_window: windows.stream,
            connection_window: windows.connection,
            most_streams: depth,
            most_list_bytes: MOST_LIST_BYTES,
        };
        Self {
            client: Client::new(limits),
            uploads: Vec::new(),
            eldest: now,
            heard: now,
            speaks: false,
            is_marked: false,
        }
    }

    /// Requests that may be under way at once.
    pub fn most(&self) -> u32 {
        self.client.most_streams()
    }

    #[inline]
    pub fn send(&mut self, requests: &mut Requests, outgoing: &Outgoing<'_>, flight: Flight) -> u64 {
        let before = self.client.output().len();
        let is_head = outgoing.is_head;
        let (at, exchange, body) = if outgoing.is_constant() {
            let (vocabulary, constant) = requests.constant(outgoing);
            let end = constant.body.bytes().is_empty();
            let (at, exchange) = self.client.ask(vocabulary, outgoing.entry, &constant.phrase, end, is_head);
            (at, exchange, constant.body)
        } else {
            let body = outgoing.fields(requests.scheme, &mut requests.fields);
            let (at, exchange) = self.client.ask_once(&requests.fields, body.bytes().is_empty(), is_head);
            (at, exchange, body)
        };
        exchange.begin(flight);
        let head = self.client.output().len() - before;
        match body {
            Payload::None => {}
            Payload::Fixed(bytes) => self.uploads.push(Upload { at, body: Bytes::Fixed(bytes), sent: 0 }),
            Payload::Rendered(bytes) => self.uploads.push(Upload { at, body: Bytes::Own(bytes.into()), sent: 0 }),
        }
        (head + body.bytes().len()) as u64
    }

    #[inline]
    pub fn flush<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.is_marked = false;
        if !self.uploads.is_empty() {
            self.upload(net, conn);
        }
        let output = self.client.output();
        if !output.is_empty() {
            net.send(conn, output);
            output.clear();
        }
    }

    /// Sends of the bodies what the server's windows allow, a frame of each in turn.
    fn upload<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let Self { client, uploads, .. } = self;
        let mut moved = true;
        while moved {
            moved = false;
            uploads.retain_mut(|upload| {
                let rest = &upload.body.as_slice()[upload.sent..];
                let bytes = rest.len().min(client.sendable(upload.at)).min(client.most_frame_bytes());
                if bytes == 0 || net.queued(conn) > MOST_QUEUED {
                    return true;
                }
                moved = true;
                let end = bytes == rest.len();
                client.data_head(upload.at, bytes, end);
                let output = client.output();
                net.send(conn, output);
                output.clear();
                match upload.body {
                    Bytes::Fixed(all) => net.send_static(conn, &all[upload.sent..upload.sent + bytes]),
                    Bytes::Own(_) => net.send(conn, &rest[..bytes]),
                }
                upload.sent += bytes;
                !end
            });
        }
    }

    fn over(&mut self, at: Place) {
        if !self.uploads.is_empty() {
            self.uploads.retain(|upload| upload.at != at);
        }
    }

    pub fn flights(&mut self) -> Vec<Flight> {
        self.client.open_streams().map(|(_, exchange)| exchange.flight).collect()
    }

    pub fn expire(&mut self, before: Nanos) -> Option<Vec<Flight>> {
        if self.eldest >= before {
            return Some(Vec::new());
        }
        let (mut late, mut eldest) = (Vec::new(), Nanos(u64::MAX));
        for (at, exchange) in self.client.open_streams() {
            if exchange.flight.began < before {
                late.push((at, exchange.flight));
            } else {
                eldest = eldest.min(exchange.flight.began);
            }
        }
        // What leaves later is later still.
        self.eldest = if eldest.0 == u64::MAX { before } else { eldest };
        if late.iter().any(|(_, flight)| flight.began >= self.heard) {
            return None;
        }
        for &(at, _) in &late {
            self.client.cancel(at);
            self.over(at);
        }
        Some(late.into_iter().map(|(_, flight)| flight).collect())
    }

    /// Reads all of `data`; what it means goes to the driver's counts.
    #[inline]
    fn read(&mut self, driver: &mut Driver, index: u32, mut data: &[u8], at: Nanos) -> Outcome {
        self.heard = at;
        let mut ended = 0;
        loop {
            let told = match self.client.advance(&mut data) {
                Ok(None) => return Outcome::Ended(ended),
                Ok(Some(told)) => told,
                Err(error) if !self.speaks => {
                    let text = format!("the server does not speak HTTP/2 in clear text ({error})");
                    return Outcome::Broken(Reason::Protocol, text);
                }
                Err(error) => return Outcome::Broken(Reason::Malformed, error.to_string()),
            };
            let over = match told {
                Told::Head { at: place, status, end } => {
                    if !driver.exhibits.accepted {
                        let text = text_of(self.client.fields());
                        self.client.user(place).head_text = text;
                    }
                    let said = driver.content_encoding(self.client.fields());
                    let exchange = self.client.user(place);
                    exchange.first_byte = at;
                    exchange.status = status;
                    driver.begin_body(exchange, said);
                    end.then_some(place)
                }
                Told::Body { at: place, bytes, rest, end } => {
                    let exchange = self.client.user(place);
                    exchange.body.update(bytes, rest);
                    end.then_some(place)
                }
                Told::End { at: place } => Some(place),
                Told::Reset { at: place, code } => {
                    self.fail(driver, place, Reason::Reset, &format!("the server gave the stream up: {code}"));
                    ended += 1;
                    None
                }
                Told::Malformed { at: place, what } => {
                    self.fail(driver, place, Reason::Malformed, what);
                    ended += 1;
                    None
                }
                Told::GoAway { code } => {
                    ended += self.forsaken(driver, code);
                    None
                }
                Told::Settings => {
                    self.speaks = true;
                    None
                }
            };
            if let Some(place) = over {
                let wire_bytes = self.client.wire_bytes(place);
                driver.end_exchange(index, self.client.user(place), wire_bytes, at);
                self.over(place);
                ended += 1;
            }
        }
    }

    #[cold]
    fn fail(&mut self, driver: &mut Driver, at: Place, reason: Reason, text: &str) {
        let entry = self.client.user(at).flight.entry;
        driver.fail_sent(entry, reason, text);
        self.over(at);
    }

    #[cold]
    fn forsaken(&mut self, driver: &mut Driver, code: ErrorCode) -> u32 {
        let mut count = 0;
        while let Some(at) = self.client.forsaken() {
            let text = format!("the server left without looking at the request (GOAWAY, {code})");
            self.fail(driver, at, Reason::Reset, &text);
            count += 1;
        }
        count
    }
}

/// Status and fields as they would stand in HTTP/1.1, for the evidence.
pub(super) fn text_of(fields: &Fields) -> String {
    let lines = fields.iter().map(|(name, value)| [name, b": ", value].concat());
    let mut text: Vec<u8> = lines.collect::<Vec<_>>().join(&b"\r\n"[..]);
    text.extend_from_slice(b"\r\n\r\n");
    String::from_utf8_lossy(&text).into_owned()
}

impl Driver {
    pub(super) fn received_http2<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32, data: &[u8]) {
        let at = net.turn_time();
        let link = &mut self.links[index as usize];
        // The wire reads while the driver counts; nothing is sent on this link meanwhile.
        let Some(mut wire) = link.wire.take() else { return };
        let Wire::Http2(http2) = &mut *wire else { return };
        let outcome = http2.read(self, index, data, at);
        let most = http2.most();
        if http2.speaks {
            self.speaks = true;
        }
        self.links[index as usize].wire = Some(wire);
        match outcome {
            Outcome::Ended(over) => {
                self.set_most(index, most, at);
                self.free_streams(net, index, over, at);
                self.mark(index);
            }
            Outcome::Broken(reason, text) => {
                self.flush_link(net, index);
                self.abandon(net, index, reason, &text);
            }
        }
        if !self.leave_if_used_up(net, routes, index) {
            self.renew(net, routes, index);
        }
    }
}
