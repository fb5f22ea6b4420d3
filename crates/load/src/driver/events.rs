//! What the loop tells: bytes, and ends of connections.

use photofinish_http::response::{AtClose, Event, Malformed};
use photofinish_net::tls::Failure;
use photofinish_net::{Closed, Net};

use super::link::State;
use super::outcome::Finding;
use super::{Driver, Routes};
use crate::{Protocol, Reason};

impl Driver {
    /// [`photofinish_net::Handler::received`] for one of this driver's connections.
    pub fn received<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32, data: &[u8]) {
        if self.protocol == Protocol::Http1 {
            self.tally.wire_bytes += data.len() as u64;
            self.received_http1(net, routes, index, data);
        } else {
            self.received_otherwise(net, routes, index, data);
        }
    }

    /// Out of the way of the protocol that costs least.
    #[inline(never)]
    fn received_otherwise<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32, data: &[u8]) {
        self.tally.wire_bytes += if self.protocol.is_secure() {
            self.links[index as usize].carry(net, data.len())
        } else {
            data.len() as u64
        };
        if self.protocol.has_streams() {
            self.received_http2(net, routes, index, data);
            self.flush_marked(net);
        } else {
            self.received_http1(net, routes, index, data);
        }
    }

    #[inline]
    fn received_http1<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32, mut data: &[u8]) {
        if self.links[index as usize].state != State::Busy {
            self.leave(net, index);
            self.exhibits.failure.get_or_insert_with(|| Malformed::Unasked.to_string());
            return;
        }
        let (whole, link) = (data, &self.links[index as usize]);
        let (entry, mut alone) = (link.current.entry, link.parser.at_start());
        if alone && let Some(finding) = self.known[entry as usize].find(data) {
            self.repeated(net, index, finding);
            return self.renew(net, routes, index);
        }
        loop {
            let link = &mut self.links[index as usize];
            if link.first_byte.0 == 0 {
                link.first_byte = net.turn_time();
            }
            let before = data.len();
            let event = link.parser.advance(&mut self.cache, &mut data);
            link.wire_bytes += (before - data.len()) as u64;
            match event {
                Ok(None) => return,
                Ok(Some(Event::Head(head, bytes))) => {
                    link.status = head.status;
                    link.body.begin(head.content_encoding, self.decoding.as_deref(), link.current.entry);
                    if !self.exhibits.accepted {
                        link.head_text = String::from_utf8_lossy(bytes).into_owned();
                    }
                    continue;
                }
                Ok(Some(Event::Body(bytes, rest))) => {
                    link.body.update(bytes, rest);
                    continue;
                }
                Ok(Some(Event::End(reusable))) => {
                    if data.is_empty() {
                        let body_bytes = link.body.bytes();
                        if self.complete(net, index, reusable) && alone {
                            self.known[entry as usize].keep(whole, Finding { body_bytes, reusable });
                        }
                    } else if reusable && !link.behind.is_empty() {
                        self.complete(net, index, reusable);
                        alone = false;
                        continue;
                    } else {
                        self.abandon(net, index, Reason::Malformed, &Malformed::Unasked.to_string());
                    }
                }
                Err(error) => self.abandon(net, index, Reason::Malformed, &error.to_string()),
            }
            self.renew(net, routes, index);
            return;
        }
    }

    /// [`photofinish_net::Handler::closed`] for one of this driver's connections.
    pub fn closed<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32, why: &Closed) {
        let link = &mut self.links[index as usize];
        link.conn = None;
        self.established -= u32::from(matches!(link.state, State::Idle | State::Busy));
        match link.state {
            State::Missing => {}
            State::Connecting => {
                self.connecting -= 1;
                link.state = State::Missing;
                let (reason, text) = describe(why);
                self.connect_failed(reason, &format!("connection to {} failed: {text}", self.address));
                return;
            }
            State::Idle => self.leave(net, index),
            State::Busy if link.wire.is_some() => self.closed_with_streams(net, index, why),
            State::Busy => match (why, link.parser.close()) {
                (Closed::ByPeer, AtClose::Complete) => {
                    self.complete(net, index, false);
                }
                (Closed::ByPeer, AtClose::BeforeResponse) => {
                    self.abandon(
                        net,
                        index,
                        Reason::ClosedEarly,
                        "the server closed the connection without a response",
                    );
                }
                (Closed::ByPeer, AtClose::Early) => {
                    self.abandon(net, index, Reason::ClosedEarly, "the server closed the connection within a response");
                }
                (Closed::Failed(error), _) => {
                    self.abandon(net, index, Reason::Reset, &format!("the connection broke: {error}"));
                }
            },
        }
        self.renew(net, routes, index);
    }

    /// [`photofinish_net::Handler::flushed`] for one of this driver's connections: bodies of requests may go on.
    pub fn flushed<N: Net>(&mut self, net: &mut N, index: u32) {
        self.flush_link(net, index);
    }

    fn closed_with_streams<N: Net>(&mut self, net: &mut N, index: u32, why: &Closed) {
        let (reason, text) = match why {
            _ if !self.speaks && self.protocol == Protocol::Http2 => {
                (Reason::Protocol, "the server does not speak HTTP/2 in clear text: it ended the connection".to_owned())
            }
            Closed::ByPeer => {
                (Reason::ClosedEarly, "the server closed the connection before it had answered all".to_owned())
            }
            Closed::Failed(error) => (Reason::Reset, format!("the connection broke: {error}")),
        };
        self.abandon(net, index, reason, &text);
    }
}

fn describe(why: &Closed) -> (Reason, String) {
    match why {
        Closed::ByPeer => (Reason::Connect, "closed by the server".to_owned()),
        Closed::Failed(error) => match Failure::of(error) {
            Some(failure) if failure.is_protocol() => (Reason::Protocol, failure.to_string()),
            Some(failure) => (Reason::Tls, failure.to_string()),
            None => (Reason::Connect, error.to_string()),
        },
    }
}
