//! Memory that a codec takes and gives back for each body: kept, so that the system is asked for it once.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{NonNull, null_mut};

use libc::c_void;

/// Kept at most; what is given back beyond it goes to the system.
const MOST_KEPT_BYTES: usize = 64 << 20;
/// Room before each block for its own size; keeps blocks aligned for anything a C library stores.
const HEADER: usize = 16;

/// Blocks that were given back, by their exact size: a codec at the same setting asks for the same ones again.
#[derive(Debug, Default)]
pub(super) struct Pool {
    kept: Vec<(usize, NonNull<u8>)>,
    kept_bytes: usize,
}

// SAFETY: the blocks belong to the pool alone.
unsafe impl Send for Pool {}

impl Pool {
    /// What a C library calls as `malloc`, with the pool as its `opaque`.
    ///
    /// # Safety
    /// `opaque` is a pool that nothing else uses meanwhile.
    pub unsafe extern "C" fn take(opaque: *mut c_void, bytes: usize) -> *mut c_void {
        // SAFETY: as promised.
        let pool = unsafe { &mut *opaque.cast::<Self>() };
        // Backwards: blocks come back in the reverse order of their taking.
        let block = match pool.kept.iter().rposition(|(size, _)| *size == bytes) {
            Some(at) => {
                pool.kept_bytes -= bytes;
                pool.kept.swap_remove(at).1
            }
            None => match Self::ask(bytes) {
                Some(block) => block,
                None => return null_mut(),
            },
        };
        // SAFETY: each block has its header in front.
        unsafe { block.as_ptr().add(HEADER).cast() }
    }

    /// What a C library calls as `free`.
    ///
    /// # Safety
    /// As for [`Pool::take`], from which `block` came, or it is null.
    pub unsafe extern "C" fn give(opaque: *mut c_void, block: *mut c_void) {
        if block.is_null() {
            return;
        }
        // SAFETY: as promised; the header in front holds the size.
        unsafe {
            let pool = &mut *opaque.cast::<Self>();
            let start = NonNull::new_unchecked(block.cast::<u8>().sub(HEADER));
            let bytes = start.cast::<usize>().read();
            if pool.kept_bytes + bytes > MOST_KEPT_BYTES {
                Self::release(bytes, start);
            } else {
                pool.kept_bytes += bytes;
                pool.kept.push((bytes, start));
            }
        }
    }

    fn layout(bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes.checked_add(HEADER)?, HEADER).ok()
    }

    fn ask(bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: never of size zero; the header is written before anything else.
        unsafe {
            let block = NonNull::new(alloc(Self::layout(bytes)?))?;
            block.cast::<usize>().write(bytes);
            Some(block)
        }
    }

    /// # Safety
    /// `block` came from [`Pool::ask`] with the same size and is not used afterwards.
    unsafe fn release(bytes: usize, block: NonNull<u8>) {
        if let Some(layout) = Self::layout(bytes) {
            // SAFETY: as promised.
            unsafe { dealloc(block.as_ptr(), layout) };
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (bytes, block) in self.kept.drain(..) {
            // SAFETY: kept blocks are nobody's.
            unsafe { Self::release(bytes, block) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn a_block_given_back_is_the_next_of_its_size() {
        let mut pool = Pool::default();
        let opaque = (&raw mut pool).cast();
        // SAFETY: the pool lives on; each block is given back once.
        unsafe {
            let (one, other) = (Pool::take(opaque, 1000), Pool::take(opaque, 2000));
            assert_eq!((one as usize % 16, other as usize % 16), (0, 0));
            Pool::give(opaque, one);
            Pool::give(opaque, other);
            Pool::give(opaque, std::ptr::null_mut());
            assert_eq!(Pool::take(opaque, 1000), one);
            assert_eq!(Pool::take(opaque, 2000), other);
            Pool::give(opaque, one);
            Pool::give(opaque, other);
        }
        assert_eq!((pool.kept.len(), pool.kept_bytes), (2, 3000));
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        let mut pool = Pool::default();
        let opaque = (&raw mut pool).cast();
        // SAFETY: as above.
        unsafe {
            let blocks: Vec<_> = (0..3).map(|_| Pool::take(opaque, super::MOST_KEPT_BYTES / 2)).collect();
            for block in blocks {
                Pool::give(opaque, block);
            }
        }
        assert_eq!(pool.kept.len(), 2);
    }
}
