//! Input that the kernel throws away, and what TCP counts.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use photofinish_net::{Closed, Conn, Handler, Net, Options, TcpInfo};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Kind, Server, on_each_kind, reset};

const MAGIC: u64 = 0x0123_4567_89ab_cdef;
const HEAD_BYTES: usize = 16;

/// A message is a head (`MAGIC`, length of the body) and a body that nobody wants; it is answered with the count of the
/// bytes that have passed.
#[derive(Default)]
struct Message {
    head: Vec<u8>,
    left: u64,
    passed: u64,
}

#[derive(Default)]
struct Sink {
    open: HashMap<Conn, Message>,
    /// Why each connection ended, and the bytes of the body that it was in the midst of.
    closed: Vec<(Closed, u64, Option<TcpInfo>)>,
    /// What was counted when each body had passed.
    infos: Vec<Option<TcpInfo>>,
    /// A body of this length is not read to its end: the connection is closed after its first bytes.
    refused: Option<u64>,
    /// Connections are paused at the end of the turn in which something of them is thrown away.
    pauses: bool,
    pausing: Vec<Conn>,
}

impl Sink {
    fn pass<N: Net>(&mut self, net: &mut N, conn: Conn, bytes: u64) {
        let message = self.open.get_mut(&conn).expect("open");
        assert!(bytes <= message.left, "{bytes} of {} bytes", message.left);
        message.left -= bytes;
        message.passed += bytes;
        if message.left == 0 {
            net.send(conn, &message.passed.to_le_bytes());
            *message = Message::default();
            self.infos.push(net.tcp_info(conn));
        }
    }
}

impl Handler for Sink {
    fn accepted<N: Net>(&mut self, _net: &mut N, conn: Conn, _listener: usize) {
        self.open.insert(conn, Message::default());
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, mut data: &[u8]) {
        while !data.is_empty() {
            let message = self.open.get_mut(&conn).expect("open");
            if message.head.len() < HEAD_BYTES {
                let (head, rest) = data.split_at(data.len().min(HEAD_BYTES - message.head.len()));
                message.head.extend_from_slice(head);
                data = rest;
                if message.head.len() == HEAD_BYTES {
                    assert_eq!(message.head[..8], MAGIC.to_le_bytes(), "the head behind a body is whole");
                    message.left = u64::from_le_bytes(message.head[8..].try_into().expect("eight bytes"));
                    if message.left > data.len() as u64 {
                        net.discard(conn, message.left - data.len() as u64);
                    }
                    if self.refused == Some(message.left) {
                        self.open.remove(&conn);
                        return net.close(conn, true);
                    }
                    self.pass(net, conn, 0);
                }
            } else {
                let step = message.left.min(data.len() as u64);
                data = &data[step as usize..];
                self.pass(net, conn, step);
            }
        }
    }
    fn discarded<N: Net>(&mut self, net: &mut N, conn: Conn, bytes: u64) {
        assert!(bytes > 0);
        self.pass(net, conn, bytes);
        if self.pauses {
            self.pausing.push(conn);
        }
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        let message = self.open.remove(&conn).expect("open until now");
        self.closed.push((why, message.passed, net.tcp_info(conn)));
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        for conn in self.pausing.drain(..) {
            net.pause(conn);
        }
    }
}

fn connect(server: &Server<Sink>) -> TcpStream {
    let stream = TcpStream::connect(server.address).expect("connects");
    stream.set_nodelay(true).expect("an option");
    // Far beyond what anything here takes: it turns a hang into a failure.
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("an option");
    stream
}

fn head(body: u64) -> Vec<u8> {
    [MAGIC.to_le_bytes(), body.to_le_bytes()].concat()
}

/// A body that looks like heads of other messages: what is read in its place would be noticed.
fn message(body: u64) -> Vec<u8> {
    head(body).into_iter().chain((0..body).map(|at| (at % 251) as u8)).collect()
}

fn answer(stream: &mut TcpStream) -> u64 {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes).expect("an answer");
    u64::from_le_bytes(bytes)
}

/// Writes `bytes` in pieces of the given sizes, used in turn.
fn write_cut(stream: &mut TcpStream, bytes: &[u8], cuts: &[usize]) {
    let (mut rest, mut cuts) = (bytes, cuts.iter().cycle());
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at((*cuts.next().expect("a cycle")).min(rest.len()));
        stream.write_all(piece).expect("writes");
        rest = behind;
    }
}

#[test]
fn every_byte_passes_once_and_what_lies_behind_is_intact_in_any_cut() {
    let sizes = prop_oneof![0_u64..100, 60_000_u64..140_000, 1_040_000_u64..1_060_000, 0_u64..4_000_000];
    let cuts = prop_oneof![1_usize..2000, 60_000_usize..70_000, 1_usize..3_000_000];
    let case = (prop::collection::vec(sizes, 1..6), prop::collection::vec(cuts, 1..5), any::<bool>());
    on_each_kind(|kind| {
        let server = Server::start(kind, Sink::default());
        let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&case, |(bodies, cuts, waits)| {
            let mut stream = connect(&server);
            if waits {
                for &body in &bodies {
                    write_cut(&mut stream, &message(body), &cuts);
                    prop_assert_eq!(answer(&mut stream), body, "{}", kind);
                }
            } else {
                let all: Vec<u8> = bodies.iter().flat_map(|&body| message(body)).collect();
                write_cut(&mut stream, &all, &cuts);
                for &body in &bodies {
                    prop_assert_eq!(answer(&mut stream), body, "{}", kind);
                }
            }
            Ok(())
        });
        outcome.unwrap_or_else(|fault| panic!("{kind}: {fault}"));
        server.end();
    });
}

#[test]
fn large_bodies_are_not_copied_and_small_messages_come_at_once_behind_them() {
    const BODY: u64 = 6 << 20;
    on_each_kind(|kind| {
        let server = Server::start(kind, Sink::default());
        let mut stream = connect(&server);
        for round in 0..5_u64 {
            stream.write_all(&message(BODY + round)).expect("writes");
            assert_eq!(answer(&mut stream), BODY + round);
            stream.write_all(&message(round)).expect("writes");
            assert_eq!(answer(&mut stream), round, "{kind}");
        }
        let (_, stats) = server.end();
        let sent = 5 * (BODY + 2 * HEAD_BYTES as u64) + 2 * 10;
        assert_eq!(stats.received_bytes + stats.discarded_bytes, sent, "{kind}");
        // What comes with a head has been read already, and with io_uring what arrives until the receive is cancelled.
        assert!(stats.discarded_bytes > sent / 2, "{kind}: {stats:?}");
    });
}

#[test]
fn a_connection_that_ends_within_a_body_has_been_counted_to_its_end() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Sink::default());
        for part in [0, 1, 70_000, 1 << 20, 3_000_001] {
            let mut stream = connect(&server);
            stream.write_all(&head(1 << 30)).expect("writes");
            stream.write_all(&vec![7; part]).expect("writes");
            stream.shutdown(Shutdown::Write).expect("half closes");
            assert_eq!(stream.read(&mut [0; 8]).expect("an orderly end"), 0);
        }
        let (sink, _) = server.end();
        let counts: Vec<u64> = sink.closed.iter().map(|(_, passed, _)| *passed).collect();
        assert_eq!(counts, [0, 1, 70_000, 1 << 20, 3_000_001], "{kind}");
        for (why, passed, info) in &sink.closed {
            assert!(matches!(why, Closed::ByPeer), "{kind}: {why:?}");
            assert_eq!(info.expect("counters").bytes_received, passed + HEAD_BYTES as u64, "{kind}");
        }
    });
}

#[test]
fn a_reset_within_a_body_is_told_once_and_the_slot_serves_on() {
    on_each_kind(|kind| {
        let options = Options { max_connections: 1, ..kind.options() };
        let server = Server::start_with(&options, Sink::default());
        for _ in 0..10 {
            let mut stream = connect(&server);
            stream.write_all(&message(100_000)).expect("writes");
            assert_eq!(answer(&mut stream), 100_000);
            stream.write_all(&head(1 << 30)).expect("writes");
            stream.write_all(&vec![0; 200_000]).expect("writes");
            reset(stream);
        }
        let mut stream = connect(&server);
        stream.write_all(&message(3)).expect("writes");
        assert_eq!(answer(&mut stream), 3);
        let (sink, _) = server.end();
        assert_eq!(sink.closed.len(), 10, "{kind}");
        for (why, _, info) in &sink.closed {
            assert!(matches!(why, Closed::Failed(_)) && info.is_some(), "{kind}: {why:?} {info:?}");
        }
    });
}

#[test]
fn a_handler_may_close_within_a_body_and_hears_no_more_of_it() {
    const REFUSED: u64 = 1 << 20;
    on_each_kind(|kind| {
        let options = Options { max_connections: 1, ..kind.options() };
        let server = Server::start_with(&options, Sink { refused: Some(REFUSED), ..Sink::default() });
        for round in 0..10 {
            let mut stream = connect(&server);
            stream.write_all(&head(REFUSED)).expect("writes");
            // The peer may be gone already.
            let _ = stream.write_all(&vec![0; 30_000 * round]);
            assert!(!matches!(stream.read(&mut [0; 8]), Ok(1..)), "{kind}");
            drop(stream);
            let mut next = connect(&server);
            next.write_all(&message(200_000)).expect("writes");
            assert_eq!(answer(&mut next), 200_000, "{kind}");
        }
        let (sink, _) = server.end();
        assert_eq!(sink.closed.len(), 10, "{kind}");
    });
}

#[test]
fn a_pause_within_a_body_lasts_until_the_peer_ends_it() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Sink { pauses: true, ..Sink::default() });
        for _ in 0..10 {
            let mut stream = connect(&server);
            stream.set_write_timeout(Some(Duration::from_millis(20))).expect("an option");
            stream.write_all(&head(u64::MAX)).expect("writes");
            let block = vec![0; 1 << 20];
            let mut sent = 0;
            while let Ok(count) = stream.write(&block) {
                sent += count;
            }
            assert!(sent > 1 << 20, "{kind}: {sent}");
            reset(stream);
        }
        // A later turn: the ends have been told.
        let mut stream = connect(&server);
        stream.write_all(&message(3)).expect("writes");
        assert_eq!(answer(&mut stream), 3);
        let (sink, _) = server.end();
        assert_eq!(sink.closed.len(), 10, "{kind}");
        for (why, passed, info) in &sink.closed {
            assert!(matches!(why, Closed::ByPeer), "{kind}: {why:?}");
            assert!((1..info.expect("counters").bytes_received).contains(passed), "{kind}: {passed}");
        }
    });
}

#[test]
fn a_flood_that_is_thrown_away_starves_nobody() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Sink::default());
        let (mut flood, mut small) = (connect(&server), connect(&server));
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let flooding = std::thread::spawn(move || {
            flood.write_all(&head(u64::MAX)).expect("writes");
            let block = vec![0; 1 << 20];
            while !until.load(Ordering::Relaxed) {
                flood.write_all(&block).expect("writes");
            }
        });
        for body in 0..200 {
            small.write_all(&message(body * 1000)).expect("writes");
            assert_eq!(answer(&mut small), body * 1000, "{kind}");
        }
        over.store(true, Ordering::Relaxed);
        flooding.join().expect("the flood ends");
        server.end();
    });
}

#[test]
fn what_tcp_counts_is_told_of_open_connections() {
    const BODY: u64 = 300_000;
    on_each_kind(|kind: Kind| {
        let server = Server::start(kind, Sink::default());
        let mut streams = [connect(&server), connect(&server)];
        for round in 1..=3_u64 {
            for stream in &mut streams {
                stream.write_all(&message(BODY)).expect("writes");
                assert_eq!(answer(stream), BODY, "{kind} {round}");
            }
        }
        let (sink, _) = server.end();
        let infos: Vec<TcpInfo> = sink.infos.iter().map(|info| info.expect("counters")).collect();
        for (at, info) in infos.iter().enumerate() {
            let round = at as u64 / 2 + 1;
            assert_eq!(info.bytes_received, round * (BODY + HEAD_BYTES as u64), "{kind}");
            assert_eq!(info.bytes_acked, (round - 1) * 8, "{kind}: answers so far, which were read");
            assert!(info.data_segments_in > 0 && info.segments_in >= info.data_segments_in, "{kind}: {info:?}");
            assert!(info.segments_out >= info.data_segments_out, "{kind}: {info:?}");
        }
    });
}
