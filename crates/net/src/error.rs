//! What can keep a loop from starting or going on.

use std::io;

use crate::Options;

/// Why a loop could not start or go on. Failures of single connections are [`crate::Closed`], never this.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// `--backend` with a word that is none.
    #[error("no back end is called `{name}`: use auto, io_uring or epoll")]
    UnknownBackend {
        /// The word as given.
        name: String,
    },
    /// `max_connections` out of its range.
    #[error("max_connections is {asked}: use 1 to {}", Options::MOST_CONNECTIONS)]
    ConnectionLimit {
        /// The number as given.
        asked: usize,
    },
    /// `io_uring` was asked for by name, and this kernel lacks it or forbids it.
    #[error("io_uring can't be used here ({reason}): use `--backend epoll` or `auto`")]
    NoIoUring {
        /// What the probe found.
        reason: String,
    },
    /// The thread can't run on the CPU asked for.
    #[error("can't pin to CPU {cpu}: {source}; choose one that `photofinish probe` lists under `cpus`")]
    Pin {
        /// The CPU as given.
        cpu: usize,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A listener could not be opened.
    #[error("can't listen on {address}: {source}; choose another port, or end the program that holds it")]
    Listen {
        /// Where.
        address: std::net::SocketAddr,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A system call failed that the loop can't do without.
    #[error("{call} failed: {source}; check the limits on open files and locked memory (`ulimit -n`, `ulimit -l`)")]
    System {
        /// The call.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl NetError {
    /// Wraps `errno` as left by `call`.
    pub(crate) fn last(call: &'static str) -> Self {
        Self::System { call, source: io::Error::last_os_error() }
    }
}
