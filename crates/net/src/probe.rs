//! What this kernel lets the loops do.

use crate::Backend;

/// The answer of [`probe`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What `io_uring` can do here.
    pub io_uring: UringProbe,
    /// epoll is there on every Linux; false elsewhere.
    pub epoll: bool,
}

/// What `io_uring` can do here.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one kernel")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UringProbe {
    /// Multishot receive (Linux 6.0).
    pub multishot_receive: bool,
    /// Rings of provided buffers (5.19).
    pub provided_buffers: bool,
    /// Multishot accept (5.19).
    pub multishot_accept: bool,
    /// File tables that let go of a socket at once (6.15). A loop does without where its table would be larger than
    /// `RLIMIT_NOFILE` allows.
    pub direct_files: bool,
    /// Why the `io_uring` back end can't run; `None` where it can.
    pub reason: Option<String>,
}

impl Probe {
    /// What [`Backend::Auto`] becomes.
    #[must_use]
    pub fn backend(&self) -> Backend {
        if self.io_uring.reason.is_none() { Backend::IoUring } else { Backend::Epoll }
    }
}

/// Asks the kernel, by trying: a sandbox may forbid what its version promises.
#[must_use]
pub fn probe() -> Probe {
    Probe { io_uring: crate::uring::examine(), epoll: cfg!(target_os = "linux") }
}
