//! Runs a loop on a thread of its own, for each back end that this kernel has.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use photofinish_net::{Backend, Closed, Conn, Handler, Net, Options, Stats, StopSignal};

/// Calls `test` once per back end; one that is missing is skipped with the reason printed.
pub fn on_each_backend(test: impl Fn(Backend)) {
    test(Backend::Epoll);
    let probe = photofinish_net::probe();
    match probe.io_uring.reason {
        None => test(Backend::IoUring),
        Some(reason) => println!("skipped on io_uring: {reason}"),
    }
}

/// A loop that serves; ends and hands its handler back on [`Server::end`].
pub struct Server<H> {
    pub address: SocketAddr,
    pub stop: Arc<StopSignal>,
    thread: JoinHandle<(H, Stats)>,
}

impl<H: Handler + Send + 'static> Server<H> {
    pub fn start(backend: Backend, handler: H) -> Self {
        Self::start_with(&Options { backend, ..Options::default() }, handler)
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
pub fn run_client<H: Handler>(backend: Backend, handler: &mut H) -> Stats {
    let options = Options { backend, ..Options::default() };
    photofinish_net::run(&options, Vec::new(), handler).expect("the loop runs")
}

/// Sends back what it gets.
#[derive(Default)]
pub struct Echo {
    pub accepted: usize,
    pub closed: Vec<Closed>,
}

impl Handler for Echo {
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn) {
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
