//! The events of the loop, handed to the target that they belong to.

use std::io::Write;

use photofinish_net::quic::Stream;
use photofinish_net::{Closed, Conn, Handler, Net};

use super::Tour;

impl<W: Write> Handler for Tour<'_, W> {
    fn started<N: Net>(&mut self, net: &mut N) {
        self.visit_next(net);
        self.set_timer(net);
    }

    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        net.close(conn, false);
    }

    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.connected(net, link);
    }

    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.received(net, &mut self.routes, link, data);
    }

    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.flushed(net, link);
    }

    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.closed(net, &mut self.routes, link, &why);
    }

    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.stream_received(net, &mut self.routes, link, (stream, data, end));
    }

    fn stream_reset<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, code: u64) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.stream_reset(net, &mut self.routes, link, (stream, code));
    }

    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.stream_writable(net, link, stream);
    }

    fn streams_available<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (stop, link) = self.routes.of(conn);
        self.stops[stop].driver.streams_available(net, link);
    }

    fn timer<N: Net>(&mut self, net: &mut N) {
        self.timer = None;
        if let Some(stop) = self.stops.get_mut(self.window.target) {
            stop.driver.pump(net);
        }
    }

    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        self.step(net);
        self.set_timer(net);
    }
}
