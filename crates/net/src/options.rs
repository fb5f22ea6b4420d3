//! What a loop is told before it starts.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Nanos, NetError, StopSignal};

/// Which kernel interface a loop uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// `io_uring` where the kernel has what the loop needs, epoll elsewhere.
    #[default]
    Auto,
    /// `io_uring`; an error where it is missing.
    IoUring,
    /// epoll.
    Epoll,
}

impl Backend {
    /// The name used by flags, documents and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::IoUring => "io_uring",
            Self::Epoll => "epoll",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Backend {
    type Err = NetError;
    fn from_str(text: &str) -> Result<Self, NetError> {
        match text {
            "auto" => Ok(Self::Auto),
            "io_uring" | "io-uring" | "uring" => Ok(Self::IoUring),
            "epoll" => Ok(Self::Epoll),
            _ => Err(NetError::UnknownBackend { name: text.to_owned() }),
        }
    }
}

/// The last stretch before a timer that a precise loop does not sleep.
pub(crate) const TIMER_SPIN: Nanos = Nanos(50_000);

/// Settings of one loop.
#[expect(clippy::struct_excessive_bools, reason = "switches that are independent of each other")]
#[derive(Clone, Debug)]
pub struct Options {
    /// The kernel interface.
    pub backend: Backend,
    /// Connections at once, accepted and begun ones together; 1 to 1,048,576. Beyond it [`crate::Net::connect`] fails
    /// and new clients wait in the listener's backlog.
    pub max_connections: usize,
    /// The CPU that the calling thread is pinned to.
    pub cpu: Option<usize>,
    /// How long to poll without sleeping after the last event. Costs a whole CPU while it lasts; zero sleeps at once.
    pub busy_poll: Nanos,
    /// Polls instead of sleeping for the last 50 µs before a timer: the wake-up latency of the kernel (5–60 µs) is
    /// paid in CPU time instead of lateness.
    pub precise_timer: bool,
    /// Keeps sockets in a file table of the `io_uring` where the kernel has what that needs; see
    /// [`crate::Stats::direct_files`].
    pub direct_files: bool,
    /// Connections begun here end with a reset instead of a FIN: no `TIME_WAIT` stays behind, at the price that the peer
    /// may see an error. For many short-lived connections between processes of one owner.
    pub reset_on_close: bool,
    /// Keeps [`crate::Stats::busy`] and [`crate::Stats::waited`]: one more reading of the clock a turn.
    pub account: bool,
    /// Ends the loop from outside: another thread or a signal.
    pub stop: Option<Arc<StopSignal>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backend: Backend::Auto,
            max_connections: 16_384,
            cpu: None,
            busy_poll: Nanos(0),
            precise_timer: false,
            direct_files: true,
            reset_on_close: false,
            account: true,
            stop: None,
        }
    }
}

impl Options {
    /// The largest `max_connections`.
    pub const MOST_CONNECTIONS: usize = 1 << 20;

    pub(crate) fn check(&self) -> Result<(), NetError> {
        if (1..=Self::MOST_CONNECTIONS).contains(&self.max_connections) {
            Ok(())
        } else {
            Err(NetError::ConnectionLimit { asked: self.max_connections })
        }
    }
}
