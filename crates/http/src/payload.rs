//! The body of every sized download: one endless stream of incompressible bytes, of which size *n* is the first *n*.
//!
//! The stream repeats its first [`MOST_BYTES`] bytes, so that no more than these are ever kept. Within them it is `SplitMix64` (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) seeded
//! with [`SEED`], each word little-endian. Word *i* depends on *i* alone, so that any part can be made without the
//! parts before it.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::BodyHash;

/// The seed of the stream: the ASCII bytes of `photofin`, big-endian.
pub const SEED: u64 = 0x7068_6f74_6f66_696e;
/// The stream's period, and the largest body in one piece: 100 MiB.
pub const MOST_BYTES: usize = 100 << 20;
/// The largest body that is served: 1 GiB.
pub const MOST_BODY_BYTES: u64 = 1 << 30;

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
const WORD: usize = size_of::<u64>();
/// Filling goes in steps, so that asking for 1 KiB, then 2 KiB … does not fill again and again.
const STEP: usize = 1 << 20;

/// Why there is no such body.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// More than [`MOST_BYTES`] in one piece.
    #[error("a body of {asked} bytes is too long: ask for at most {MOST_BYTES}")]
    TooLong {
        /// Bytes asked for.
        asked: usize,
    },
    /// The system has no address space for it.
    #[error("can't map {MOST_BYTES} bytes for the payload: {0}; raise the limit on address space (`ulimit -v`)")]
    NoMemory(std::io::Error),
}

/// Word `index` of the stream.
#[inline]
const fn word(index: u64) -> u64 {
    let mut mixed = SEED.wrapping_add(index.wrapping_add(1).wrapping_mul(GAMMA));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Writes the stream from byte `offset` on into `into`, for a reader that checks without holding the whole. Only within the
/// first period: `offset` and the length of `into` must not exceed [`MOST_BYTES`] together.
pub fn fill(offset: u64, into: &mut [u8]) {
    let mut index = offset / WORD as u64;
    let lead = (offset % WORD as u64) as usize;
    let mut rest = into;
    if lead > 0 {
        let count = rest.len().min(WORD - lead);
        let (first, after) = rest.split_at_mut(count);
        first.copy_from_slice(&word(index).to_le_bytes()[lead..lead + count]);
        rest = after;
        index += 1;
    }
    let mut chunks = rest.chunks_exact_mut(WORD);
    for chunk in &mut chunks {
        chunk.copy_from_slice(&word(index).to_le_bytes());
        index += 1;
    }
    let last = chunks.into_remainder();
    last.copy_from_slice(&word(index).to_le_bytes()[..last.len()]);
}

/// The body of `size` bytes, in memory that is made once a process, when first asked for.
pub fn bytes(size: usize) -> Result<&'static [u8], PayloadError> {
    if size > MOST_BYTES {
        return Err(PayloadError::TooLong { asked: size });
    }
    let store = Store::get()?;
    if store.filled.load(Ordering::Acquire) < size {
        store.fill_up_to(size);
    }
    // SAFETY: `filled` bytes are written, visible by the acquire, and never written again; the mapping is never undone.
    Ok(unsafe { std::slice::from_raw_parts(store.start.as_ptr(), size) })
}

/// The stream from byte `offset` on, without a copy: `most` bytes, or as many as there are before it repeats; never none
/// if `most` is not 0.
pub fn piece(offset: u64, most: usize) -> Result<&'static [u8], PayloadError> {
    let begin = (offset % MOST_BYTES as u64) as usize;
    let end = begin.saturating_add(most).min(MOST_BYTES);
    bytes(end).map(|stream| &stream[begin..])
}

/// XXH3 (64 bits, seed 0) of the body of `size` bytes.
pub fn xxh3(size: u64) -> Result<u64, PayloadError> {
    let mut hash = BodyHash::default();
    let mut offset = 0;
    while offset < size {
        let most = usize::try_from(size - offset).unwrap_or(MOST_BYTES);
        let piece = piece(offset, most)?;
        offset += piece.len() as u64;
        hash.update(piece, Some(size - offset));
    }
    Ok(hash.digest())
}

/// A mapping of [`MOST_BYTES`], of which the first `filled` are written.
struct Store {
    start: NonNull<u8>,
    filled: AtomicUsize,
    filling: Mutex<()>,
}

// SAFETY: bytes below `filled` are only read; those above are only written, by the holder of `filling`.
unsafe impl Send for Store {}
// SAFETY: as above.
unsafe impl Sync for Store {}

impl Store {
    fn get() -> Result<&'static Self, PayloadError> {
        static STORE: OnceLock<Store> = OnceLock::new();
        if let Some(store) = STORE.get() {
            return Ok(store);
        }
        // A second thread that comes here at once maps in vain; its mapping is address space only.
        let fresh = Self::map()?;
        Ok(STORE.get_or_init(|| fresh))
    }

    fn map() -> Result<Self, PayloadError> {
        // SAFETY: a fresh anonymous mapping.
        let start = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), MOST_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(first) if start != libc::MAP_FAILED => {
                Ok(Self { start: first, filled: AtomicUsize::new(0), filling: Mutex::new(()) })
            }
            _ => Err(PayloadError::NoMemory(std::io::Error::last_os_error())),
        }
    }

    #[cold]
    fn fill_up_to(&self, size: usize) {
        // A panic while filling leaves `filled` as it was: nothing is half done.
        let _alone = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        let from = self.filled.load(Ordering::Acquire);
        let to = size.next_multiple_of(STEP).min(MOST_BYTES);
        if from < to {
            // SAFETY: inside the mapping; nobody reads beyond `filled`, and `filling` keeps other writers out.
            fill(from as u64, unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(from), to - from) });
            self.filled.store(to, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MOST_BYTES, PayloadError, bytes, fill, piece, word, xxh3};

    #[test]
    fn the_stream_is_splitmix64() {
        // Java's SplittableRandom and the reference C code agree: with seed 0 the first output is e220a8397b1dcdaf.
        // SEED + (i + 1)·γ = γ (mod 2⁶⁴) reproduces it from our stream's own mixing.
        let mut mixed = super::GAMMA;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        assert_eq!(mixed ^ (mixed >> 31), 0xe220_a839_7b1d_cdaf);
        assert_ne!(word(0), word(1));
    }

    #[test]
    fn a_body_is_the_beginning_of_every_longer_one() {
        let long = bytes(3_000_000).expect("memory");
        let short = bytes(1_000).expect("memory");
        assert_eq!(short, &long[..1_000]);
        assert_eq!(xxh3(0).expect("memory"), xxhash_rust::xxh3::xxh3_64(b""));
    }

    #[test]
    fn a_body_beyond_the_limit_is_refused() {
        assert!(matches!(bytes(MOST_BYTES + 1), Err(PayloadError::TooLong { asked }) if asked == MOST_BYTES + 1));
    }

    #[test]
    fn the_stream_repeats_after_its_period() {
        let period = MOST_BYTES as u64;
        let (end, begin) = (piece(period - 3, 10).expect("memory"), piece(period, 10).expect("memory"));
        assert_eq!((end.len(), begin), (3, bytes(10).expect("memory")));
        assert_eq!(piece(2 * period + 5, 7).expect("memory"), &bytes(12).expect("memory")[5..]);
        let twice = [bytes(MOST_BYTES).expect("memory"), bytes(1000).expect("memory")].concat();
        assert_eq!(xxh3(period + 1000).expect("memory"), xxhash_rust::xxh3::xxh3_64(&twice));
    }

    proptest! {
        #[test]
        fn any_part_can_be_made_alone(offset in 0_usize..100_000, length in 0_usize..5_000) {
            let mut part = vec![0; length];
            fill(offset as u64, &mut part);
            prop_assert_eq!(&part[..], &bytes(offset + length).expect("memory")[offset..]);
        }
    }
}
