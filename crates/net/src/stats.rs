//! What a loop counts about itself.

use crate::Nanos;

/// Counters of one loop since its start, as of the begin of the current turn for the two times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// `io_uring` or `epoll`; empty before the start.
    pub backend: &'static str,
    /// Whether sockets live in a file table of the `io_uring` rather than among the descriptors of the process.
    pub direct_files: bool,
    /// Batches of events taken from the kernel, empty ones included.
    pub turns: u64,
    /// System calls made by the loop (clock readings go through the vDSO and are none).
    pub syscalls: u64,
    /// Time between taking a batch and asking for the next: wall clock, so that it includes being preempted.
    pub busy: Nanos,
    /// Time spent asking the kernel for a batch: mostly sleep.
    pub waited: Nanos,
    /// Connections accepted.
    pub accepted: u64,
    /// Bytes that the handler was given.
    pub received_bytes: u64,
    /// Bytes that the kernel threw away for the handler.
    pub discarded_bytes: u64,
    /// Bytes that the kernel took.
    pub sent_bytes: u64,
}
