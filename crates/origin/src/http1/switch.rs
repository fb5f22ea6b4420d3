//! From HTTP/1 to HTTP/2: by the first bytes of a connection, or because a request asks for it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use photofinish_http::h2::frame::PREFACE;
use photofinish_http::request::Request;
use photofinish_net::tls::Alpn;
use photofinish_net::{Conn, Net};

use super::{Http1, State, leave};
use crate::exchange::Ask;
use crate::http2::{self, Http2};
use crate::origin::Shared;
use crate::response::SWITCHING;
use crate::turn::{Turn, ask_of};

/// How much of the preface of HTTP/2 tells it from any request of HTTP/1: its first line.
const TELLING_BYTES: usize = 16;

impl Http1 {
    /// Takes up the protocol that was agreed on in the handshake: nothing is left to be found out.
    #[cold]
    pub fn agreed<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, alpn: Alpn) {
        if alpn == Alpn::H2 {
            let mut http2 = Box::new(Http2::new(conn));
            // The settings leave at once.
            let fate = http2.begin_at_once(net, shared);
            self.state = State::Http2(http2);
            self.follow(net, conn, shared, fate);
        } else {
            self.state = State::Open;
        }
    }

    /// Finds out which protocol the connection speaks.
    #[cold]
    pub(super) fn begin<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, data: &[u8]) {
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
    pub(super) fn follow<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared, fate: http2::Fate) {
        match fate {
            http2::Fate::Stays => {}
            http2::Fate::Leaves => leave(net, conn, shared, &mut self.state),
            http2::Fate::Ends => self.end(net, conn, shared),
        }
    }

    /// Hands what is behind the last request of HTTP/1 to its successor.
    #[cold]
    pub(super) fn go_over<N: Net>(&mut self, net: &mut N, conn: Conn, shared: &mut Shared) {
        let data = std::mem::take(&mut self.held);
        if let State::Http2(http2) = &mut self.state {
            let fate = http2.received(net, shared, &data);
            self.follow(net, conn, shared, fate);
        }
    }
}

impl<N: Net> Turn<'_, N> {
    /// Goes over to HTTP/2, as `request` asks for, if it has no body; its answer leaves on stream 1. Settings that are none
    /// leave it at HTTP/1 (RFC 7540, 3.2.1: that the server must not upgrade).
    #[cold]
    pub(crate) fn switch(&mut self, request: &Request<'_>, settings: &[u8]) -> bool {
        if request.has_body() || request.expects {
            return false;
        }
        let Ok(settings) = URL_SAFE_NO_PAD.decode(settings) else { return false };
        let Ok(mut http2) = Http2::upgraded(self.conn, &settings) else { return false };
        self.net.send(self.conn, SWITCHING);
        let fate = http2.first(self.net, self.shared, &Ask { protocol: http2::PROTOCOL, ..ask_of(request) });
        if fate == http2::Fate::Stays {
            *self.state = State::Http2(Box::new(http2));
        } else {
            *self.state = State::Stalled;
            self.shared.close(self.net, self.conn, false);
        }
        true
    }
}
