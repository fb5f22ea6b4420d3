//! The ring of buffers that the kernel takes from when data arrives.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

use super::ring::Ring;
use crate::NetError;

/// How many buffers there are and how large each is.
#[derive(Clone, Copy)]
struct Shape {
    /// A power of two.
    count: u16,
    bytes: usize,
    /// The kernel takes a buffer piece by piece, so that small messages stand side by side; else each receive takes a
    /// whole one.
    pieces: bool,
}

pub(super) const GROUP: u16 = 0;

/// Anonymous memory, given back on drop.
struct Mapping {
    at: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> Result<Self, NetError> {
        // SAFETY: a fresh anonymous mapping.
        let at = unsafe {
            let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0)
        };
        match NonNull::new(at.cast::<u8>()) {
            Some(start) if at != libc::MAP_FAILED => Ok(Self { at: start, bytes }),
            _ => Err(NetError::last("mmap")),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length; nobody else holds it.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}

/// Buffers by number. Each is either the kernel's (listed in the ring before `tail`) or ours.
pub(super) struct Buffers {
    entries: Mapping,
    memory: Mapping,
    shape: Shape,
    /// How much of each buffer the kernel has filled since it was given back.
    filled: Vec<u32>,
    tail: u16,
}

impl Buffers {
    /// All of them stay in a second-level cache while bulk bodies pass through (a MiB of body costs a ninth less CPU than
    /// with 8 MiB of buffers), and hold more small messages than one batch has.
    const SHARED: Shape = Shape { count: 8, bytes: 64 * 1024, pieces: true };
    /// Each message takes one, however small; large enough for bulk bodies.
    const WHOLE: Shape = Shape { count: 256, bytes: 32 * 1024, pieces: false };

    /// Registers all buffers with `ring`, which must be gone, or done with them, before this is dropped.
    pub fn new(ring: &Ring) -> Result<Self, NetError> {
        let shape = if ring.takes_pieces() { Self::SHARED } else { Self::WHOLE };
        Self::with_shape(ring, shape)
    }

    fn with_shape(ring: &Ring, shape: Shape) -> Result<Self, NetError> {
        let count = shape.count as usize;
        let entries = Mapping::new(count * size_of::<BufRingEntry>())?;
        let memory = Mapping::new(count * shape.bytes)?;
        // SAFETY: page-aligned, of the right size, and kept as long as the ring.
        unsafe { ring.register_buffers(entries.at.as_ptr() as u64, shape.count, GROUP, shape.pieces) }
            .map_err(|source| NetError::System { call: "io_uring_register(PBUF_RING)", source })?;
        let mut buffers = Self { entries, memory, shape, filled: vec![0; count], tail: 0 };
        for buffer in 0..shape.count {
            buffers.give_back(buffer);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// The `count` bytes that the kernel has just put into `buffer`. [`Buffers::done`] has to follow, also after 0.
    ///
    /// # Safety
    /// Completions must be taken in the order in which they came, and the slice must not be used after
    /// [`Buffers::done`].
    #[inline]
    pub unsafe fn take<'a>(&mut self, buffer: u16, count: usize) -> &'a [u8] {
        let filled = &mut self.filled[buffer as usize];
        let from = *filled as usize;
        *filled += count as u32;
        debug_assert!(*filled as usize <= self.shape.bytes);
        // SAFETY: inside the mapping, because the kernel never fills a buffer beyond its length; the rest is the
        // caller's promise.
        unsafe { std::slice::from_raw_parts(self.memory.at.as_ptr().add(self.at(buffer) + from), count) }
    }

    /// Nobody reads `buffer` any more. Where receives share buffers, the kernel goes on filling it until it is full.
    #[inline]
    pub fn done(&mut self, buffer: u16) {
        if !self.shape.pieces || self.filled[buffer as usize] as usize == self.shape.bytes {
            self.give_back(buffer);
        }
    }

    const fn at(&self, buffer: u16) -> usize {
        buffer as usize * self.shape.bytes
    }

    fn first_entry(&self) -> *mut BufRingEntry {
        self.entries.at.as_ptr().cast()
    }

    /// Hands `buffer` to the kernel, which sees it after the next [`Buffers::publish`].
    #[inline]
    fn give_back(&mut self, buffer: u16) {
        debug_assert!(buffer < self.shape.count);
        self.filled[buffer as usize] = 0;
        let place = (self.tail & (self.shape.count - 1)) as usize;
        // SAFETY: `place` lies inside the mapping; the kernel does not read it before the tail is published. The last
        // two bytes of entry 0 are the tail itself, which the setters leave alone.
        unsafe {
            let entry = &mut *self.first_entry().add(place);
            entry.set_addr(self.memory.at.as_ptr().add(self.at(buffer)) as u64);
            entry.set_len(self.shape.bytes as u32);
            entry.set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Shows the kernel what was given back.
    #[inline]
    pub fn publish(&self) {
        // SAFETY: the tail lies inside the mapping, aligned to two bytes, and only this thread writes it.
        unsafe {
            let tail = BufRingEntry::tail(self.first_entry());
            AtomicU16::from_ptr(tail.cast_mut()).store(self.tail, Ordering::Release);
        }
    }
}
