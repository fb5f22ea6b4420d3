//! What the loop tells of streams of QUIC.

use photofinish_http::h3::H3Error;
use photofinish_net::quic::Stream;
use photofinish_net::{Conn, Nanos, Net};

use super::http3::Http3;
use super::wire::Wire;
use super::{Driver, Routes};
use crate::Reason;

/// What came of some bytes from the server.
pub(super) enum Outcome {
    /// Streams that are over.
    Ended(u32),
    /// The connection can't go on.
    Broken(H3Error),
}

/// Where something came from, and when.
#[derive(Clone, Copy)]
pub(super) struct From {
    pub index: u32,
    pub conn: Conn,
    pub stream: Stream,
    pub at: Nanos,
}

impl Driver {
    /// [`photofinish_net::Handler::stream_received`] for one of this driver's connections.
    pub fn stream_received<N: Net>(
        &mut self,
        net: &mut N,
        routes: &mut Routes,
        index: u32,
        (stream, data, end): (Stream, &[u8], bool),
    ) {
        let link = &mut self.links[index as usize];
        self.tally.wire_bytes += link.carry(net, data.len());
        self.on_http3(net, routes, (index, stream), |http3, driver, net, from| {
            http3.read(driver, net, from, data, end)
        });
    }

    /// [`photofinish_net::Handler::stream_reset`] for one of this driver's connections.
    pub fn stream_reset<N: Net>(
        &mut self,
        net: &mut N,
        routes: &mut Routes,
        index: u32,
        (stream, code): (Stream, u64),
    ) {
        self.on_http3(net, routes, (index, stream), |http3, driver, net, from| http3.reset(driver, net, from, code));
    }

    /// [`photofinish_net::Handler::stream_writable`] for one of this driver's connections.
    pub fn stream_writable<N: Net>(&mut self, net: &mut N, index: u32, stream: Stream) {
        let link = &mut self.links[index as usize];
        if let (Some(wire), Some(conn)) = (&mut link.wire, link.conn)
            && let Wire::Http3(http3) = &mut **wire
        {
            http3.go_on(net, conn, stream);
        }
    }

    /// [`photofinish_net::Handler::streams_available`] for one of this driver's connections.
    pub fn streams_available<N: Net>(&mut self, net: &mut N, index: u32) {
        let Some(wire) = &mut self.links[index as usize].wire else { return };
        let Wire::Http3(http3) = &mut **wire else { return };
        if !http3.release() {
            return;
        }
        let most = http3.most();
        self.set_most(index, most, net.turn_time());
        self.flush_link(net, index);
        self.pump(net);
    }

    /// Lets the wire of a link deal with something that came on a stream, and draws the conclusions.
    #[inline]
    fn on_http3<N: Net>(
        &mut self,
        net: &mut N,
        routes: &mut Routes,
        (index, stream): (u32, Stream),
        deal: impl FnOnce(&mut Http3, &mut Self, &mut N, From) -> Outcome,
    ) {
        let at = net.turn_time();
        let link = &mut self.links[index as usize];
        let Some(conn) = link.conn else { return };
        if link.security.is_none() {
            // Early data: the connection carried requests before its handshake was complete.
            link.security = net.security(conn).copied();
        }
        // The wire reads while the driver counts; nothing is sent on this link meanwhile.
        let Some(mut wire) = link.wire.take_if(|wire| matches!(**wire, Wire::Http3(_))) else { return };
        let Wire::Http3(http3) = &mut *wire else { return };
        let outcome = deal(http3, self, net, From { index, conn, stream, at });
        let most = http3.most();
        self.links[index as usize].wire = Some(wire);
        match outcome {
            Outcome::Ended(over) => {
                self.set_most(index, most, at);
                if over > 0 {
                    self.free_streams(net, index, over, at);
                }
            }
            Outcome::Broken(error) => {
                net.close_quic(conn, error.code.0, error.what.as_bytes());
                self.abandon(net, index, Reason::Malformed, &error.to_string());
            }
        }
        if !self.leave_if_used_up(net, routes, index) {
            self.renew(net, routes, index);
        }
        self.flush_marked(net);
    }
}
