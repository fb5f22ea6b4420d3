//! Runs a loop on a thread of its own, for each back end that this kernel has.

use std::fmt;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread::JoinHandle;

use photofinish_net::{Backend, Closed, Conn, Handler, Net, Options, Stats, StopSignal};

/// One of the ways in which a loop can work here.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub backend: Backend,
    pub direct_files: bool,
}

impl Kind {
    /// Settings of such a loop, with a file table that fits into common limits.
    pub fn options(self) -> Options {
        Options { backend: self.backend, direct_files: self.direct_files, max_connections: 1000, ..Options::default() }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.backend, if self.direct_files { " with a file table" } else { "" })
    }
}

/// Calls `test` once per kind of loop; one that is missing is skipped with the reason printed.
pub fn on_each_kind(test: impl Fn(Kind)) {
    test(Kind { backend: Backend::Epoll, direct_files: false });
    let probe = photofinish_net::probe().io_uring;
    if let Some(reason) = probe.reason {
        return println!("skipped on io_uring: {reason}");
    }
    test(Kind { backend: Backend::IoUring, direct_files: false });
    if probe.direct_files {
        test(Kind { backend: Backend::IoUring, direct_files: true });
    } else {
        println!("skipped with a file table: needs Linux 6.15");
    }
}

/// A loop that serves; ends and hands its handler back on [`Server::end`].
pub struct Server<H> {
    pub address: SocketAddr,
    pub stop: Arc<StopSignal>,
    thread: JoinHandle<(H, Stats)>,
}

impl<H: Handler + Send + 'static> Server<H> {
    pub fn start(kind: Kind, handler: H) -> Self {
        Self::start_with(&kind.options(), handler)
    }

    pub fn start_with(options: &Options, mut handler: H) -> Self {
        let listener = listen();
        let address = listener.local_addr().expect("bound");
        let stop = StopSignal::new().expect("an eventfd");
        let options = Options { stop: Some(Arc::clone(&stop)), ..options.clone() };
        let thread = std::thread::spawn(move || {
            let stats = photofinish_net::run(&options, vec![listener], &mut handler).expect("the loop runs");
            (handler, stats)
        });
        Self { address, stop, thread }
    }

    pub fn end(self) -> (H, Stats) {
        self.stop.raise();
        self.thread.join().expect("the loop's thread ends well")
    }
}

pub fn listen() -> TcpListener {
    photofinish_net::listen("127.0.0.1:0".parse().expect("an address")).expect("a free port")
}

/// Runs a loop without listeners until its handler stops it.
pub fn run_client<H: Handler>(kind: Kind, handler: &mut H) -> Stats {
    photofinish_net::run(&kind.options(), Vec::new(), handler).expect("the loop runs")
}

/// Closes with a reset in place of an orderly end.
pub fn reset(stream: TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the option's own structure.
    let done = unsafe {
        let length = size_of::<libc::linger>() as libc::socklen_t;
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, (&raw const linger).cast(), length)
    };
    assert_eq!(done, 0);
    drop(stream);
}

/// Sends back what it gets.
#[derive(Default)]
pub struct Echo {
    pub accepted: usize,
    pub closed: Vec<Closed>,
}

impl Handler for Echo {
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {
        self.accepted += 1;
    }
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        net.send(conn, data);
    }
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, why: Closed) {
        self.closed.push(why);
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}
