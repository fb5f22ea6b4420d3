//! A server that misbehaves as its script says, and knows the truth about itself: the yardstick for load generators.
//!
//! It answers after delays of a known distribution, freezes at known times, lets bodies drip, serves at a known capacity and
//! breaks responses in known ways. What it did (requests read, responses written, its own delays in a histogram, the exact
//! times of its freezes) it tells on `GET /truth` and when it ends.
//!
//! One loop on one thread, so that a freeze stops everything and the queue of `max-rate` has one server.

mod agenda;
mod delay;
mod fault;
mod freeze;
mod reply;
mod script;
mod server;
mod session;
mod truth;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;

use photofinish_net::{Backend, Nanos, Options, StopSignal};

pub use delay::{Delay, Law};
pub use fault::{Fault, Kind, Share};
pub use freeze::Freeze;
pub use reply::Drip;
pub use script::{Script, ScriptError};
pub use truth::{Distribution, Frozen, SCHEMA, Truth};

use crate::serve::{ServeError, Settings, open};
use server::Server;

/// Where and how a scripted server runs.
#[derive(Clone, Debug)]
pub struct ScriptedSettings {
    /// Where to listen; port 0 lets the kernel choose.
    pub address: SocketAddr,
    /// The CPU that the loop is pinned to.
    pub cpu: Option<usize>,
    /// The kernel interface. Epoll sends within the call that decides to, so that times of writing are exact; `io_uring`
    /// sends at the end of the turn.
    pub backend: Backend,
    /// Connections at once.
    pub max_connections: usize,
    /// Polls instead of sleeping: no wake-up latency before a request is read, at the price of a whole CPU.
    pub spin: bool,
}

impl Default for ScriptedSettings {
    fn default() -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            cpu: None,
            backend: Backend::Epoll,
            max_connections: 12_000,
            spin: false,
        }
    }
}

/// Serves as `script` says until `stop` is raised; calls `listening` once, when connections are taken. Returns what it did.
pub fn serve_scripted(
    script: &Script,
    settings: &ScriptedSettings,
    stop: &Arc<StopSignal>,
    listening: impl FnOnce(SocketAddr),
) -> Result<Truth, ServeError> {
    let (address, port) = (settings.address.ip(), settings.address.port());
    let (address, listeners) = open(&Settings { address, port, ..Settings::default() })?;
    let options = Options {
        backend: settings.backend,
        max_connections: settings.max_connections,
        cpu: settings.cpu,
        busy_poll: if settings.spin { Nanos(u64::MAX) } else { Nanos(0) },
        precise_timer: true,
        account: false,
        stop: Some(Arc::clone(stop)),
        ..Options::default()
    };
    let mut server = Server::new(script, stop)?;
    listening(address);
    photofinish_net::run(&options, listeners, &mut server)?;
    Ok(server.truth())
}
