//! The ring of buffers that the kernel takes from when data arrives.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

use super::ring::Ring;
use crate::NetError;

/// One receive's most. Large enough for bulk bodies, and few enough buffers that small messages stay in the cache.
const BUFFER_BYTES: usize = 32 * 1024;
const COUNT: u16 = 256;
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
    tail: u16,
}

impl Buffers {
    /// Registers all buffers with `ring`, which must be gone, or done with them, before this is dropped.
    pub fn new(ring: &Ring) -> Result<Self, NetError> {
        let entries = Mapping::new(COUNT as usize * size_of::<BufRingEntry>())?;
        let memory = Mapping::new(COUNT as usize * BUFFER_BYTES)?;
        // SAFETY: page-aligned, of the right size, and kept as long as the ring.
        unsafe { ring.register_buffers(entries.at.as_ptr() as u64, COUNT, GROUP) }
            .map_err(|source| NetError::System { call: "io_uring_register(PBUF_RING)", source })?;
        let mut buffers = Self { entries, memory, tail: 0 };
        for buffer in 0..COUNT {
            buffers.give_back(buffer);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// The first `count` bytes of `buffer`.
    ///
    /// # Safety
    /// The kernel must have filled them, and `buffer` must not be given back while the slice is used.
    #[inline]
    pub unsafe fn slice<'a>(&self, buffer: u16, count: usize) -> &'a [u8] {
        debug_assert!(buffer < COUNT && count <= BUFFER_BYTES);
        // SAFETY: inside the mapping, by the assertion; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.memory.at.as_ptr().add(buffer as usize * BUFFER_BYTES), count) }
    }

    fn first_entry(&self) -> *mut BufRingEntry {
        self.entries.at.as_ptr().cast()
    }

    /// Hands `buffer` to the kernel, which sees it after the next [`Buffers::publish`].
    #[inline]
    pub fn give_back(&mut self, buffer: u16) {
        debug_assert!(buffer < COUNT);
        let place = (self.tail & (COUNT - 1)) as usize;
        // SAFETY: `place` lies inside the mapping; the kernel does not read it before the tail is published. The last
        // two bytes of entry 0 are the tail itself, which the setters leave alone.
        unsafe {
            let entry = &mut *self.first_entry().add(place);
            entry.set_addr(self.memory.at.as_ptr().add(buffer as usize * BUFFER_BYTES) as u64);
            entry.set_len(BUFFER_BYTES as u32);
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
