//! TLS under both loops and in both roles.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use photofinish_net::tls::{
    Alpn, Authority, Failure, Identity, IdentityOptions, Peer, PeerOptions, Secure, Security, Trust, WireBytes,
};
use photofinish_net::{Closed, Conn, Handler, Net, Stats};

use crate::support::{Echo, Kind, Server, on_each_kind, run_client};

/// A file of its own for `text`, gone when the test is.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn of(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("photofinish-{}-{name}.pem", std::process::id()));
        std::fs::write(&path, text).expect("writes");
        Self(path)
    }

    pub fn path(&self) -> PathBuf {
        self.0.clone()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn identity(authority: &Authority, protocols: &[Alpn]) -> Arc<Identity> {
    let options = IdentityOptions { protocols: protocols.to_vec(), ..IdentityOptions::default() };
    Arc::new(Identity::of(authority, &options).expect("an identity"))
}

/// A server with TLS around `handler`.
pub fn serve<H: Handler + Send + 'static>(kind: Kind, identity: &Arc<Identity>, handler: H) -> Server<Secure<H>> {
    Server::start(kind, Secure::serving(handler, vec![Some(Arc::clone(identity))]))
}

/// What came of one connection.
#[derive(Debug)]
pub struct Ended {
    pub why: Closed,
    pub security: Option<Security>,
    pub wire: Option<WireBytes>,
}

/// Sends a message over one connection after the other, and closes each when as much has come back.
pub struct Caller {
    to: SocketAddr,
    peer: Arc<Peer>,
    message: &'static [u8],
    left: usize,
    got: Vec<u8>,
    pub securities: Vec<Security>,
    pub ended: Vec<Ended>,
}

impl Caller {
    pub fn new(to: SocketAddr, peer: &Arc<Peer>, message: &'static [u8], connections: usize) -> Self {
        let (peer, left) = (Arc::clone(peer), connections);
        Self { to, peer, message, left, got: Vec::new(), securities: Vec::new(), ended: Vec::new() }
    }

    fn next<N: Net>(&mut self, net: &mut N) {
        if self.left == 0 {
            return net.stop();
        }
        self.left -= 1;
        self.got.clear();
        let conn = net.connect_tls(self.to, None, &self.peer).expect("begins to connect");
        assert!(net.security(conn).is_none(), "nothing is negotiated yet");
    }
}

impl Handler for Caller {
    fn started<N: Net>(&mut self, net: &mut N) {
        self.next(net);
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.securities.push(*net.security(conn).expect("negotiated"));
        net.send(conn, &self.message[..1]);
        net.send_static(conn, &self.message[1..]);
    }
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        self.got.extend_from_slice(data);
        if self.got.len() >= self.message.len() {
            assert!(self.got == self.message, "what comes back is what was sent");
            let wire = net.wire(conn).expect("counted");
            assert!(wire.received > self.got.len() as u64 && wire.sent > self.got.len() as u64);
            if self.left > 0 {
                net.close(conn, true);
                self.next(net);
            } else {
                // A loop that stops leaves nobody the time to send; the peer's answer is waited for.
                net.finish(conn);
            }
        }
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        self.ended.push(Ended { why, security: net.security(conn).copied(), wire: net.wire(conn) });
        self.next(net);
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

/// Calls `to` over some connections, one after the other.
pub fn call(
    kind: Kind,
    to: SocketAddr,
    options: &PeerOptions,
    message: &'static [u8],
    connections: usize,
) -> (Caller, Stats) {
    let peer = Arc::new(Peer::new(options).expect("a peer"));
    let mut secure = Secure::new(Caller::new(to, &peer, message, connections));
    let stats = run_client(kind, &mut secure);
    (secure.into_inner(), stats)
}

/// What a call that fails fails with.
pub fn failure(caller: &Caller) -> Failure {
    let [Ended { why: Closed::Failed(error), .. }] = &caller.ended[..] else { panic!("{:?}", caller.ended) };
    failure_in(error)
}

pub fn failure_in(error: &io::Error) -> Failure {
    Failure::of(error).unwrap_or_else(|| panic!("of TLS: {error}")).clone()
}

static MESSAGE: &[u8] = b"what is said here stays here";

#[test]
fn what_is_sent_through_tls_comes_back_the_same() {
    let authority = Authority::for_localhost().expect("made");
    let identity = identity(&authority, &[Alpn::Http1]);
    let ca = Scratch::of("echo", authority.ca_pem());
    on_each_kind(|kind| {
        let server = serve(kind, &identity, Echo::default());
        let options = PeerOptions { trust: Trust::File(ca.path()), ..PeerOptions::default() };
        let (caller, _) = call(kind, server.address, &options, MESSAGE, 3);
        let [Ended { why: Closed::ByPeer, security: Some(_), wire: Some(wire) }] = &caller.ended[..] else {
            panic!("{kind}: {:?}", caller.ended);
        };
        assert!(wire.received > MESSAGE.len() as u64);
        assert_eq!(caller.securities.len(), 3);
        for security in caller.securities {
            assert_eq!((security.tls_version, security.alpn), ("1.3", Some(Alpn::Http1)));
            assert!(security.cipher.starts_with("TLS_AES_"), "{}", security.cipher);
            assert!(!security.resumed && !security.early_data);
        }
        let echo = server.end().0.into_inner();
        assert_eq!(echo.accepted, 3);
        assert!(echo.closed.iter().all(|why| matches!(why, Closed::ByPeer)), "{kind}: {:?}", echo.closed);
    });
}

#[test]
fn an_expired_certificate_is_refused_unless_anybody_is_trusted() {
    let names = ["localhost".to_owned()];
    let authority = Authority::valid(&names, -10, -1).expect("made");
    let identity = identity(&authority, &[Alpn::Http1]);
    let ca = Scratch::of("expired", authority.ca_pem());
    on_each_kind(|kind| {
        let server = serve(kind, &identity, Echo::default());
        let trusting = PeerOptions { trust: Trust::File(ca.path()), ..PeerOptions::default() };
        let expired = failure(&call(kind, server.address, &trusting, MESSAGE, 1).0);
        assert!(matches!(expired, Failure::Dates { early: false, .. }), "{kind}: {expired:?}");
        let anybody = PeerOptions { trust: Trust::Anybody, ..trusting };
        let (caller, _) = call(kind, server.address, &anybody, MESSAGE, 1);
        assert_eq!(caller.securities.len(), 1, "{kind}: {:?}", caller.ended);
        server.end();
    });
}

#[test]
fn sessions_are_gone_on_with_only_if_asked_for() {
    let authority = Authority::for_localhost().expect("made");
    let identity = identity(&authority, &[Alpn::H2, Alpn::Http1]);
    let ca = Scratch::of("resume", authority.ca_pem());
    on_each_kind(|kind| {
        let server = serve(kind, &identity, Echo::default());
        for resume in [false, true] {
            let options = PeerOptions {
                trust: Trust::File(ca.path()),
                protocols: vec![Alpn::H2],
                resume,
                ..PeerOptions::default()
            };
            let (caller, _) = call(kind, server.address, &options, MESSAGE, 4);
            let resumed: Vec<bool> = caller.securities.iter().map(|security| security.resumed).collect();
            assert_eq!(resumed, [false, resume, resume, resume], "{kind}");
            assert!(caller.securities.iter().all(|security| security.alpn == Some(Alpn::H2)));
        }
        server.end();
    });
}

#[test]
fn a_handshake_that_fails_says_why_and_what_to_do() {
    let authority = Authority::for_localhost().expect("made");
    let other = Authority::for_localhost().expect("made");
    let identity = identity(&authority, &[Alpn::Http1]);
    let (ca, wrong) = (Scratch::of("right", authority.ca_pem()), Scratch::of("wrong", other.ca_pem()));
    on_each_kind(|kind| {
        let server = serve(kind, &identity, Echo::default());
        let ask = |options: PeerOptions| failure(&call(kind, server.address, &options, MESSAGE, 1).0);
        let trusting = || PeerOptions { trust: Trust::File(ca.path()), ..PeerOptions::default() };
        let unknown = ask(PeerOptions { trust: Trust::File(wrong.path()), ..trusting() });
        assert!(matches!(unknown, Failure::UnknownIssuer { .. }), "{kind}: {unknown:?}");
        assert!(unknown.to_string().contains("--ca FILE"));
        let name = ask(PeerOptions { name: "elsewhere.test".to_owned(), ..trusting() });
        let said = "the certificate is not for elsewhere.test but for localhost, 127.0.0.1, ";
        assert!(name.to_string().starts_with(said), "{kind}: {name}");
        let protocol = ask(PeerOptions { protocols: vec![Alpn::H2], ..trusting() });
        assert!(protocol.is_protocol() && protocol.to_string().contains("h2"), "{kind}: {protocol:?}");
        let echo = server.end().0.into_inner();
        assert_eq!(echo.accepted, 0, "no handshake was complete");
    });
}
