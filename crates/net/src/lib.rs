//! Event loops for TCP: `io_uring` and epoll behind one interface, one loop a thread, nothing shared.
//!
//! A [`Handler`] is told what happened and answers through a [`Net`]. Both are generic, so that the compiler sees
//! through from the completion to the codec: no virtual call, no allocation per request.
//!
//! [`run`] is the only entry: it gives the calling thread to a loop until the handler, or a [`StopSignal`], ends it.

mod discard;
mod epoll;
mod error;
mod handler;
mod nanos;
mod options;
mod outbox;
mod probe;
pub mod quic;
mod socket;
mod stats;
mod stop;
mod table;
mod tcp_info;
mod thread;
pub mod tls;
mod udp;
mod uring;

use std::net::TcpListener;

pub use error::NetError;
pub use handler::{Closed, Conn, Handler, Net};
pub use nanos::Nanos;
pub use options::{Backend, Options};
pub use probe::{Probe, UringProbe, probe};
pub use socket::listen;
pub use stats::Stats;
pub use stop::StopSignal;
pub use tcp_info::TcpInfo;
pub use thread::pin_to_cpu;
pub use udp::{DatagramMeta, Datagrams, Ecn, Udp};

/// Runs a loop on this thread until [`Net::stop`] is called or `options.stop` is raised.
///
/// The loop owns `listeners`; when it ends, they and all connections are closed, without further calls of `handler`.
pub fn run<H: Handler>(options: &Options, listeners: Vec<TcpListener>, handler: &mut H) -> Result<Stats, NetError> {
    options.check()?;
    thread::prepare(options)?;
    let reason = match options.backend {
        Backend::Epoll => return epoll::run(options, listeners, handler),
        Backend::Auto | Backend::IoUring => probe().io_uring.reason,
    };
    match (reason, options.backend) {
        (None, _) => uring::run(options, listeners, handler),
        (Some(reason), Backend::IoUring) => Err(NetError::NoIoUring { reason }),
        (Some(_), _) => epoll::run(options, listeners, handler),
    }
}
