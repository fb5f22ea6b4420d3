//! Bytes in both directions.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use photofinish_net::{Closed, Conn, Handler, Net, Options};

use crate::support::{Echo, Server, on_each_kind};

#[test]
fn ten_thousand_pipelined_messages_come_back_in_order() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let stream = TcpStream::connect(server.address).expect("connects");
        let mut writer = stream.try_clone().expect("a second handle");
        let sent: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
        let copy = sent.clone();
        let writing = std::thread::spawn(move || {
            for message in copy.chunks(4) {
                writer.write_all(message).expect("writes");
            }
            writer.shutdown(Shutdown::Write).expect("half closes");
        });
        let mut back = Vec::new();
        (&stream).read_to_end(&mut back).expect("reads to the end");
        writing.join().expect("the writer ends");
        assert_eq!(back, sent, "{kind}");
        let (echo, stats) = server.end();
        assert_eq!((echo.accepted, stats.accepted), (1, 1));
        assert!(matches!(echo.closed[..], [Closed::ByPeer]), "{kind}: {:?}", echo.closed);
        assert_eq!((stats.received_bytes, stats.sent_bytes), (40_000, 40_000));
    });
}

#[test]
fn many_connections_at_once_each_get_their_own_bytes() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let mut streams: Vec<_> = (0..200).map(|_| TcpStream::connect(server.address).expect("connects")).collect();
        for round in 0..5_u8 {
            for (index, stream) in streams.iter_mut().enumerate() {
                stream.write_all(&[round, index as u8, 3]).expect("writes");
            }
            for (index, stream) in streams.iter_mut().enumerate() {
                let mut back = [0; 3];
                stream.read_exact(&mut back).expect("reads");
                assert_eq!(back, [round, index as u8, 3], "{kind}");
            }
        }
        drop(streams);
        let (_, stats) = server.end();
        assert_eq!(stats.accepted, 200);
    });
}

#[test]
fn more_than_the_receive_buffers_hold_arrives_whole() {
    const BYTES: usize = 24 << 20;
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let stream = TcpStream::connect(server.address).expect("connects");
        let mut writer = stream.try_clone().expect("a second handle");
        let writing = std::thread::spawn(move || {
            let block: Vec<u8> = (0..BYTES).map(|at| (at % 253) as u8).collect();
            writer.write_all(&block).expect("writes");
            writer.shutdown(Shutdown::Write).expect("half closes");
        });
        let mut back = Vec::new();
        (&stream).read_to_end(&mut back).expect("reads to the end");
        writing.join().expect("the writer ends");
        assert_eq!(back.len(), BYTES, "{kind}");
        assert!(back.iter().enumerate().all(|(at, &byte)| byte == (at % 253) as u8), "{kind}");
        server.end();
    });
}

#[test]
fn more_senders_at_once_than_there_are_receive_buffers_lose_nothing() {
    const CLIENTS: usize = 300;
    const BYTES: usize = 150_000;
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let mut streams: Vec<_> = (0..CLIENTS).map(|_| TcpStream::connect(server.address).expect("connects")).collect();
        // No client reads before all have sent: the loop meets all of it at once.
        for (index, stream) in streams.iter_mut().enumerate() {
            stream.write_all(&vec![index as u8; BYTES]).expect("writes into the socket's buffers");
        }
        let mut back = vec![0; BYTES];
        for (index, stream) in streams.iter_mut().enumerate() {
            stream.read_exact(&mut back).expect("reads");
            assert!(back.iter().all(|&byte| byte == index as u8), "{kind}");
        }
        let (_, stats) = server.end();
        assert_eq!(stats.received_bytes, (CLIENTS * BYTES) as u64);
    });
}

/// Sends a long static body in parts, each once the one before has left.
struct Feeder {
    body: &'static [u8],
    parts: usize,
    sent: usize,
    flushes: usize,
}

impl Handler for Feeder {
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        net.send(conn, b"head:");
        net.send_static(conn, self.body);
        assert_eq!(net.queued(conn), 5 + self.body.len());
        self.sent = 1;
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        assert_eq!(net.queued(conn), 0);
        self.flushes += 1;
        if self.sent < self.parts {
            net.send_static(conn, self.body);
            self.sent += 1;
        } else {
            net.close(conn, true);
        }
    }
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_slow_reader_is_waited_for_and_gets_every_byte() {
    on_each_kind(|kind| {
        let body: &'static [u8] = (0..16_u32 << 20).map(|at| (at % 249) as u8).collect::<Vec<u8>>().leak();
        let feeder = Feeder { body, parts: 3, sent: 0, flushes: 0 };
        let server = Server::start(kind, feeder);
        let mut stream = TcpStream::connect(server.address).expect("connects");
        let mut got = Vec::new();
        stream.read_to_end(&mut got).expect("reads to the end");
        assert_eq!(got.len(), 5 + 3 * body.len(), "{kind}");
        assert_eq!(&got[..5], b"head:");
        assert!(got[5..].chunks(body.len()).all(|part| part == body), "{kind}");
        let (feeder, _) = server.end();
        assert_eq!(feeder.flushes, 3, "{kind}");
    });
}

#[test]
fn what_is_queued_when_the_handler_closes_still_arrives() {
    struct Farewell(&'static [u8]);
    impl Handler for Farewell {
        fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
        fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn received<N: Net>(&mut self, net: &mut N, conn: Conn, _data: &[u8]) {
            net.send_static(conn, self.0);
            net.close(conn, true);
            net.send(conn, b"never");
            assert_eq!(net.turn_time().since(net.turn_time()).0, 0);
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
    on_each_kind(|kind| {
        let body: &'static [u8] = vec![7_u8; 12 << 20].leak();
        let server = Server::start(kind, Farewell(body));
        for _ in 0..3 {
            let mut stream = TcpStream::connect(server.address).expect("connects");
            stream.write_all(b"go").expect("writes");
            let mut got = Vec::new();
            stream.read_to_end(&mut got).expect("reads to the end");
            assert_eq!(got.len(), body.len(), "{kind}");
        }
        server.end();
    });
}

#[test]
fn clients_beyond_the_limit_wait_for_a_slot() {
    on_each_kind(|kind| {
        let options = Options { max_connections: 2, ..kind.options() };
        let server = Server::start_with(&options, Echo::default());
        let mut streams: Vec<_> = (0..6).map(|_| TcpStream::connect(server.address).expect("connects")).collect();
        while !streams.is_empty() {
            let mut stream = streams.remove(0);
            stream.write_all(b"x").expect("writes");
            let mut back = [0];
            stream.read_exact(&mut back).expect("reads");
            assert_eq!(&back, b"x", "{kind}");
        }
        let (echo, _) = server.end();
        assert_eq!(echo.accepted, 6, "{kind}");
    });
}
