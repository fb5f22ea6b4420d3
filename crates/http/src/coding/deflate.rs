//! gzip and deflate through libdeflate, which takes whole bodies.

use std::ffi::c_void;
use std::ptr::NonNull;

use libdeflate_sys as ffi;

use super::decoder::DecodeError;
use super::{Coding, decoder};

/// Deflate can't make a body shorter than a 1032nd.
const MOST_RATIO: usize = 1032;

pub(super) fn library() -> String {
    // It tells no version at run time; the crate is pinned to the version that holds this one.
    "libdeflate 1.26".to_owned()
}

/// A compressor of one level.
#[derive(Debug)]
pub(super) struct Deflater(NonNull<ffi::libdeflate_compressor>);

// SAFETY: the compressor is plain memory of its owner.
unsafe impl Send for Deflater {}

impl Deflater {
    /// `None`: no memory.
    pub fn new(level: u8) -> Option<Self> {
        // SAFETY: any level is allowed.
        NonNull::new(unsafe { ffi::libdeflate_alloc_compressor(level.into()) }).map(Self)
    }

    /// Appends the encoded `bytes` to `out`; whether it succeeded.
    pub fn encode(&mut self, coding: Coding, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        let (bound, encode): (unsafe extern "C" fn(_, usize) -> usize, unsafe extern "C" fn(_, _, _, _, _) -> usize) =
            if coding == Coding::Gzip {
                (ffi::libdeflate_gzip_compress_bound, ffi::libdeflate_gzip_compress)
            } else {
                (ffi::libdeflate_zlib_compress_bound, ffi::libdeflate_zlib_compress)
            };
        let compressor = self.0.as_ptr();
        // SAFETY: it writes at most as many bytes as there is room for, and returns how many.
        unsafe {
            out.reserve(bound(compressor, bytes.len()));
            let room = out.spare_capacity_mut();
            let (start, most) = (room.as_mut_ptr().cast::<c_void>(), room.len());
            let length = encode(compressor, bytes.as_ptr().cast(), bytes.len(), start, most);
            out.set_len(out.len() + length);
            length > 0
        }
    }
}

impl Drop for Deflater {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        unsafe { ffi::libdeflate_free_compressor(self.0.as_ptr()) };
    }
}

/// A decompressor.
#[derive(Debug)]
pub(super) struct Inflater(NonNull<ffi::libdeflate_decompressor>);

// SAFETY: the decompressor is plain memory of its owner.
unsafe impl Send for Inflater {}

type Decode = unsafe extern "C" fn(
    *mut ffi::libdeflate_decompressor,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *mut usize,
    *mut usize,
) -> ffi::libdeflate_result;

impl Inflater {
    /// `None`: no memory.
    pub fn new() -> Option<Self> {
        // SAFETY: nothing is asked of the caller.
        NonNull::new(unsafe { ffi::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Appends the members of a gzip body (RFC 1952, section 2.2), or the one stream of a zlib body.
    pub fn decode(&mut self, coding: Coding, bytes: &[u8], most: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let begin = out.len();
        if coding == Coding::Deflate {
            let length = match self.stream(ffi::libdeflate_zlib_decompress_ex, coding, bytes, most, out) {
                Err(DecodeError::Broken(_)) if self.is_raw(bytes, most, out) => return Err(DecodeError::RawDeflate),
                other => other?,
            };
            return decoder::no_more(coding, &bytes[length..]);
        }
        let mut rest = bytes;
        loop {
            let left = most - (out.len() - begin);
            let length = match self.stream(ffi::libdeflate_gzip_decompress_ex, coding, rest, left, out) {
                Err(DecodeError::TooLong { .. }) => return Err(DecodeError::TooLong { most }),
                other => other?,
            };
            rest = &rest[length..];
            match rest {
                [] => return Ok(()),
                [0x1f, 0x8b, ..] => {}
                _ => return decoder::no_more(coding, rest),
            }
        }
    }

    /// Whether a body that is no zlib stream is a bare deflate stream.
    fn is_raw(&mut self, bytes: &[u8], most: usize, out: &mut Vec<u8>) -> bool {
        let begin = out.len();
        let raw = self.stream(ffi::libdeflate_deflate_decompress_ex, Coding::Deflate, bytes, most, out);
        out.truncate(begin);
        raw.is_ok_and(|length| length == bytes.len())
    }

    /// Appends one stream; how many bytes of input it had.
    fn stream(
        &mut self,
        decode: Decode,
        coding: Coding,
        bytes: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, DecodeError> {
        // The last four bytes of a gzip body are its length where it is one member; checked against what can be.
        let told = match (coding, bytes.last_chunk::<4>()) {
            (Coding::Gzip, Some(length)) => u32::from_le_bytes(*length) as usize,
            _ => bytes.len().saturating_mul(4),
        };
        let told = told.clamp(64, bytes.len().saturating_mul(MOST_RATIO).max(64));
        let mut room = told.max(out.capacity() - out.len()).min(most);
        loop {
            out.try_reserve(room).map_err(|_| DecodeError::Memory { coding })?;
            let free = out.spare_capacity_mut();
            let space = free.len().min(most);
            let (mut taken, mut made) = (0, 0);
            // SAFETY: it writes at most `space` bytes and says how many.
            let result = unsafe {
                let start = free.as_mut_ptr().cast::<c_void>();
                decode(self.0.as_ptr(), bytes.as_ptr().cast(), bytes.len(), start, space, &raw mut taken, &raw mut made)
            };
            match result {
                ffi::libdeflate_result_LIBDEFLATE_SUCCESS => {
                    // SAFETY: so many were written.
                    unsafe { out.set_len(out.len() + made) };
                    return Ok(taken);
                }
                ffi::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE if space >= most => {
                    return Err(DecodeError::TooLong { most });
                }
                ffi::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => room = space.saturating_mul(2).min(most),
                _ => return Err(DecodeError::Broken(coding)),
            }
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        unsafe { ffi::libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}
