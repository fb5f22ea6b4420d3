//! Brotli through its own library.

use std::ptr::{NonNull, null_mut};

use compu_brotli_sys as ffi;

use super::decoder::{self, DecodeError};
use super::pool::Pool;
use super::{Coding, Dictionary};

/// What the format allows without the "large window" extension, and what the encoder takes where nothing is asked for.
const DEFAULT_WINDOW: u8 = 22;
/// Dictionaries are prepared once for all levels.
const PREPARE_QUALITY: i32 = 11;
/// A first guess at how much longer a body is when decoded.
const LIKELY_RATIO: usize = 8;

pub(super) fn library() -> String {
    // SAFETY: it returns a constant.
    let version = unsafe { ffi::BrotliEncoderVersion() };
    format!("brotli {}.{}.{}", version >> 24, version >> 12 & 0xfff, version & 0xfff)
}

/// A dictionary made ready for encoding.
#[derive(Debug)]
pub(super) struct Prepared {
    dictionary: NonNull<ffi::BrotliEncoderPreparedDictionary>,
    /// What the prepared one points into.
    _bytes: Dictionary,
}

// SAFETY: it is only read once made, and its bytes are shared and unchanging.
unsafe impl Send for Prepared {}

impl Prepared {
    /// `None`: no memory.
    pub fn new(dictionary: &Dictionary) -> Option<Self> {
        let bytes = dictionary.bytes();
        // SAFETY: the bytes live as long as what is made of them: they are kept beside it.
        let prepared = unsafe {
            let kind = ffi::BrotliSharedDictionaryType_BROTLI_SHARED_DICTIONARY_RAW;
            let (length, start) = (bytes.len(), bytes.as_ptr());
            ffi::BrotliEncoderPrepareDictionary(kind, length, start, PREPARE_QUALITY, None, None, null_mut())
        };
        Some(Self { dictionary: NonNull::new(prepared)?, _bytes: dictionary.clone() })
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: no encoder outlives one call of `encode`.
        unsafe { ffi::BrotliEncoderDestroyPreparedDictionary(self.dictionary.as_ptr()) };
    }
}

/// Encoders and decoders, of which only the memory outlives a body: the library can't start one over.
#[derive(Debug, Default)]
pub(super) struct Brotli {
    pool: Box<Pool>,
}

/// An encoder for one body.
struct State(NonNull<ffi::BrotliEncoderState>);

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: it is not used again; its pool outlives it.
        unsafe { ffi::BrotliEncoderDestroyInstance(self.0.as_ptr()) };
    }
}

/// A decoder for one body.
struct Reading(NonNull<ffi::BrotliDecoderState>);

impl Drop for Reading {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { ffi::BrotliDecoderDestroyInstance(self.0.as_ptr()) };
    }
}

impl Brotli {
    /// Appends the encoded `bytes` to `out`; whether it succeeded.
    pub fn encode(
        &mut self,
        level: u8,
        window: Option<u8>,
        prepared: Option<&Prepared>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> bool {
        let pool = (&raw mut *self.pool).cast();
        // SAFETY: the pool is not used by anything else until the encoder is dropped; the dictionary outlives it too; output
        // goes to reserved room, whose length is given.
        unsafe {
            let made = ffi::BrotliEncoderCreateInstance(Some(Pool::take), Some(Pool::give), pool);
            let Some(state) = NonNull::new(made).map(State) else { return false };
            let encoder = state.0.as_ptr();
            let window = window.unwrap_or(DEFAULT_WINDOW);
            let hint = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            let mut set =
                ffi::BrotliEncoderSetParameter(encoder, ffi::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, level.into());
            set &=
                ffi::BrotliEncoderSetParameter(encoder, ffi::BrotliEncoderParameter_BROTLI_PARAM_LGWIN, window.into());
            set &= ffi::BrotliEncoderSetParameter(encoder, ffi::BrotliEncoderParameter_BROTLI_PARAM_SIZE_HINT, hint);
            if let Some(prepared) = prepared {
                set &= ffi::BrotliEncoderAttachPreparedDictionary(encoder, prepared.dictionary.as_ptr());
            }
            out.reserve(ffi::BrotliEncoderMaxCompressedSize(bytes.len()).max(64));
            let (mut next_in, mut left_in) = (bytes.as_ptr(), bytes.len());
            while set != 0 && ffi::BrotliEncoderIsFinished(encoder) == 0 {
                // The bound does not hold with a dictionary.
                out.reserve(1024);
                let room = out.spare_capacity_mut();
                let (mut next_out, mut left_out) = (room.as_mut_ptr().cast::<u8>(), room.len());
                let before = left_out;
                set = ffi::BrotliEncoderCompressStream(
                    encoder,
                    ffi::BrotliEncoderOperation_BROTLI_OPERATION_FINISH,
                    &raw mut left_in,
                    &raw mut next_in,
                    &raw mut left_out,
                    &raw mut next_out,
                    null_mut(),
                );
                out.set_len(out.len() + before - left_out);
            }
            set != 0
        }
    }

    /// Appends the body that `bytes` encode.
    pub fn decode(
        &mut self,
        coding: Coding,
        dictionary: Option<&Dictionary>,
        bytes: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let (pool, begin) = ((&raw mut *self.pool).cast(), out.len());
        // SAFETY: as for encoding; the dictionary is borrowed for longer than the decoder lives.
        unsafe {
            let made = ffi::BrotliDecoderCreateInstance(Some(Pool::take), Some(Pool::give), pool);
            let reading = NonNull::new(made).map(Reading).ok_or(DecodeError::Memory { coding })?;
            let decoder = reading.0.as_ptr();
            if let Some(dictionary) = dictionary.map(Dictionary::bytes) {
                let kind = ffi::BrotliSharedDictionaryType_BROTLI_SHARED_DICTIONARY_RAW;
                if ffi::BrotliDecoderAttachDictionary(decoder, kind, dictionary.len(), dictionary.as_ptr()) == 0 {
                    return Err(DecodeError::Memory { coding });
                }
            }
            let (mut next_in, mut left_in) = (bytes.as_ptr(), bytes.len());
            let likely = bytes.len().saturating_mul(LIKELY_RATIO).max(64);
            let mut room = likely.max(out.capacity() - begin).min(most);
            loop {
                out.try_reserve(room).map_err(|_| DecodeError::Memory { coding })?;
                let left = most - (out.len() - begin);
                let free = out.spare_capacity_mut();
                let before = free.len().min(left);
                let (mut next_out, mut left_out) = (free.as_mut_ptr().cast::<u8>(), before);
                let result = ffi::BrotliDecoderDecompressStream(
                    decoder,
                    &raw mut left_in,
                    &raw mut next_in,
                    &raw mut left_out,
                    &raw mut next_out,
                    null_mut(),
                );
                out.set_len(out.len() + before - left_out);
                match result {
                    ffi::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS => {
                        return decoder::no_more(coding, &bytes[bytes.len() - left_in..]);
                    }
                    ffi::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT => {
                        return Err(DecodeError::Truncated(coding));
                    }
                    ffi::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT => {
                        let length = out.len() - begin;
                        if length >= most {
                            return Err(DecodeError::TooLong { most });
                        }
                        room = length.max(64).min(most - length);
                    }
                    _ => return Err(DecodeError::Broken(coding)),
                }
            }
        }
    }
}
