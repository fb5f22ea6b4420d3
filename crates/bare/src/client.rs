//! What both clients have in common.

use std::net::SocketAddr;

use crate::account::Account;
use crate::fault::Fault;
use crate::{Backend, epoll, socket, uring};

#[derive(clap::Args)]
pub struct Args {
    /// Address and port of the server
    to: SocketAddr,
    /// Kernel interface
    #[arg(long, value_enum, default_value = "io_uring")]
    backend: Backend,
    /// Connections, each with one request in flight
    #[arg(long, short, default_value_t = 100)]
    connections: usize,
    /// How long to send
    #[arg(long, short, default_value_t = 2.0)]
    seconds: f64,
    /// What to request
    #[arg(long, default_value = "/")]
    path: String,
    /// Bytes of one buffer
    #[arg(long, default_value_t = 4096)]
    buffer_bytes: usize,
}

/// What a client is to do.
pub struct Job {
    /// One request.
    pub request: &'static [u8],
    /// One response, whole.
    pub response_bytes: usize,
    /// How long to send, in ns.
    pub span_ns: u64,
    /// One buffer.
    pub buffer_bytes: usize,
}

/// Bytes of one connection's response so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter(usize);

impl Counter {
    /// Counts `bytes`; whether they complete the response.
    #[inline]
    pub fn take(&mut self, bytes: usize, job: &Job, account: &mut Account) -> Result<bool, Fault> {
        self.0 += bytes;
        account.bytes += bytes as u64;
        if self.0 < job.response_bytes {
            return Ok(false);
        }
        if self.0 > job.response_bytes {
            return Err(Fault::Broken);
        }
        self.0 = 0;
        account.requests += 1;
        Ok(true)
    }
}

/// Connects, runs, prints.
pub fn run(args: &Args) -> Result<(), Fault> {
    socket::allow_many_files();
    let request: &'static [u8] = socket::request(args.to, &args.path).leak();
    let job = Job {
        request,
        response_bytes: socket::response_bytes(args.to, &args.path, request)?,
        span_ns: (args.seconds * 1e9) as u64,
        buffer_bytes: args.buffer_bytes,
    };
    let sockets = socket::connect(args.to, args.connections)?;
    let account = match args.backend {
        Backend::IoUring => uring::client(&job, &sockets)?,
        Backend::Epoll => epoll::client(&job, &sockets)?,
    };
    println!("{}", account.line(args.backend.name(), args.connections));
    socket::close(&sockets);
    Ok(())
}
