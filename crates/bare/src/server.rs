//! What both servers have in common.

use crate::fault::Fault;
use crate::{Backend, epoll, socket, uring};

/// The answer that every server of the suite owes to `GET /`, in its shortest form: what `limit` sends.
pub const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World!";

#[derive(clap::Args)]
pub struct Args {
    /// Kernel interface
    #[arg(long, value_enum, default_value = "io_uring")]
    backend: Backend,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Connections at once
    #[arg(long, default_value_t = 1000)]
    max_connections: usize,
}

/// One read is one request if it ends with an empty line; half of one, or two, are beyond a yardstick.
#[inline]
pub fn is_whole(data: &[u8]) -> bool {
    data.ends_with(b"\r\n\r\n")
}

/// Serves until the process is ended.
pub fn run(args: &Args) -> Result<(), Fault> {
    socket::allow_many_files();
    let listener = socket::listen(args.port)?;
    let port = listener.local_addr().map_err(|source| Fault::System { call: "getsockname", source })?.port();
    println!("{}", serde_json::json!({ "event": "listening", "port": port }));
    match args.backend {
        Backend::IoUring => uring::server(&listener, args.max_connections),
        Backend::Epoll => epoll::server(&listener),
    }
}
