//! Both ends of QUIC connections, each in a loop of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use photofinish_net::quic::{Piece, Quic, Settings, Stream, StreamKind};
use photofinish_net::tls::{Alpn, Authority, Identity, IdentityOptions, Peer, PeerOptions, Trust};
use photofinish_net::{Closed, Conn, Handler, Nanos, Net, Options, StopSignal};

use crate::support::Kind;

pub fn identity(options: &IdentityOptions) -> Identity {
    Identity::of(&Authority::for_localhost().expect("a certificate"), options).expect("an identity")
}

pub fn h3() -> IdentityOptions {
    IdentityOptions { protocols: vec![Alpn::H3], ..IdentityOptions::default() }
}

/// A client's wishes that nothing is wrong with.
pub fn wishes() -> PeerOptions {
    PeerOptions { trust: Trust::Anybody, protocols: vec![Alpn::H3], ..PeerOptions::default() }
}

pub fn peer(options: &PeerOptions) -> Arc<Peer> {
    Arc::new(Peer::new(options).expect("a peer"))
}

/// A loop that serves QUIC on a thread of its own.
pub struct Server<H> {
    pub address: SocketAddr,
    stop: Arc<StopSignal>,
    thread: JoinHandle<H>,
}

impl<H: Handler + Send + 'static> Server<H> {
    pub fn start(kind: Kind, handler: H) -> Self {
        Self::start_as(kind, handler, &identity(&h3()), "127.0.0.1:0".parse().expect("an address"))
    }

    pub fn start_as(kind: Kind, handler: H, identity: &Identity, address: SocketAddr) -> Self {
        let socket = photofinish_net::quic::listen(address).expect("a free port");
        let address = socket.local_addr().expect("bound");
        let stop = StopSignal::new().expect("an eventfd");
        let options = Options { stop: Some(Arc::clone(&stop)), ..kind.options() };
        let layer = Quic::new(handler, Settings::beside(&options)).listening(socket, identity, 7);
        let mut layer = layer.expect("an identity for QUIC");
        let thread = std::thread::spawn(move || {
            photofinish_net::run(&options, Vec::new(), &mut layer).expect("the loop runs");
            layer.into_inner()
        });
        Self { address, stop, thread }
    }

    pub fn end(self) -> H {
        self.stop.raise();
        self.thread.join().expect("the loop's thread ends well")
    }
}

pub fn run_client<H: Handler>(kind: Kind, handler: H) -> H {
    let options = kind.options();
    let mut layer = Quic::new(handler, Settings::beside(&options));
    photofinish_net::run(&options, Vec::new(), &mut layer).expect("the loop runs");
    layer.into_inner()
}

/// What a stream still has to send back.
#[derive(Default)]
struct Backlog {
    bytes: Vec<u8>,
    end: bool,
}

/// Sends back on each stream what it gets.
#[derive(Default)]
pub struct Echo {
    pub accepted: usize,
    pub closed: Vec<Closed>,
    pub resets: Vec<u64>,
    pub most_backlog: usize,
    backlogs: BTreeMap<(Conn2, Stream), Backlog>,
}

type Conn2 = (u32, u32);

impl Echo {
    fn pass<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        let key = ((conn.slot, conn.generation), stream);
        let Some(backlog) = self.backlogs.get_mut(&key) else { return };
        let taken = net.send_on(conn, stream, Piece::Copied(&backlog.bytes), backlog.end);
        backlog.bytes.drain(..taken);
        if backlog.bytes.is_empty() {
            self.backlogs.remove(&key);
        }
    }
}

impl Handler for Echo {
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, listener: usize) {
        assert_eq!(listener, 7);
        let security = net.security(conn).expect("a secured connection");
        assert_eq!((security.alpn, security.tls_version), (Some(Alpn::H3), "1.3"));
        self.accepted += 1;
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, conn: Conn, why: Closed) {
        self.backlogs.retain(|&(of, _), _| of != (conn.slot, conn.generation));
        self.closed.push(why);
    }
    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        let backlog = self.backlogs.entry(((conn.slot, conn.generation), stream)).or_default();
        backlog.bytes.extend_from_slice(data);
        backlog.end |= end;
        self.most_backlog = self.most_backlog.max(backlog.bytes.len());
        self.pass(net, conn, stream);
    }
    fn stream_reset<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, code: u64) {
        self.resets.push(code);
        net.reset_stream(conn, stream, code + 1);
    }
    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        self.pass(net, conn, stream);
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

/// Connects, sends one message on each of its streams, and ends when all have come back, or when its patience is over.
pub struct Caller {
    pub to: SocketAddr,
    pub peer: Arc<Peer>,
    pub connections: usize,
    pub streams: usize,
    pub bytes: usize,
    pub patience_ms: u64,
    pub done: usize,
    pub wrong: usize,
    pub closed: Vec<Closed>,
    pub security: Option<photofinish_net::tls::Security>,
    pub wire: photofinish_net::tls::WireBytes,
    opened: BTreeMap<Conn2, usize>,
    under_way: BTreeMap<(Conn2, Stream), (usize, usize)>,
}

fn byte(stream: Stream, at: usize) -> u8 {
    ((at as u64).wrapping_mul(31) ^ stream.0.wrapping_mul(7)) as u8
}

impl Caller {
    pub fn new(to: SocketAddr, connections: usize, streams: usize, bytes: usize) -> Self {
        Self {
            to,
            peer: peer(&wishes()),
            connections,
            streams,
            bytes,
            patience_ms: 30_000,
            done: 0,
            wrong: 0,
            closed: Vec::new(),
            security: None,
            wire: photofinish_net::tls::WireBytes::default(),
            opened: BTreeMap::new(),
            under_way: BTreeMap::new(),
        }
    }

    pub fn all_done(&self) -> bool {
        self.done == self.connections * self.streams && self.wrong == 0
    }

    fn open<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let key = (conn.slot, conn.generation);
        while self.opened.get(&key).is_some_and(|&opened| opened < self.streams) {
            let Some(stream) = net.open_stream(conn, StreamKind::Both) else { return };
            *self.opened.entry(key).or_default() += 1;
            self.under_way.insert((key, stream), (0, 0));
            self.send(net, conn, stream);
        }
    }

    fn send<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        let Some((sent, _)) = self.under_way.get_mut(&((conn.slot, conn.generation), stream)) else { return };
        loop {
            let until = self.bytes.min(*sent + 100_000);
            let message: Vec<u8> = (*sent..until).map(|at| byte(stream, at)).collect();
            let taken = net.send_on(conn, stream, Piece::Copied(&message), until == self.bytes);
            *sent += taken;
            if taken < message.len() || *sent == self.bytes {
                return;
            }
        }
    }
}

impl Handler for Caller {
    fn started<N: Net>(&mut self, net: &mut N) {
        for _ in 0..self.connections {
            let conn = net.connect_quic(self.to, None, &self.peer).expect("a slot");
            self.opened.insert((conn.slot, conn.generation), 0);
        }
        net.set_timer(Some(net.turn_time() + Nanos::from_millis(self.patience_ms)));
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.security = net.security(conn).copied();
        self.open(net, conn);
    }
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, _conn: Conn, why: Closed) {
        self.closed.push(why);
        net.stop();
    }
    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        let key = ((conn.slot, conn.generation), stream);
        let (_, received) = self.under_way.get_mut(&key).expect("one of ours");
        let fits = data.iter().enumerate().all(|(index, &got)| got == byte(stream, *received + index));
        *received += data.len();
        self.wrong += usize::from(!fits);
        if end {
            self.wrong += usize::from(*received != self.bytes);
            self.under_way.remove(&key);
            self.done += 1;
            self.wire = net.wire(conn).expect("a secured connection");
            // With early data the handshake ends after the first bytes have left.
            self.security = net.security(conn).copied();
            if self.done == self.connections * self.streams {
                net.close(conn, true);
                net.stop();
            }
        }
    }
    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        self.send(net, conn, stream);
    }
    fn streams_available<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.open(net, conn);
    }
    fn timer<N: Net>(&mut self, net: &mut N) {
        net.stop();
    }
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}
