//! The events of the loop, handed to the driver that they belong to.

use photofinish_net::quic::Stream;
use photofinish_net::{Closed, Conn, Handler, Nanos, Net};

use super::{Session, Stage, TICK};

impl Handler for Session {
    fn started<N: Net>(&mut self, net: &mut N) {
        let now = Nanos::now();
        self.next_tick = now + TICK;
        self.began = now;
        self.stage = Stage::Connecting { until: now + self.plan.timeout };
        self.connect(net, now);
        self.set_timer(net);
    }

    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        net.close(conn, false);
    }

    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.connected(net, link);
    }

    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.received(net, &mut self.routes, link, data);
    }

    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.flushed(net, link);
    }

    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.closed(net, &mut self.routes, link, &why);
    }

    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.stream_received(net, &mut self.routes, link, (stream, data, end));
    }

    fn stream_reset<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, code: u64) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.stream_reset(net, &mut self.routes, link, (stream, code));
    }

    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.stream_writable(net, link, stream);
    }

    fn streams_available<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (lane, link) = self.routes.of(conn);
        self.lanes[lane].driver.streams_available(net, link);
    }

    fn timer<N: Net>(&mut self, net: &mut N) {
        self.timer = None;
        for lane in &mut self.lanes {
            lane.driver.pump(net);
        }
    }

    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        self.step(net);
        self.set_timer(net);
    }
}
