//! One direction of a connection ends before the other.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use photofinish_net::{Closed, Conn, Handler, Net};

use crate::support::{Server, on_each_kind, reset};

/// Ends its output, or its input, as the first bytes of its one connection say.
struct Halting {
    finishing: bool,
    /// Bytes received behind the first.
    received: usize,
    /// Told of the end: these bytes.
    ended: Sender<usize>,
}

impl Halting {
    fn new(ended: Sender<usize>) -> Self {
        Self { finishing: false, received: 0, ended }
    }
}

impl Handler for Halting {
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        match data {
            b"finish" => {
                net.send(conn, b"last words");
                self.finishing = net.queued(conn) > 0;
            }
            b"pause" => {
                net.send(conn, b"paused");
                net.pause(conn);
            }
            other => self.received += other.len(),
        }
    }
    fn flushed<N: Net>(&mut self, net: &mut N, conn: Conn) {
        if std::mem::take(&mut self.finishing) {
            net.finish(conn);
        }
    }
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {
        self.ended.send(self.received).expect("the test waits");
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn input_goes_on_behind_the_end_of_output() {
    on_each_kind(|kind| {
        let (ended, end) = channel();
        let server = Server::start(kind, Halting::new(ended));
        let mut stream = TcpStream::connect(server.address).expect("connects");
        stream.write_all(b"finish").expect("writes");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("reads to the end");
        assert_eq!(all, b"last words", "{kind}");
        stream.write_all(&vec![0; 100_000]).expect("the other direction is open");
        drop(stream);
        assert_eq!(end.recv(), Ok(100_000), "{kind}");
        server.end();
    });
}

#[test]
fn a_paused_connection_stops_its_peer_until_that_resets_it() {
    on_each_kind(|kind| {
        let (ended, end) = channel();
        let server = Server::start(kind, Halting::new(ended));
        let mut stream = TcpStream::connect(server.address).expect("connects");
        stream.write_all(b"pause").expect("writes");
        let mut word = [0; 6];
        stream.read_exact(&mut word).expect("an answer");
        stream.set_write_timeout(Some(Duration::from_millis(100))).expect("an option of TCP");
        let piece = vec![0; 64 * 1024];
        let stopped = (0..10_000).find_map(|_| stream.write_all(&piece).err()).expect("its window is full before");
        let stopped = stopped.kind();
        assert_eq!(stopped, ErrorKind::WouldBlock, "{kind}");
        reset(stream);
        // What arrived before the pause took effect may have been delivered; most of it was not.
        assert!(end.recv().expect("an end") < 1 << 20, "{kind}");
        server.end();
    });
}
