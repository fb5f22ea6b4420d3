//! Connections that don't come about, and what is said of them.

use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;

use photofinish_net::Closed;
use photofinish_net::tls::{Alpn, Authority, Failure, Identity, IdentityOptions, PeerOptions, Trust};

use super::support::{Caller, Echo, Server, h3, identity, peer, run_client, wishes};
use crate::support::{Kind, on_each_kind};

fn failure(kind: Kind, to: SocketAddr, options: &PeerOptions) -> Failure {
    let mut caller = Caller::new(to, 1, 1, 10);
    caller.peer = peer(options);
    let caller = run_client(kind, caller);
    match &caller.closed[..] {
        [Closed::Failed(error)] => {
            Failure::of(error).unwrap_or_else(|| panic!("{kind}: {error} is none of TLS")).clone()
        }
        other => panic!("{kind}: {other:?}"),
    }
}

/// A PEM file with an authority's certificate, in a folder that is unlike any other.
fn ca_file(authority: &Authority, name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("photofinish-quic-{}-{name}.pem", std::process::id()));
    std::fs::write(&path, authority.ca_pem()).expect("a file");
    path
}

#[test]
fn a_port_that_nobody_listens_on_is_called_so() {
    on_each_kind(|kind| {
        let gone = UdpSocket::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound");
        let failure = failure(kind, gone, &wishes());
        assert!(matches!(&failure, Failure::NoQuic { address, .. } if *address == gone), "{kind}: {failure}");
        assert!(failure.is_protocol());
    });
}

#[test]
fn a_server_that_speaks_other_protocols_is_refused_by_both_ends() {
    on_each_kind(|kind| {
        let other = identity(&IdentityOptions { protocols: vec![Alpn::H2], ..h3() });
        let server = Server::start_as(kind, Echo::default(), &other, "127.0.0.1:0".parse().expect("an address"));
        let failure = failure(kind, server.address, &wishes());
        assert!(matches!(failure, Failure::Protocol { .. }), "{kind}: {failure}");
        let echo = server.end();
        assert!(echo.accepted == 0 && echo.closed.is_empty(), "a handshake that fails is nobody's business above");
    });
}

#[test]
fn certificates_that_are_expired_for_others_or_of_nobody_known_are_refused_and_good_ones_taken() {
    on_each_kind(|kind| {
        let names = ["localhost".to_owned()];
        let good = Authority::make(&names, 2).expect("a certificate");
        let stale = Authority::valid(&names, -3, -1).expect("a certificate");
        let (good_file, stale_file) = (ca_file(&good, "good"), ca_file(&stale, "stale"));
        let trusting = |file: &PathBuf| PeerOptions { trust: Trust::File(file.clone()), ..wishes() };
        let any = "127.0.0.1:0".parse().expect("an address");
        let serve = |authority| {
            let identity = Identity::of(authority, &h3()).expect("an identity");
            Server::start_as(kind, Echo::default(), &identity, any)
        };

        let server = serve(&stale);
        let expired = failure(kind, server.address, &trusting(&stale_file));
        assert!(matches!(expired, Failure::Dates { early: false, .. }), "{kind}: {expired}");
        server.end();

        let server = serve(&good);
        let unknown = failure(kind, server.address, &trusting(&stale_file));
        assert!(matches!(unknown, Failure::UnknownIssuer { .. } | Failure::Certificate { .. }), "{kind}: {unknown}");
        let wrong = PeerOptions { name: "example.org".to_owned(), ..trusting(&good_file) };
        let wrong = failure(kind, server.address, &wrong);
        assert!(matches!(wrong, Failure::WrongName { .. }), "{kind}: {wrong}");
        let mut caller = Caller::new(server.address, 1, 1, 10);
        caller.peer = peer(&trusting(&good_file));
        assert!(run_client(kind, caller).all_done(), "{kind}");
        server.end();
    });
}

#[test]
fn a_server_of_other_versions_is_told_from_one_that_is_not_there() {
    on_each_kind(|kind| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let to = socket.local_addr().expect("bound");
        let answering = std::thread::spawn(move || {
            let mut initial = [0; 2000];
            let (_, from) = socket.recv_from(&mut initial).expect("a first packet");
            // RFC 9000, 17.2.1: the two connection ids change places, and a list of versions follows.
            let to_bytes = initial[5] as usize;
            let from_at = 6 + to_bytes;
            let from_bytes = initial[from_at] as usize;
            let mut answer = vec![0x80, 0, 0, 0, 0, from_bytes as u8];
            answer.extend_from_slice(&initial[from_at + 1..=from_at + from_bytes]);
            answer.push(to_bytes as u8);
            answer.extend_from_slice(&initial[6..6 + to_bytes]);
            answer.extend_from_slice(&0xdead_beef_u32.to_be_bytes());
            socket.send_to(&answer, from).expect("sends");
        });
        let failure = failure(kind, to, &wishes());
        assert_eq!(failure, Failure::QuicVersion, "{kind}");
        answering.join().expect("answers");
    });
}
