//! Resets, stale names, and the end of the loop.

use std::io::{Read, Write};
use std::net::TcpStream;

use photofinish_net::{Backend, Closed, Conn, Handler, Net, Options};

use crate::support::{Echo, Kind, Server, on_each_kind, reset};

fn echo_once(stream: &mut TcpStream) {
    stream.write_all(b"hello").expect("writes");
    let mut back = [0; 5];
    stream.read_exact(&mut back).expect("reads");
    assert_eq!(&back, b"hello");
}

#[test]
fn a_reset_reaches_the_handler_once_and_harms_no_other_connection() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let mut steady = TcpStream::connect(server.address).expect("connects");
        for _ in 0..20 {
            let mut stream = TcpStream::connect(server.address).expect("connects");
            echo_once(&mut stream);
            reset(stream);
            echo_once(&mut steady);
        }
        let (echo, _) = server.end();
        assert_eq!(echo.accepted, 21);
        assert_eq!(echo.closed.len(), 20, "{kind}");
        for why in &echo.closed {
            assert!(matches!(why, Closed::Failed(error) if error.kind() == std::io::ErrorKind::ConnectionReset));
        }
    });
}

/// Answers on a connection after it has closed it, and on those of earlier tenants of its slot.
#[derive(Default)]
struct Confused {
    old: Vec<Conn>,
}

impl Handler for Confused {
    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
        for &old in &self.old {
            assert_ne!(old, conn);
            net.send(old, b"for nobody");
            net.close(old, true);
            assert_eq!(net.queued(old), 0);
        }
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        assert!(!self.old.contains(&conn));
        net.send(conn, data);
        net.close(conn, true);
        self.old.push(conn);
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, why: Closed) {
        panic!("closed twice: {why:?}");
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[test]
fn a_stale_name_touches_no_later_tenant_of_its_slot() {
    on_each_kind(|kind| {
        let options = Options { max_connections: 1, ..kind.options() };
        let server = Server::start_with(&options, Confused::default());
        for _ in 0..30 {
            let mut stream = TcpStream::connect(server.address).expect("connects");
            stream.write_all(b"mine").expect("writes");
            let mut got = Vec::new();
            stream.read_to_end(&mut got).expect("reads to the end");
            assert_eq!(got, b"mine", "{kind}");
        }
        let (confused, _) = server.end();
        assert_eq!(confused.old.len(), 30, "{kind}");
    });
}

#[test]
fn a_handler_can_end_a_connection_by_a_reset() {
    struct Rude;
    impl Handler for Rude {
        fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
        fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn received<N: Net>(&mut self, net: &mut N, conn: Conn, _data: &[u8]) {
            net.reset(conn);
            net.reset(conn);
        }
        fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, why: Closed) {
            panic!("told of its own reset: {why:?}");
        }
        fn timer<N: Net>(&mut self, _net: &mut N) {}
        fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
    }
    on_each_kind(|kind| {
        let server = Server::start(kind, Rude);
        for _ in 0..10 {
            let mut stream = TcpStream::connect(server.address).expect("connects");
            stream.write_all(b"hello").expect("writes");
            let error = stream.read(&mut [0; 5]).expect_err("no answer and no orderly end");
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{kind}");
        }
        server.end();
    });
}

#[test]
fn a_peer_that_leaves_in_the_middle_of_a_long_send_frees_its_slot() {
    struct Spout(&'static [u8]);
    impl Handler for Spout {
        fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn, _listener: usize) {
            net.send_static(conn, self.0);
        }
        fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
        fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
        fn timer<N: Net>(&mut self, _net: &mut N) {}
        fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
    }
    on_each_kind(|kind| {
        let body: &'static [u8] = vec![1_u8; 32 << 20].leak();
        let options = Options { max_connections: 1, ..kind.options() };
        let server = Server::start_with(&options, Spout(body));
        for _ in 0..10 {
            let mut stream = TcpStream::connect(server.address).expect("connects");
            let mut some = [0; 1000];
            stream.read_exact(&mut some).expect("reads");
            reset(stream);
        }
        let (_, stats) = server.end();
        assert_eq!(stats.accepted, 10, "{kind}");
    });
}

#[test]
fn a_raised_flag_ends_an_idle_loop() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let mut stream = TcpStream::connect(server.address).expect("connects");
        echo_once(&mut stream);
        let (_, stats) = server.end();
        assert_eq!(stats.backend, kind.backend.name());
        assert_eq!(stats.direct_files, kind.direct_files);
        let mut rest = Vec::new();
        assert_eq!(stream.read_to_end(&mut rest).expect("an orderly end"), 0, "{kind}");
    });
}

#[test]
fn auto_takes_what_the_probe_names() {
    let server = Server::start(Kind { backend: Backend::Auto, direct_files: true }, Echo::default());
    let (_, stats) = server.end();
    assert_eq!(stats.backend, photofinish_net::probe().backend().name());
}

#[test]
fn a_file_table_beyond_what_the_kernel_allows_is_done_without() {
    on_each_kind(|kind| {
        let options = Options { max_connections: Options::MOST_CONNECTIONS, ..kind.options() };
        let server = Server::start_with(&options, Echo::default());
        echo_once(&mut TcpStream::connect(server.address).expect("connects"));
        let (_, stats) = server.end();
        assert!(!stats.direct_files, "{kind}");
    });
}
