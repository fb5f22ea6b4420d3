//! The two queues, and the one system call that serves both.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use io_uring::{IoUring, opcode, squeue};

use super::operation::{Completion, Operation};
use crate::probe::UringProbe;
use crate::{Nanos, NetError};

const SUBMISSIONS: u32 = 1024;
pub(super) const COMPLETIONS: u32 = 4096;

const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 8;
const ENTER_REGISTERED_RING: u32 = 16;
const REGISTER_RING_FDS: u32 = 20;
/// `IOU_PBUF_RING_INC`
const BUFFERS_IN_PIECES: u16 = 2;

/// `struct io_uring_getevents_arg`.
#[repr(C)]
#[derive(Default)]
struct WaitArgument {
    signal_mask: u64,
    signal_mask_bytes: u32,
    min_wait_us: u32,
    timeout: u64,
}

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct ResourceUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

pub(super) struct Ring {
    inner: IoUring,
    /// What `io_uring_enter` is called with: the descriptor, or the index of its registration.
    handle: i32,
    handle_flag: u32,
    /// Operations that the kernel has and that will still complete.
    pub pending: usize,
    /// Whether the kernel says in shared memory that it has something for this thread.
    flagged: bool,
}

impl Ring {
    /// `watched`: the ring is to be waited for by [`Ring::watch`].
    pub fn new(watched: bool) -> Result<Self, NetError> {
        let (inner, flagged) = build(watched).map_err(|source| NetError::NoIoUring { reason: source.to_string() })?;
        if !inner.params().is_feature_ext_arg() || !inner.params().is_feature_nodrop() {
            return Err(NetError::NoIoUring { reason: "the kernel is older than 5.11".to_owned() });
        }
        let mut ring = Self { handle: inner.as_raw_fd(), handle_flag: 0, inner, pending: 0, flagged };
        ring.register_itself();
        Ok(ring)
    }

    /// Spares the kernel the look-up of the descriptor on each call; without it everything works all the same.
    fn register_itself(&mut self) {
        let mut update = ResourceUpdate { offset: u32::MAX, reserved: 0, data: self.inner.as_raw_fd() as u64 };
        // SAFETY: one valid update, which the kernel writes the index into.
        let done = unsafe {
            let raw = self.inner.as_raw_fd();
            libc::syscall(libc::SYS_io_uring_register, raw, REGISTER_RING_FDS, &raw mut update, 1_u32)
        };
        if done == 1 {
            self.handle = update.offset as i32;
            self.handle_flag = ENTER_REGISTERED_RING;
        }
    }

    /// Whether one provided buffer can serve several receives, piece by piece. It came with 6.12; Linux 6.15 is the
    /// first release with a mark of its own after it.
    pub fn takes_pieces(&self) -> bool {
        self.inner.params().is_feature_no_iowait()
    }

    /// `pieces`: see [`Ring::takes_pieces`].
    ///
    /// # Safety
    /// `address` must point to `count` entries that live as long as the ring.
    pub unsafe fn register_buffers(&self, address: u64, count: u16, group: u16, pieces: bool) -> io::Result<()> {
        let flags = if pieces { BUFFERS_IN_PIECES } else { 0 };
        // SAFETY: the caller's promise.
        unsafe { self.inner.submitter().register_buf_ring_with_flags(address, count, group, flags) }
    }

    /// Makes a file table of `count` empty places.
    ///
    /// Not before Linux 6.15, the first release with a mark of its own after 6.13: older ones keep a socket that left
    /// the table open until all operations that were pending on any socket have ended, so that its peer sees no end.
    pub fn register_files(&self, count: u32) -> io::Result<()> {
        if !self.inner.params().is_feature_no_iowait() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.inner.submitter().register_files_sparse(count)
    }

    /// Puts `file` into an empty place of the table, at once.
    pub fn set_file(&self, index: u32, file: RawFd) -> io::Result<()> {
        self.inner.submitter().register_files_update(index, &[file]).map(drop)
    }

    /// Queues an operation; what it points to must stay until it completes. Returns the number of system calls made
    /// (one where the queue was full).
    #[inline]
    pub fn push(&mut self, entry: squeue::Entry, operation: Operation) -> u64 {
        let entry = entry.user_data(operation.pack());
        self.pending += 1;
        let mut calls = 0;
        loop {
            // SAFETY: the callers keep buffers, addresses and messages in slots that outlive their operations.
            if unsafe { self.inner.submission().push(&entry) }.is_ok() {
                return calls;
            }
            calls += 1;
            // A full queue is emptied by submitting; errors show again at the next wait, which reports them.
            let _ = self.enter(0, None);
        }
    }

    /// Submits what is queued and waits for `want` completions, at most for `patience` (`None`: for ever).
    #[inline]
    pub fn enter(&mut self, want: u32, patience: Option<Nanos>) -> io::Result<()> {
        let queued = self.inner.submission().len() as u32;
        let span = patience.map_or(libc::timespec { tv_sec: 0, tv_nsec: 0 }, Nanos::timespec);
        let mut argument = WaitArgument::default();
        let mut flags = ENTER_GETEVENTS | self.handle_flag;
        let (mut pointer, mut bytes) = (std::ptr::null_mut(), 0);
        if want > 0 && patience.is_some() {
            argument.timeout = &raw const span as u64;
            pointer = &raw mut argument;
            bytes = size_of::<WaitArgument>();
            flags |= ENTER_EXT_ARG;
        }
        // SAFETY: `argument` and `span` are valid for the call.
        let done = unsafe { libc::syscall(libc::SYS_io_uring_enter, self.handle, queued, want, flags, pointer, bytes) };
        if done >= 0 {
            return Ok(());
        }
        match io::Error::last_os_error() {
            // Time is up; a signal came; the completion queue must be emptied first.
            error if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => {
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Spins until the kernel has something for this thread, at most until `until`, without a system call where the kernel
    /// tells in shared memory. Whether there is something to enter for.
    pub fn watch(&mut self, until: Nanos) -> bool {
        if !self.flagged || !self.inner.submission().is_empty() {
            return true;
        }
        loop {
            if self.has_completions() || self.inner.submission().taskrun() {
                return true;
            }
            if Nanos::now() >= until {
                return false;
            }
            std::hint::spin_loop();
        }
    }

    /// Whether the kernel has put completions into the queue that were not taken.
    #[inline]
    pub fn has_completions(&mut self) -> bool {
        !self.inner.completion().is_empty()
    }

    /// Takes the next completion.
    #[inline]
    pub fn next(&mut self) -> Option<Completion> {
        let completion = Completion::of(&self.inner.completion().next()?);
        self.pending -= usize::from(!completion.more);
        Some(completion)
    }
}

/// The newest set-up that this kernel takes; each older one only costs speed. Whether the kernel raises a flag when it has
/// something for the thread, as far as that was asked for.
fn build(watched: bool) -> io::Result<(IoUring, bool)> {
    let mut newest = IoUring::builder();
    newest.setup_single_issuer().setup_defer_taskrun().setup_no_sqarray();
    let mut newer = IoUring::builder();
    newer.setup_single_issuer().setup_defer_taskrun();
    let mut older = IoUring::builder();
    older.setup_coop_taskrun();
    let oldest = IoUring::builder();
    let mut last = None;
    for (mut builder, flags) in [(newest, true), (newer, true), (older, true), (oldest, false)] {
        builder.setup_submit_all().setup_cqsize(COMPLETIONS).setup_clamp().dontfork();
        if watched && flags {
            builder.setup_taskrun_flag();
        }
        match builder.build(SUBMISSIONS) {
            Ok(ring) => return Ok((ring, watched && flags)),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS)))
}

/// Tries what the back end needs: a version number proves nothing inside a sandbox.
pub(crate) fn examine() -> UringProbe {
    let mut probe = UringProbe {
        multishot_receive: false,
        provided_buffers: false,
        multishot_accept: false,
        direct_files: false,
        reason: None,
    };
    let ring = match Ring::new(false) {
        Ok(ring) => ring,
        Err(NetError::NoIoUring { reason }) => {
            probe.reason = Some(reason);
            return probe;
        }
        Err(error) => {
            probe.reason = Some(error.to_string());
            return probe;
        }
    };
    let mut known = io_uring::Probe::new();
    let asked = ring.inner.submitter().register_probe(&mut known);
    let accept = asked.is_ok() && known.is_supported(opcode::AcceptMulti::CODE);
    probe.provided_buffers = super::buffers::Buffers::new(&ring).is_ok();
    probe.direct_files = ring.register_files(1).is_ok();
    // Multishot accept and buffer rings came with one release. Multishot receive is a flag that no probe shows; it came
    // with 6.0, together with SEND_ZC, which a probe does show.
    probe.multishot_accept = accept && probe.provided_buffers;
    probe.multishot_receive = probe.provided_buffers && known.is_supported(opcode::SendZc::CODE);
    probe.reason = match (probe.provided_buffers, probe.multishot_receive) {
        (false, _) => Some("no rings of provided buffers: needs Linux 5.19".to_owned()),
        (true, false) => Some("no multishot receive: needs Linux 6.0".to_owned()),
        (true, true) => None,
    };
    probe
}
