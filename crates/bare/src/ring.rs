//! One ring with what every yardstick on `io_uring` uses: provided buffers, a file table, the one system call.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use io_uring::{IoUring, squeue};

use crate::fault::Fault;

const BUFFERS: u16 = 256;
/// The one group of buffers.
pub const GROUP: u16 = 0;
const GETEVENTS: u32 = 1;
const REGISTERED_RING: u32 = 16;
const REGISTER_RING_FDS: u32 = 20;

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct Update {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// The queues and the buffers.
pub struct Ring {
    inner: IoUring,
    handle: i32,
    flags: u32,
    entries: *mut BufRingEntry,
    memory: *mut u8,
    stride: usize,
    tail: u16,
    /// System calls made.
    pub syscalls: u64,
}

/// Page-aligned memory, never given back.
fn map(bytes: usize) -> Result<*mut libc::c_void, Fault> {
    // SAFETY: a fresh anonymous mapping.
    let at = unsafe {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0)
    };
    if at == libc::MAP_FAILED { Err(Fault::last("mmap")) } else { Ok(at) }
}

impl Ring {
    /// A ring for `connections`, with buffers of `stride` bytes. `files` go into its table; -1 leaves a place empty.
    pub fn new(stride: usize, files: &[RawFd]) -> Result<Self, Fault> {
        let wrap = |source| Fault::System { call: "io_uring_setup", source };
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_submit_all().setup_no_sqarray();
        let inner = builder.setup_cqsize(16_384).build(4096).map_err(wrap)?;
        inner.submitter().register_files(files).map_err(wrap)?;
        let entries = map(BUFFERS as usize * size_of::<BufRingEntry>())?.cast::<BufRingEntry>();
        let memory = map(BUFFERS as usize * stride)?.cast::<u8>();
        // SAFETY: page-aligned, of the right size, and never unmapped.
        unsafe { inner.submitter().register_buf_ring_with_flags(entries as u64, BUFFERS, GROUP, 0) }.map_err(wrap)?;
        let raw = inner.as_raw_fd();
        let mut update = Update { offset: u32::MAX, reserved: 0, data: raw as u64 };
        // SAFETY: one valid update, which the kernel writes the index into.
        let done =
            unsafe { libc::syscall(libc::SYS_io_uring_register, raw, REGISTER_RING_FDS, &raw mut update, 1_u32) };
        Fault::check("io_uring_register", done)?;
        let handle = update.offset as i32;
        let mut ring =
            Self { inner, handle, flags: GETEVENTS | REGISTERED_RING, entries, memory, stride, tail: 0, syscalls: 0 };
        (0..BUFFERS).for_each(|buffer| ring.give_back(buffer));
        ring.publish();
        Ok(ring)
    }

    /// Queues an operation; the program ends with its loop, so that what it points to outlives it.
    #[inline]
    pub fn push(&mut self, entry: &squeue::Entry) -> Result<(), Fault> {
        // SAFETY: see above.
        while unsafe { self.inner.submission().push(entry) }.is_err() {
            self.enter(0)?;
        }
        Ok(())
    }

    /// Submits what is queued and waits for `want` completions.
    #[inline]
    pub fn enter(&mut self, want: u32) -> Result<(), Fault> {
        self.publish();
        self.syscalls += 1;
        let queued = self.inner.submission().len() as u32;
        let none = std::ptr::null::<libc::c_void>();
        // SAFETY: no pointers.
        let done =
            unsafe { libc::syscall(libc::SYS_io_uring_enter, self.handle, queued, want, self.flags, none, 0_usize) };
        match done {
            0.. => Ok(()),
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => Ok(()),
            _ => Err(Fault::last("io_uring_enter")),
        }
    }

    /// The next completion: what it belongs to, its result and its flags.
    #[inline]
    pub fn next(&mut self) -> Option<(u64, i32, u32)> {
        self.inner.completion().next().map(|entry| (entry.user_data(), entry.result(), entry.flags()))
    }

    /// The first `count` bytes of `buffer`, which the kernel has filled.
    #[inline]
    pub fn slice(&self, buffer: u16, count: usize) -> &[u8] {
        // SAFETY: inside the mapping; the kernel has it back only after `give_back`, which the borrow forbids.
        unsafe { std::slice::from_raw_parts(self.memory.add(buffer as usize * self.stride), count) }
    }

    /// Hands `buffer` to the kernel, which sees it after the next [`Ring::enter`].
    #[inline]
    pub fn give_back(&mut self, buffer: u16) {
        let place = (self.tail & (BUFFERS - 1)) as usize;
        // SAFETY: `place` lies inside the mapping; the kernel does not read it before the tail is published.
        unsafe {
            let entry = &mut *self.entries.add(place);
            entry.set_addr(self.memory.add(buffer as usize * self.stride) as u64);
            entry.set_len(self.stride as u32);
            entry.set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        // SAFETY: the tail lies inside the mapping, aligned to two bytes; only this thread writes it.
        unsafe {
            let tail = BufRingEntry::tail(self.entries);
            AtomicU16::from_ptr(tail.cast_mut()).store(self.tail, Ordering::Release);
        }
    }
}
