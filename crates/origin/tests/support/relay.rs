//! Lets clients that know nothing of TLS talk to a server that does: what they say goes on inside TLS.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use photofinish_net::tls::{Alpn, Peer, PeerOptions, Secure, Trust};
use photofinish_net::{Closed, Conn, Handler, Net, Options, StopSignal};

/// Hands on what comes, connection by connection.
struct Relay {
    to: SocketAddr,
    peer: Arc<Peer>,
    partners: HashMap<Conn, Conn>,
}

impl Handler for Relay {
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        let far = net.connect_tls(self.to, None, &self.peer).expect("begins to connect");
        self.partners.insert(conn, far);
        self.partners.insert(far, conn);
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        if let Some(&partner) = self.partners.get(&conn) {
            net.send(partner, data);
        }
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, _why: Closed) {
        if let Some(partner) = self.partners.remove(&conn) {
            self.partners.remove(&partner);
            net.close(partner, true);
        }
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

/// Runs a relay to `to`, which has to agree on `alpn`, while `test` talks to it.
pub fn through_tls<T>(to: SocketAddr, alpn: Alpn, test: impl FnOnce(SocketAddr) -> T) -> T {
    let listener = photofinish_net::listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let address = listener.local_addr().expect("bound");
    let stop = StopSignal::new().expect("an eventfd");
    let options = Options { max_connections: 1000, stop: Some(Arc::clone(&stop)), ..Options::default() };
    let wanted = PeerOptions { trust: Trust::Anybody, protocols: vec![alpn], ..PeerOptions::default() };
    let peer = Arc::new(Peer::new(&wanted).expect("a peer"));
    let relay = std::thread::spawn(move || {
        let mut secure = Secure::new(Relay { to, peer, partners: HashMap::new() });
        photofinish_net::run(&options, vec![listener], &mut secure).expect("the loop runs");
    });
    let outcome = test(address);
    stop.raise();
    relay.join().expect("ends well");
    outcome
}
