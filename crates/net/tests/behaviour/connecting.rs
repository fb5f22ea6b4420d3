//! Connections that the loop begins.

use std::net::SocketAddr;

use photofinish_net::{Closed, Conn, Handler, Net};

use crate::support::{Echo, Server, listen, on_each_backend, run_client};

/// Begins connections one after another and notes what becomes of each.
#[derive(Default)]
struct Caller {
    to: Vec<SocketAddr>,
    sent: Vec<Conn>,
    connected: usize,
    echoed: usize,
    refused: usize,
}

impl Caller {
    fn done<N: Net>(&self, net: &mut N) {
        if self.echoed + self.refused == self.to.len() {
            net.stop();
        }
    }
}

impl Handler for Caller {
    fn started<N: Net>(&mut self, net: &mut N) {
        for &to in &self.to {
            let conn = net.connect(to).expect("a slot");
            net.send(conn, b"queued before the handshake");
            self.sent.push(conn);
        }
        assert!(self.connected + self.refused == 0, "nothing is delivered from inside connect");
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {
        self.connected += 1;
    }
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        assert_eq!(data, b"queued before the handshake");
        self.echoed += 1;
        net.close(conn, false);
        self.done(net);
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        assert!(self.sent.contains(&conn));
        let Closed::Failed(error) = why else { panic!("{why:?}") };
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        self.refused += 1;
        self.done(net);
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_connection_begun_carries_what_was_queued_before() {
    on_each_backend(|backend| {
        let server = Server::start(backend, Echo::default());
        let mut caller = Caller { to: vec![server.address; 50], ..Caller::default() };
        run_client(backend, &mut caller);
        assert_eq!((caller.connected, caller.echoed, caller.refused), (50, 50, 0), "{backend}");
        server.end();
    });
}

#[test]
fn a_refused_connection_is_reported_as_closed() {
    on_each_backend(|backend| {
        let nobody = listen().local_addr().expect("bound, and dropped again");
        let mut caller = Caller { to: vec![nobody; 3], ..Caller::default() };
        run_client(backend, &mut caller);
        assert_eq!((caller.connected, caller.refused), (0, 3), "{backend}");
    });
}
