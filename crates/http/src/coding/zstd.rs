//! Zstandard through its own library.

use zstd_safe::zstd_sys::ZSTD_ErrorCode as Code;
use zstd_safe::{CCtx, CDict, CParameter, DCtx, ErrorCode, ResetDirective, WriteBuf};

use super::decoder::DecodeError;
use super::{Coding, Dictionary, MOST_ZSTD_WINDOW_BYTES};

/// From this level on the library would take windows beyond [`MOST_ZSTD_WINDOW_BYTES`].
const FIRST_WIDE_LEVEL: u8 = 20;
const MOST_WINDOW_LOG: u32 = MOST_ZSTD_WINDOW_BYTES.ilog2();
/// `dcz` may use a window up to this, for dictionaries that are longer than 8 MiB (RFC 9842, section 5).
const MOST_DICTIONARY_WINDOW_BYTES: u64 = 128 << 20;
const TOO_SMALL: ErrorCode = (Code::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();
/// What a frame that is cut off gives.
const CUT: ErrorCode = (Code::ZSTD_error_srcSize_wrong as usize).wrapping_neg();
const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

pub(super) fn library() -> String {
    format!("zstd {}", zstd_safe::version_string())
}

/// A context for encoding, with the setting that it has.
pub(super) struct Compressor {
    context: CCtx<'static>,
    set: Option<(u8, Option<u8>)>,
}

/// A dictionary digested for one level.
pub(super) struct Prepared(CDict<'static>);

impl Prepared {
    /// `None`: no memory.
    pub fn new(dictionary: &Dictionary, level: u8) -> Option<Self> {
        CDict::try_create(dictionary.bytes(), level.into()).map(Self)
    }
}

impl Compressor {
    /// `None`: no memory.
    pub fn new() -> Option<Self> {
        Some(Self { context: CCtx::try_create()?, set: None })
    }

    fn set(&mut self, level: u8, window: Option<u8>) -> Result<(), usize> {
        if self.set == Some((level, window)) {
            return Ok(());
        }
        self.set = None;
        self.context.reset(ResetDirective::SessionAndParameters)?;
        self.context.set_parameter(CParameter::CompressionLevel(level.into()))?;
        let cap = (level >= FIRST_WIDE_LEVEL).then_some(MOST_WINDOW_LOG);
        if let Some(log) = window.map(u32::from).or(cap) {
            self.context.set_parameter(CParameter::WindowLog(log))?;
        }
        self.set = Some((level, window));
        Ok(())
    }

    /// Appends one frame, or says why not.
    pub fn encode(
        &mut self,
        level: u8,
        window: Option<u8>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        self.set(level, window).map_err(zstd_safe::get_error_name)?;
        append(out, zstd_safe::compress_bound(bytes.len()), |room| self.context.compress2(room, bytes))
            .map_err(zstd_safe::get_error_name)
    }

    /// Appends one frame that needs the dictionary to be read.
    pub fn encode_with(&mut self, prepared: &Prepared, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        append(out, zstd_safe::compress_bound(bytes.len()), |room| {
            self.context.compress_using_cdict(room, bytes, &prepared.0)
        })
        .map_err(zstd_safe::get_error_name)
    }
}

/// The room behind a vector's bytes, at most so many.
struct Tail<'a> {
    out: &'a mut Vec<u8>,
    begin: usize,
    most: usize,
}

// SAFETY: the room was reserved when the tail was made, and the vector is borrowed meanwhile.
unsafe impl WriteBuf for Tail<'_> {
    fn as_slice(&self) -> &[u8] {
        &self.out[self.begin..]
    }

    fn capacity(&self) -> usize {
        self.most
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.out.spare_capacity_mut().as_mut_ptr().cast()
    }

    unsafe fn filled_until(&mut self, n: usize) {
        // SAFETY: the caller has written so many.
        unsafe { self.out.set_len(self.begin + n) };
    }
}

/// Has `write` fill at most `most` bytes behind `out`.
fn append(
    out: &mut Vec<u8>,
    most: usize,
    write: impl FnOnce(&mut Tail<'_>) -> Result<usize, ErrorCode>,
) -> Result<(), ErrorCode> {
    out.reserve(most);
    let begin = out.len();
    write(&mut Tail { out, begin, most }).map(drop)
}

/// What the headers of a body's frames say.
struct Frames {
    /// Length of the decoded body, where all frames tell.
    content_bytes: Option<u64>,
}

impl Frames {
    /// Walks over the frames without decoding them.
    fn of(coding: Coding, bytes: &[u8], most_window: u64) -> Result<Self, DecodeError> {
        let (mut rest, mut content_bytes) = (bytes, Some(0_u64));
        if rest.is_empty() {
            return Err(DecodeError::Truncated(coding));
        }
        while !rest.is_empty() {
            let skippable = rest.len() >= 4 && rest[0] & 0xf0 == 0x50 && rest[1..4] == [0x2a, 0x4d, 0x18];
            if !skippable && !MAGIC.starts_with(&rest[..rest.len().min(4)]) {
                let begins = rest.len() == bytes.len();
                let error = DecodeError::Trailing { coding, bytes: rest.len() };
                return Err(if begins { DecodeError::Broken(coding) } else { error });
            }
            if !skippable {
                let told = zstd_safe::get_frame_content_size(rest).ok().flatten();
                let window = window_bytes(rest, told).ok_or(DecodeError::Truncated(coding))?;
                if window > most_window {
                    return Err(DecodeError::Window { coding, bytes: window, most: most_window });
                }
                content_bytes = content_bytes.zip(told).map(|(sum, told)| sum.saturating_add(told));
            }
            let length = zstd_safe::find_frame_compressed_size(rest).map_err(|code| match code {
                CUT => DecodeError::Truncated(coding),
                _ => DecodeError::Broken(coding),
            })?;
            rest = &rest[length..];
        }
        Ok(Self { content_bytes })
    }
}

/// The window that a frame asks for (RFC 8878, section 3.1.1.1); `None`: the header is cut off.
fn window_bytes(frame: &[u8], content_bytes: Option<u64>) -> Option<u64> {
    let descriptor = frame.get(4)?;
    if descriptor & 0x20 != 0 {
        return content_bytes;
    }
    let window = frame.get(5)?;
    let base = 1_u64 << (10 + (window >> 3));
    Some(base + base / 8 * u64::from(window & 7))
}

/// A context for decoding.
pub(super) struct Decompressor(DCtx<'static>);

impl Decompressor {
    /// `None`: no memory.
    pub fn new() -> Option<Self> {
        DCtx::try_create().map(Self)
    }

    /// Appends what all frames hold.
    pub fn decode(
        &mut self,
        coding: Coding,
        dictionary: Option<&Dictionary>,
        bytes: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let dictionary = dictionary.map_or(&[][..], Dictionary::bytes);
        let most_window = (dictionary.len() as u64 * 5 / 4).clamp(MOST_ZSTD_WINDOW_BYTES, MOST_DICTIONARY_WINDOW_BYTES);
        let frames = Frames::of(coding, bytes, most_window)?;
        let told = frames.content_bytes.map(|told| usize::try_from(told).unwrap_or(usize::MAX));
        if told.is_some_and(|told| told > most) {
            return Err(DecodeError::TooLong { most });
        }
        let mut room = told.unwrap_or_else(|| bytes.len().saturating_mul(8).max(out.capacity() - out.len()).min(most));
        loop {
            out.try_reserve(room).map_err(|_| DecodeError::Memory { coding })?;
            let decoded = append(out, room, |room| match dictionary {
                [] => self.0.decompress(room, bytes),
                _ => self.0.decompress_using_dict(room, bytes, dictionary),
            });
            match decoded {
                Ok(()) => return Ok(()),
                Err(TOO_SMALL) if told.is_none() && room >= most => return Err(DecodeError::TooLong { most }),
                Err(TOO_SMALL) if told.is_none() => {
                    room = room.saturating_mul(2).clamp(1024, most);
                }
                Err(_) => return Err(DecodeError::Broken(coding)),
            }
        }
    }
}
