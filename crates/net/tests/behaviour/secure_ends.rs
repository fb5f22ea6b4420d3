//! How connections with TLS end, and what peers do that know better or nothing of TLS: rustls as itself, and plain sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use photofinish_net::tls::{Alpn, Authority, Failure, Identity, Peer, PeerOptions, Secure, Trust};
use photofinish_net::{Closed, Conn, Handler, Net};
use rustls::{ClientConnection, ServerConnection, StreamOwned};

use crate::secure::{call, failure, failure_in, identity, serve};
use crate::support::{Echo, Kind, on_each_kind, reset, run_client};

fn anybody() -> PeerOptions {
    PeerOptions { trust: Trust::Anybody, ..PeerOptions::default() }
}

fn localhost() -> Arc<Identity> {
    identity(&Authority::for_localhost().expect("made"), &[Alpn::Http1])
}

/// rustls' own client, connected.
fn rustls_client(to: SocketAddr) -> StreamOwned<ClientConnection, TcpStream> {
    let peer = Peer::new(&anybody()).expect("a peer");
    let connection = ClientConnection::new(Arc::clone(peer.config()), peer.name().clone()).expect("begins");
    StreamOwned::new(connection, TcpStream::connect(to).expect("connects"))
}

/// Serves one connection on a thread of its own.
fn once(serve: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || serve(listener.accept().expect("a client").0));
    address
}

/// Reads until the connection ends.
struct Reader {
    to: SocketAddr,
    peer: Arc<Peer>,
    got: Vec<u8>,
    why: Option<Closed>,
}

impl Reader {
    fn read(kind: Kind, to: SocketAddr) -> Self {
        let peer = Arc::new(Peer::new(&anybody()).expect("a peer"));
        let mut secure = Secure::new(Self { to, peer, got: Vec::new(), why: None });
        run_client(kind, &mut secure);
        secure.into_inner()
    }
}

impl Handler for Reader {
    fn started<N: Net>(&mut self, net: &mut N) {
        net.connect_tls(self.to, None, &self.peer).expect("begins to connect");
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, data: &[u8]) {
        self.got.extend_from_slice(data);
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, _conn: Conn, why: Closed) {
        self.why = Some(why);
        net.stop();
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn an_end_that_the_peer_has_announced_is_told_from_one_that_it_has_not() {
    let identity = localhost();
    on_each_kind(|kind| {
        for announced in [true, false] {
            let config = Arc::clone(identity.config());
            let to = once(move |stream| {
                let mut stream = StreamOwned::new(ServerConnection::new(config).expect("begins"), stream);
                stream.write_all(b"all there is").expect("writes");
                if announced {
                    stream.conn.send_close_notify();
                }
                stream.flush().expect("flushes");
                // The client's last words, or closing would be a reset.
                stream.sock.shutdown(std::net::Shutdown::Write).expect("ends");
                let _ = stream.sock.read_to_end(&mut Vec::new());
            });
            let reader = Reader::read(kind, to);
            assert_eq!(reader.got, b"all there is", "{kind}");
            match reader.why {
                Some(Closed::ByPeer) => assert!(announced, "{kind}"),
                Some(Closed::Failed(error)) => {
                    assert!(!announced && failure_in(&error) == Failure::Truncated, "{kind}: {error}");
                }
                None => panic!("{kind}: it ended"),
            }
        }
    });
}

#[test]
fn servers_without_tls_and_ends_in_mid_handshake_are_called_what_they_are() {
    on_each_kind(|kind| {
        let clear = once(|mut stream| {
            let _ = stream.read(&mut [0; 2048]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
            let _ = stream.read_to_end(&mut Vec::new());
        });
        assert_eq!(failure(&call(kind, clear, &anybody(), b"hello", 1).0), Failure::NotTls, "{kind}");
        let leaves = once(|mut stream| drop(stream.read(&mut [0; 2048])));
        assert_eq!(failure(&call(kind, leaves, &anybody(), b"hello", 1).0), Failure::Unfinished, "{kind}");
    });
}

#[test]
fn clients_without_tls_never_reach_the_handler() {
    let identity = localhost();
    on_each_kind(|kind| {
        let server = serve(kind, &identity, Echo::default());
        for nonsense in [&b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"[..], &[22, 3, 1, 255, 255, 1], &[0; 600]] {
            let mut stream = TcpStream::connect(server.address).expect("connects");
            stream.write_all(nonsense).expect("writes");
            stream.shutdown(std::net::Shutdown::Write).expect("ends");
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.len() < 64, "{kind}: at most an alert");
        }
        reset(TcpStream::connect(server.address).expect("connects"));
        // Whoever comes later is served as ever.
        let mut stream = rustls_client(server.address);
        stream.write_all(b"hello").expect("writes");
        let mut back = [0; 5];
        stream.read_exact(&mut back).expect("reads");
        assert_eq!(&back, b"hello", "{kind}");
        drop(stream);
        let echo = server.end().0.into_inner();
        assert_eq!(echo.accepted, 1, "{kind}");
    });
}

/// Sends one long body to whoever comes, and closes.
struct Giver(&'static [u8]);

impl Handler for Giver {
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        net.send(conn, b"head:");
        net.send_static(conn, self.0);
        assert_eq!(net.queued(conn), self.0.len() + 5, "nothing but what was queued here");
        net.close(conn, true);
        assert!(net.security(conn).is_some(), "it goes on leaving");
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {
        panic!("nothing is delivered after close");
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {
        panic!("nothing is delivered after close");
    }
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {
        panic!("nothing is delivered after close");
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn what_is_queued_when_the_handler_closes_still_arrives_whole() {
    let body: &'static [u8] = (0..24_u32 << 20).map(|at| (at % 249) as u8).collect::<Vec<u8>>().leak();
    let identity = localhost();
    on_each_kind(|kind| {
        let server = serve(kind, &identity, Giver(body));
        let mut got = Vec::new();
        rustls_client(server.address).read_to_end(&mut got).expect("to the announced end");
        assert_eq!(got.len(), body.len() + 5, "{kind}");
        assert!(&got[5..] == body, "{kind}");
        server.end();
    });
}

#[test]
fn long_messages_go_there_and_back() {
    const BYTES: usize = 32 << 20;
    let identity = localhost();
    on_each_kind(|kind| {
        let server = serve(kind, &identity, Echo::default());
        let stream = rustls_client(server.address);
        let StreamOwned { mut conn, mut sock } = stream;
        let message: Vec<u8> = (0..BYTES).map(|at| (at % 253) as u8).collect();
        let (mut sent, mut back) = (0, Vec::new());
        while back.len() < BYTES {
            if sent < BYTES {
                sent += conn.writer().write(&message[sent..(sent + 65_536).min(BYTES)]).expect("takes it");
            }
            conn.complete_io(&mut sock).expect("goes on");
            let _ = conn.reader().read_to_end(&mut back);
        }
        assert!(back == message, "{kind}");
        server.end();
    });
}
