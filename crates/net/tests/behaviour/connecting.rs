//! Connections that the loop begins.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};

use photofinish_net::{Closed, Conn, Handler, Net, Options};

use crate::support::{Echo, Server, listen, on_each_kind, run_client};

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
            let conn = net.connect(to, None).expect("a slot");
            net.send(conn, b"queued before the handshake");
            self.sent.push(conn);
        }
        assert!(self.connected + self.refused == 0, "nothing is delivered from inside connect");
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
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
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        self.refused += 1;
        self.done(net);
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_connection_begun_carries_what_was_queued_before() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let mut caller = Caller { to: vec![server.address; 50], ..Caller::default() };
        run_client(kind, &mut caller);
        assert_eq!((caller.connected, caller.echoed, caller.refused), (50, 50, 0), "{kind}");
        server.end();
    });
}

#[test]
fn a_refused_connection_is_reported_as_closed() {
    on_each_kind(|kind| {
        let nobody = listen().local_addr().expect("bound, and dropped again");
        let mut caller = Caller { to: vec![nobody; 3], ..Caller::default() };
        run_client(kind, &mut caller);
        assert_eq!((caller.connected, caller.refused), (0, 3), "{kind}");
    });
}

/// Begins a connection whenever one has ended, from inside the callback, until enough have been echoed.
struct Renewing {
    to: SocketAddr,
    echoed: usize,
}

impl Renewing {
    const ENOUGH: usize = 300;

    fn call<N: Net>(&self, net: &mut N) {
        // A slot is free again only when its operations have ended: later, in some turn.
        while let Ok(conn) = net.connect(self.to, None) {
            net.send(conn, &self.echoed.to_ne_bytes());
        }
    }
}

impl Handler for Renewing {
    fn started<N: Net>(&mut self, net: &mut N) {
        self.call(net);
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        assert_eq!(data.len(), 8, "one message a connection");
        self.echoed += 1;
        net.close(conn, self.echoed.is_multiple_of(2));
        if self.echoed == Self::ENOUGH {
            net.stop();
        }
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, why: Closed) {
        panic!("closed by another: {why:?}");
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        self.call(net);
    }
}

#[test]
fn connections_that_follow_one_another_in_few_slots_never_meet() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let mut renewing = Renewing { to: server.address, echoed: 0 };
        let options = Options { max_connections: 3, ..kind.options() };
        let stats = photofinish_net::run(&options, Vec::new(), &mut renewing).expect("the loop runs");
        assert!(renewing.echoed >= Renewing::ENOUGH, "{kind}");
        assert_eq!(stats.direct_files, kind.direct_files);
        server.end();
    });
}

/// Has as many connections as it may, and replaces each at once when it has been answered.
struct Churning {
    to: SocketAddr,
    echoed: usize,
}

impl Handler for Churning {
    fn started<N: Net>(&mut self, net: &mut N) {
        for _ in 0..20 {
            let conn = net.connect(self.to, None).expect("a slot");
            net.send(conn, b"x");
        }
        assert!(net.connect(self.to, None).is_err(), "twenty are the most");
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, _data: &[u8]) {
        net.close(conn, false);
        let successor = net.connect(self.to, None).expect("the place of the one that was left");
        net.send(successor, b"x");
        self.echoed += 1;
        if self.echoed == 400 {
            net.stop();
        }
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, why: Closed) {
        panic!("closed by another: {why:?}");
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_connection_that_was_left_makes_room_at_once() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let mut churning = Churning { to: server.address, echoed: 0 };
        let options = Options { max_connections: 20, ..kind.options() };
        photofinish_net::run(&options, Vec::new(), &mut churning).expect("the loop runs");
        assert!(churning.echoed >= 400, "{kind}");
        server.end();
    });
}

#[test]
fn a_loop_that_listens_may_begin_connections_too() {
    struct Both {
        to: SocketAddr,
        received: usize,
    }
    impl Handler for Both {
        fn started<N: Net>(&mut self, net: &mut N) {
            let conn = net.connect(self.to, None).expect("a slot");
            net.send(conn, b"to myself");
        }
        fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
        fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
            assert_eq!(data, b"to myself");
            self.received += 1;
            match self.received {
                1 => net.send(conn, data),
                _ => net.stop(),
            }
        }
        fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
        fn timer<N: Net>(&mut self, _net: &mut N) {}
        fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
    }
    on_each_kind(|kind| {
        let listener = listen();
        let mut both = Both { to: listener.local_addr().expect("bound"), received: 0 };
        photofinish_net::run(&kind.options(), vec![listener], &mut both).expect("the loop runs");
        assert_eq!(both.received, 2, "{kind}");
    });
}

/// Connects once from each of its addresses and stops when all have been taken by the listener beside it.
struct Callers {
    to: SocketAddr,
    from: Vec<IpAddr>,
    streams: usize,
}

impl Handler for Callers {
    fn started<N: Net>(&mut self, net: &mut N) {
        for &from in &self.from {
            net.connect(self.to, Some(from)).expect("an address of this machine");
        }
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, net: &mut N, _conn: Conn) {
        self.streams += 1;
        if self.streams == self.from.len() {
            net.stop();
        }
    }
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, why: Closed) {
        panic!("{why:?}");
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_connection_comes_from_the_address_that_was_asked_for() {
    on_each_kind(|kind| {
        let listener = listen();
        let to = listener.local_addr().expect("bound");
        let from: Vec<IpAddr> = [[127, 0, 0, 2], [127, 0, 0, 3], [127, 0, 0, 2]].map(IpAddr::from).to_vec();
        let mut callers = Callers { to, from: from.clone(), streams: 0 };
        run_client(kind, &mut callers);
        let peers = || listener.accept().expect("a connection").1;
        let mut peers: Vec<SocketAddr> = (0..from.len()).map(|_| peers()).collect();
        peers.sort();
        let addresses: Vec<IpAddr> = peers.iter().map(SocketAddr::ip).collect();
        assert_eq!(addresses, [from[0], from[0], from[1]], "{kind}");
        assert_ne!(peers[0].port(), peers[1].port(), "{kind}");
    });
}

#[test]
fn a_source_that_is_not_this_machines_is_refused_at_once_and_by_name() {
    struct Stranger {
        to: SocketAddr,
        from: IpAddr,
        refusal: Option<std::io::Error>,
    }
    impl Handler for Stranger {
        fn started<N: Net>(&mut self, net: &mut N) {
            self.refusal = net.connect(self.to, Some(self.from)).err();
            net.stop();
        }
        fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
        fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
        fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
        fn timer<N: Net>(&mut self, _net: &mut N) {}
        fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
    }
    on_each_kind(|kind| {
        let listener = listen();
        let to = listener.local_addr().expect("bound");
        // Of the block kept for documentation (RFC 5737), and of another family.
        for (from, expected) in [("192.0.2.1", ErrorKind::AddrNotAvailable), ("::1", ErrorKind::InvalidInput)] {
            let from: IpAddr = from.parse().expect("an address");
            let mut stranger = Stranger { to, from, refusal: None };
            run_client(kind, &mut stranger);
            let refusal = stranger.refusal.expect("refused");
            assert_eq!(refusal.kind(), expected, "{kind}");
            assert!(refusal.to_string().contains(&from.to_string()), "{refusal}");
        }
    });
}
