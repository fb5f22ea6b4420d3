//! Peers that do what they should not.

use std::net::UdpSocket;

use photofinish_net::quic::{Piece, Stream, StreamKind};
use photofinish_net::{Closed, Conn, Handler, Nanos, Net};

use super::support::{Caller, Echo, Server, peer, run_client, wishes};
use crate::support::on_each_kind;

/// A sequence of bytes that looks like nothing, the same each time.
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
}

#[test]
fn datagrams_of_noise_disturb_nobody() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        for index in 0..2000_u64 {
            let mut datagram: Vec<u8> = noise(index).take(1 + (index as usize * 7) % 1400).collect();
            // Half of them look like the begin of a connection.
            if index % 2 == 0 && datagram.len() > 5 {
                let first = 0xc0 | datagram[0] & 0x0f;
                datagram[..5].copy_from_slice(&[first, 0, 0, 0, 1]);
            }
            socket.send_to(&datagram, server.address).expect("sends");
        }
        let caller = run_client(kind, Caller::new(server.address, 2, 2, 1000));
        assert!(caller.all_done(), "{kind}: {:?}", caller.closed);
        assert_eq!(server.end().accepted, 2);
    });
}

/// Opens a stream, breaks it off, asks the peer to stop on another, and hears of both.
struct Breaker {
    to: std::net::SocketAddr,
    streams: Vec<Stream>,
    resets: Vec<(Stream, u64)>,
    received: usize,
}

impl Handler for Breaker {
    fn started<N: Net>(&mut self, net: &mut N) {
        net.connect_quic(self.to, None, &peer(&wishes())).expect("a slot");
        net.set_timer(Some(net.turn_time() + Nanos::from_millis(20_000)));
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        for _ in 0..2 {
            let stream = net.open_stream(conn, StreamKind::Both).expect("allowed");
            assert_eq!(net.send_on(conn, stream, Piece::Copied(b"half"), false), 4);
            self.streams.push(stream);
        }
    }
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, why: Closed) {
        panic!("the connection goes on: {why:?}");
    }
    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], _end: bool) {
        self.received += data.len();
        if stream == self.streams[0] {
            net.reset_stream(conn, stream, 40);
        } else {
            net.stop_stream(conn, stream, 50);
            assert_eq!(net.send_on(conn, stream, Piece::Copied(b" more"), true), 5);
        }
    }
    fn stream_reset<N: Net>(&mut self, net: &mut N, _conn: Conn, stream: Stream, code: u64) {
        self.resets.push((stream, code));
        // The other one is stopped: what its end did with it is not delivered any more.
        net.stop();
    }
    fn timer<N: Net>(&mut self, net: &mut N) {
        net.stop();
    }
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_stream_that_is_broken_off_or_stopped_is_so_for_both_ends_and_others_go_on() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let breaker = Breaker { to: server.address, streams: Vec::new(), resets: Vec::new(), received: 0 };
        let breaker = run_client(kind, breaker);
        assert_eq!(breaker.resets, [(breaker.streams[0], 41)], "{kind}: the echo answers a reset with the next code");
        assert_eq!(breaker.received, 8, "{kind}");
        assert_eq!(server.end().resets, [40], "{kind}");
    });
}
