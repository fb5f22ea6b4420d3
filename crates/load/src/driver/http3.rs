//! HTTP/3 on one connection.

use std::collections::VecDeque;

use photofinish_http::h3::{Control, ErrorCode, Event, H3Error, Message, Notice, Role, Scope};
use photofinish_net::quic::{Piece, Stream, StreamKind};
use photofinish_net::{Conn, Nanos, Net};

use super::Driver;
use super::http2::text_of;
use super::link::Flight;
use super::outcome::Finding;
use super::stream_events::{From, Outcome};
use super::streams::Exchange;
use super::wire::Requests;
use crate::Reason;
use crate::mix::Outgoing;

/// The largest head of a response, counted as RFC 9114, 4.2.2 does.
pub(super) const MOST_LIST_BYTES: usize = 64 * 1024;
/// In place of a request where a stream is over.
const NOBODY: u32 = u32::MAX;

/// A request under way: what is to be sent of it, and what came of it.
struct Ask {
    /// None while the server allows no further stream.
    stream: Option<Stream>,
    exchange: Exchange,
    message: Message,
    /// What goes first, and what follows; together they are the request.
    own: Vec<u8>,
    fixed: &'static [u8],
    /// Bytes of both that QUIC has taken.
    sent: usize,
    /// Bytes of the response so far.
    wire_bytes: u64,
}

#[expect(clippy::struct_excessive_bools, reason = "independent facts about one connection")]
pub(super) struct Http3 {
    control: Control,
    is_greeted: bool,
    /// Requests by place; those in `free` are none.
    asks: Vec<Ask>,
    free: Vec<u32>,
    /// Places by stream, the first of which has the number `first`, counting requests only.
    open: VecDeque<u32>,
    first: u64,
    /// Requests that wait for a stream.
    unsent: VecDeque<u32>,
    /// Streams that are to be broken off.
    cancelled: Vec<Stream>,
    depth: u32,
    /// The server allows no further stream at present.
    is_held: bool,
    /// The server has said that it is about to leave.
    leaves: bool,
    /// No request under way left before this.
    eldest: Nanos,
    /// When anything came last.
    heard: Nanos,
    /// Waits for [`Driver::flush`].
    pub is_marked: bool,
}

impl Http3 {
    pub fn new(depth: u32, now: Nanos) -> Self {
        Self {
            control: Control::new(Role::Client),
            is_greeted: false,
            asks: Vec::new(),
            free: Vec::new(),
            open: VecDeque::new(),
            first: 0,
            unsent: VecDeque::new(),
            cancelled: Vec::new(),
            depth,
            is_held: false,
            leaves: false,
            eldest: now,
            heard: now,
            is_marked: false,
        }
    }

    fn under_way(&self) -> usize {
        self.asks.len() - self.free.len()
    }

    /// Requests that may be under way at once.
    pub fn most(&self) -> u32 {
        match (self.leaves, self.is_held) {
            (true, _) => 0,
            (false, true) => self.under_way() as u32,
            (false, false) => self.depth,
        }
    }

    #[inline]
    pub fn send(&mut self, requests: &mut Requests, outgoing: &Outgoing<'_>, flight: Flight) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.asks.push(Ask {
                stream: None,
                exchange: Exchange::default(),
                message: Message::response(false),
                own: Vec::new(),
                fixed: &[],
                sent: 0,
                wire_bytes: 0,
            });
            self.asks.len() as u32 - 1
        });
        let ask = &mut self.asks[place as usize];
        ask.exchange.begin(flight);
        ask.message.reset(outgoing.is_head);
        (ask.stream, ask.sent, ask.wire_bytes) = (None, 0, 0);
        ask.own.clear();
        ask.fixed = requests.write_http3(outgoing, &mut ask.own);
        self.unsent.push_back(place);
        (ask.own.len() + ask.fixed.len()) as u64
    }

    #[inline]
    pub fn flush<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.is_marked = false;
        if !self.is_greeted {
            self.greet(net, conn);
        }
        for stream in self.cancelled.drain(..) {
            net.stop_stream(conn, stream, ErrorCode::REQUEST_CANCELLED.0);
            net.reset_stream(conn, stream, ErrorCode::REQUEST_CANCELLED.0);
        }
        while let Some(&place) = self.unsent.front() {
            let Some(stream) = net.open_stream(conn, StreamKind::Both) else {
                self.is_held = true;
                return;
            };
            self.unsent.pop_front();
            debug_assert_eq!(stream.0 / 4, self.first + self.open.len() as u64, "streams have numbers in order");
            self.open.push_back(place);
            let ask = &mut self.asks[place as usize];
            ask.stream = Some(stream);
            ask.go_on(net, conn);
        }
    }

    /// What each end begins with: its control stream.
    #[cold]
    fn greet<N: Net>(&mut self, net: &mut N, conn: Conn) {
        // Without a stream now there is one later: the server allows more before long.
        let Some(stream) = net.open_stream(conn, StreamKind::Sending) else { return };
        let mut greeting = Vec::new();
        Control::write_greeting(&mut greeting, MOST_LIST_BYTES as u64);
        net.send_on(conn, stream, Piece::Copied(&greeting), false);
        self.is_greeted = true;
    }

    /// The request on `stream`.
    #[inline]
    fn place_of(&self, stream: Stream) -> Option<u32> {
        let at = (stream.0 / 4).checked_sub(self.first)?;
        self.open.get(at as usize).copied().filter(|&place| place != NOBODY)
    }

    /// Ends what is under way at `place`.
    #[inline]
    fn vacate(&mut self, place: u32) {
        self.free.push(place);
        let Some(stream) = self.asks[place as usize].stream else { return };
        self.open[(stream.0 / 4 - self.first) as usize] = NOBODY;
        while self.open.front() == Some(&NOBODY) {
            self.open.pop_front();
            self.first += 1;
        }
    }

    fn places(&self) -> Vec<u32> {
        let open = self.open.iter().copied().filter(|&place| place != NOBODY);
        open.chain(self.unsent.iter().copied()).collect()
    }

    pub fn flights(&mut self) -> Vec<Flight> {
        self.places().into_iter().map(|place| self.asks[place as usize].exchange.flight).collect()
    }

    pub fn expire(&mut self, before: Nanos) -> Option<Vec<Flight>> {
        if self.eldest >= before {
            return Some(Vec::new());
        }
        let began = |place: &u32| self.asks[*place as usize].exchange.flight.began;
        let (late, others): (Vec<u32>, Vec<u32>) = self.places().into_iter().partition(|place| began(place) < before);
        // What leaves later is later still.
        self.eldest = others.iter().map(began).min().unwrap_or(before);
        if late.iter().any(|place| began(place) >= self.heard) {
            return None;
        }
        let mut flights = Vec::with_capacity(late.len());
        for place in late {
            let ask = &self.asks[place as usize];
            flights.push(ask.exchange.flight);
            match ask.stream {
                Some(stream) => self.cancelled.push(stream),
                None => self.unsent.retain(|&waiting| waiting != place),
            }
            self.vacate(place);
        }
        Some(flights)
    }

    /// The server takes more of the request on `stream`.
    pub fn go_on<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        if let Some(place) = self.place_of(stream) {
            self.asks[place as usize].go_on(net, conn);
        }
    }

    /// The server allows more streams. Whether that was waited for.
    pub fn release(&mut self) -> bool {
        std::mem::take(&mut self.is_held)
    }

    /// Reads what came on one stream; what it means goes to the driver's counts.
    #[inline]
    pub fn read<N: Net>(&mut self, driver: &mut Driver, net: &mut N, from: From, data: &[u8], end: bool) -> Outcome {
        let From { index, conn, stream, at } = from;
        self.heard = at;
        if stream.kind() == StreamKind::Sending {
            return self.read_control(driver, net, from, data, end);
        }
        let Some(place) = self.place_of(stream) else { return Outcome::Ended(0) };
        let ask = &mut self.asks[place as usize];
        let entry = ask.exchange.flight.entry as usize;
        let whole = ask.wire_bytes == 0 && end;
        ask.wire_bytes += data.len() as u64;
        if whole && let Some(finding) = driver.known[entry].find(data) {
            driver.links[index as usize].accepted += 1;
            driver.count_accepted(ask.exchange.flight, finding.body_bytes, at, at);
        } else {
            match ask.read(driver, data, end, at) {
                Ok(false) => return Outcome::Ended(0),
                Ok(true) => {
                    let accepted = driver.links[index as usize].accepted;
                    driver.end_exchange(index, &mut ask.exchange, ask.wire_bytes, at);
                    if whole && driver.links[index as usize].accepted > accepted {
                        let body_bytes = ask.exchange.body.bytes();
                        driver.known[entry].keep(data, Finding { body_bytes, reusable: true });
                    }
                }
                Err(error) if error.scope == Scope::Connection => return Outcome::Broken(error),
                Err(error) => {
                    driver.fail_sent(entry as u32, Reason::Malformed, error.what);
                    net.stop_stream(conn, stream, error.code.0);
                    net.reset_stream(conn, stream, error.code.0);
                }
            }
        }
        let ask = &self.asks[place as usize];
        if ask.sent < ask.own.len() + ask.fixed.len() {
            net.reset_stream(conn, stream, ErrorCode::REQUEST_CANCELLED.0);
        }
        self.vacate(place);
        Outcome::Ended(1)
    }

    fn read_control<N: Net>(
        &mut self,
        driver: &mut Driver,
        net: &mut N,
        from: From,
        data: &[u8],
        end: bool,
    ) -> Outcome {
        match self.control.received(from.stream.0, data, end) {
            Ok(Notice::Nothing) => Outcome::Ended(0),
            Ok(Notice::Unwanted) => {
                net.stop_stream(from.conn, from.stream, ErrorCode::STREAM_CREATION_ERROR.0);
                Outcome::Ended(0)
            }
            Ok(Notice::GoAway(first)) => Outcome::Ended(self.forsaken(driver, first)),
            Err(error) => Outcome::Broken(error),
        }
    }

    /// The server leaves: requests from stream `first` on are not looked at.
    #[cold]
    fn forsaken(&mut self, driver: &mut Driver, first: u64) -> u32 {
        self.leaves = true;
        let mut count = 0;
        for place in self.places() {
            let ask = &self.asks[place as usize];
            if ask.stream.is_none_or(|stream| stream.0 >= first) {
                let text = "the server left without looking at the request (GOAWAY)";
                driver.fail_sent(ask.exchange.flight.entry, Reason::Reset, text);
                self.vacate(place);
                count += 1;
            }
        }
        self.unsent.clear();
        count
    }

    /// The server breaks off what it was sending on `stream`.
    pub fn reset<N: Net>(&mut self, driver: &mut Driver, net: &mut N, from: From, code: u64) -> Outcome {
        let From { conn, stream, .. } = from;
        if stream.kind() == StreamKind::Sending {
            return match self.control.stream_reset(stream.0) {
                Ok(()) => Outcome::Ended(0),
                Err(error) => Outcome::Broken(error),
            };
        }
        let Some(place) = self.place_of(stream) else { return Outcome::Ended(0) };
        let text = format!("the server gave the stream up: {}", ErrorCode(code));
        driver.fail_sent(self.asks[place as usize].exchange.flight.entry, Reason::Reset, &text);
        net.reset_stream(conn, stream, ErrorCode::REQUEST_CANCELLED.0);
        self.vacate(place);
        Outcome::Ended(1)
    }
}

impl Ask {
    /// Hands on what QUIC takes of the request.
    #[inline]
    fn go_on<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let Some(stream) = self.stream else { return };
        if self.sent < self.own.len() {
            let rest = &self.own[self.sent..];
            let taken = net.send_on(conn, stream, Piece::Copied(rest), self.fixed.is_empty());
            self.sent += taken;
        }
        if self.sent >= self.own.len() && !self.fixed.is_empty() {
            let rest = &self.fixed[self.sent - self.own.len()..];
            self.sent += net.send_on(conn, stream, Piece::Static(rest), true);
        }
    }

    /// Reads all of `data`. Whether the response is complete.
    fn read(&mut self, driver: &mut Driver, mut data: &[u8], end: bool, at: Nanos) -> Result<bool, H3Error> {
        loop {
            match self.message.advance(&mut data, end, &mut driver.requests.sections)? {
                None => return Ok(false),
                Some(Event::Head) => {
                    let sections = &driver.requests.sections;
                    if sections.fields().too_large() {
                        let what = "a response's head is too large";
                        return Err(H3Error { scope: Scope::Stream, code: ErrorCode::EXCESSIVE_LOAD, what });
                    }
                    self.exchange.first_byte = at;
                    self.exchange.status = sections.status();
                    if !driver.exhibits.accepted {
                        self.exchange.head_text = text_of(sections.fields());
                    }
                    let said = driver.content_encoding(sections.fields());
                    driver.begin_body(&mut self.exchange, said);
                }
                Some(Event::Data(bytes)) => self.exchange.body.update(bytes, None),
                Some(Event::End) => return Ok(true),
            }
        }
    }
}
