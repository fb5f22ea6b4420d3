//! Much of everything: bytes, connections, loss.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use photofinish_net::quic::{Piece, Stream, StreamKind};
use photofinish_net::{Backend, Closed, Conn, Handler, Nanos, Net};

use super::support::{Caller, Echo, Server, peer, run_client, wishes};
use crate::support::{Kind, on_each_kind};

const BULK: usize = 32 << 20;
/// [`photofinish_net::quic::Settings::send_window`].
const SEND_WINDOW: usize = 8 << 20;

/// Counts what it gets, and says so at the end.
#[derive(Default)]
struct Sink(usize);

impl Handler for Sink {
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
    fn stream_received<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, data: &[u8], end: bool) {
        self.0 += data.len();
        if end {
            net.send_on(conn, stream, Piece::Copied(&self.0.to_le_bytes()), true);
        }
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

struct Pourer {
    to: SocketAddr,
    body: &'static [u8],
    sent: usize,
    most_at_once: usize,
    told: Vec<u8>,
}

impl Pourer {
    fn pour<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        let taken = net.send_on(conn, stream, Piece::Static(&self.body[self.sent..]), true);
        self.most_at_once = self.most_at_once.max(taken);
        self.sent += taken;
    }
}

impl Handler for Pourer {
    fn started<N: Net>(&mut self, net: &mut N) {
        net.connect_quic(self.to, None, &peer(&wishes())).expect("a slot");
        net.set_timer(Some(net.turn_time() + Nanos::from_millis(60_000)));
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let stream = net.open_stream(conn, StreamKind::Both).expect("the first");
        self.pour(net, conn, stream);
    }
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, _conn: Conn, _why: Closed) {
        net.stop();
    }
    fn stream_writable<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream) {
        self.pour(net, conn, stream);
    }
    fn stream_received<N: Net>(&mut self, net: &mut N, _conn: Conn, _stream: Stream, data: &[u8], end: bool) {
        self.told.extend_from_slice(data);
        if end {
            net.stop();
        }
    }
    fn timer<N: Net>(&mut self, net: &mut N) {
        net.stop();
    }
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_long_body_arrives_whole_and_never_waits_here_in_more_than_the_window() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Sink::default());
        let body = vec![0x5a; BULK].leak();
        let pourer = Pourer { to: server.address, body, sent: 0, most_at_once: 0, told: Vec::new() };
        let pourer = run_client(kind, pourer);
        assert_eq!(pourer.told, BULK.to_le_bytes(), "{kind}: {} sent", pourer.sent);
        assert!(pourer.most_at_once <= SEND_WINDOW, "{kind}: {} at once", pourer.most_at_once);
        server.end();
    });
}

#[test]
fn a_long_body_comes_back_as_it_was() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let caller = run_client(kind, Caller::new(server.address, 1, 2, 3 << 20));
        assert!(caller.all_done(), "{kind}: {} done, {:?}", caller.done, caller.closed);
        server.end();
    });
}

#[test]
fn a_thousand_connections_at_once_are_no_trouble() {
    let kind = Kind { backend: Backend::Auto, direct_files: false };
    let server = Server::start(kind, Echo::default());
    let mut caller = Caller::new(server.address, 1000, 1, 50);
    caller.patience_ms = 300_000;
    let caller = run_client(kind, caller);
    assert!(caller.all_done(), "{} done, {:?}", caller.done, caller.closed);
    assert_eq!(server.end().accepted, 1000);
}

/// Carries datagrams of one client to `to` and back, but loses each `every`th.
fn lossy(to: SocketAddr, every: usize, end: &Arc<AtomicBool>) -> (SocketAddr, std::thread::JoinHandle<usize>) {
    let (front, back) =
        (UdpSocket::bind("127.0.0.1:0").expect("a free port"), UdpSocket::bind("127.0.0.1:0").expect("a free port"));
    back.connect(to).expect("connects");
    for socket in [&front, &back] {
        socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a time-out");
    }
    let (address, end) = (front.local_addr().expect("bound"), Arc::clone(end));
    let relay = std::thread::spawn(move || {
        let (mut buffer, mut client, mut seen, mut lost) = (vec![0; 65_536], None, 0_usize, 0);
        while !end.load(Ordering::Acquire) {
            if let Ok((count, from)) = front.recv_from(&mut buffer) {
                client = Some(from);
                seen += 1;
                if seen.is_multiple_of(every) { lost += 1 } else { drop(back.send(&buffer[..count])) }
            }
            if let (Ok(count), Some(client)) = (back.recv(&mut buffer), client) {
                seen += 1;
                if seen.is_multiple_of(every) { lost += 1 } else { drop(front.send_to(&buffer[..count], client)) }
            }
        }
        lost
    });
    (address, relay)
}

#[test]
fn what_is_lost_on_the_way_is_sent_again() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let end = Arc::new(AtomicBool::new(false));
        let (address, relay) = lossy(server.address, 7, &end);
        let caller = run_client(kind, Caller::new(address, 1, 30, 4000));
        end.store(true, Ordering::Release);
        let lost = relay.join().expect("the relay ends");
        assert!(caller.all_done() && lost > 10, "{kind}: {} done, {lost} lost, {:?}", caller.done, caller.closed);
        server.end();
    });
}
