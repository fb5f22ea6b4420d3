//! Content codings (RFC 9110, section 8.4.1): which there are, and how to encode, decode and choose them.
//!
//! An [`Encoder`] and a [`Decoder`] keep what their codecs need, so that a response takes no memory anew; both work on whole
//! bodies. [`negotiate`] reads `Accept-Encoding`; [`Dictionary`] is what `dcb` and `dcz` (RFC 9842) encode against.

mod brotli;
mod decoder;
mod deflate;
mod dictionary;
mod encoder;
mod negotiate;
mod pool;
#[cfg(test)]
mod tests;
mod zstd;

use std::fmt;
use std::ops::RangeInclusive;

pub use decoder::{DecodeError, Decoder};
pub use dictionary::{Dictionary, Digest, UnfitDictionary, available_dictionary};
pub use encoder::{EncodeError, Encoder};
pub use negotiate::{Choice, negotiate};

/// Largest window of a frame with the coding `zstd`: 8 MiB (RFC 9659).
pub const MOST_ZSTD_WINDOW_BYTES: u64 = 8 << 20;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Coding {
    /// As it is.
    Identity,
    /// RFC 1952.
    Gzip,
    /// The zlib format (RFC 1950) around a deflate stream, as RFC 9110 says; not a bare stream.
    Deflate,
    /// Brotli, RFC 7932.
    Br,
    /// Zstandard, RFC 8878, with windows up to 8 MiB (RFC 9659).
    Zstd,
    /// Brotli with a dictionary, RFC 9842.
    Dcb,
    /// Zstandard with a dictionary, RFC 9842.
    Dcz,
}

impl Coding {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Identity, Self::Gzip, Self::Deflate, Self::Br, Self::Zstd, Self::Dcb, Self::Dcz];

    /// As it stands in `Content-Encoding`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Br => "br",
            Self::Zstd => "zstd",
            Self::Dcb => "dcb",
            Self::Dcz => "dcz",
        }
    }

    /// The coding of that name in any case; `x-gzip` is `gzip` (RFC 9110, section 8.4.1.3).
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        let all = Self::ALL.into_iter().find(|coding| name.eq_ignore_ascii_case(coding.name().as_bytes()));
        all.or_else(|| name.eq_ignore_ascii_case(b"x-gzip").then_some(Self::Gzip))
    }

    /// The levels it can be asked for; none where there is nothing to choose.
    #[must_use]
    pub const fn levels(self) -> Option<RangeInclusive<u8>> {
        match self {
            Self::Identity => None,
            Self::Gzip | Self::Deflate => Some(1..=9),
            Self::Br | Self::Dcb => Some(0..=11),
            Self::Zstd | Self::Dcz => Some(1..=22),
        }
    }

    /// The level where none is asked for: what encodes while a client waits.
    #[must_use]
    pub const fn default_level(self) -> u8 {
        match self {
            Self::Identity => 0,
            Self::Gzip | Self::Deflate => 6,
            Self::Br | Self::Dcb => 5,
            Self::Zstd | Self::Dcz => 3,
        }
    }

    /// The windows it can be asked for, as powers of two; none where the format or the library fixes it.
    #[must_use]
    pub const fn windows(self) -> Option<RangeInclusive<u8>> {
        match self {
            Self::Br => Some(10..=24),
            Self::Zstd => Some(10..=23),
            _ => None,
        }
    }

    /// Whether it needs a [`Dictionary`].
    #[must_use]
    pub const fn needs_dictionary(self) -> bool {
        matches!(self, Self::Dcb | Self::Dcz)
    }

    /// The library that encodes and decodes it here, with its version.
    #[must_use]
    pub fn library(self) -> String {
        match self {
            Self::Identity => "none".to_owned(),
            Self::Gzip | Self::Deflate => deflate::library(),
            Self::Br | Self::Dcb => brotli::library(),
            Self::Zstd | Self::Dcz => zstd::library(),
        }
    }
}

/// What the `Content-Encoding` fields of a response say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentEncoding {
    /// There are none: the body is as it is.
    #[default]
    Absent,
    /// One coding that is known here. Never identity, which has no place in the field (RFC 9110, section 8.4).
    One(Coding),
    /// Several, or one that is not known.
    Other,
}

impl ContentEncoding {
    /// With one more line of the field.
    #[must_use]
    pub fn and(self, value: &[u8]) -> Self {
        match (self, Coding::named(value.trim_ascii())) {
            (Self::Absent, Some(coding)) if coding != Coding::Identity => Self::One(coding),
            _ if value.trim_ascii().is_empty() => self,
            _ => Self::Other,
        }
    }

    /// Whether it says that the body is in this coding.
    #[must_use]
    pub fn is(self, coding: Coding) -> bool {
        match self {
            Self::Absent => coding == Coding::Identity,
            Self::One(said) => said == coding,
            Self::Other => false,
        }
    }

    /// As evidence says it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "identity",
            Self::One(coding) => coding.name(),
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A coding with its level and window, all within their ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    coding: Coding,
    level: u8,
    window: Option<u8>,
}

/// There is no such setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// A level beyond the coding's.
    #[error("{coding} has no level {level}: ask for {} to {}", .range.start(), .range.end())]
    Level {
        /// Of which coding.
        coding: Coding,
        /// What was asked for.
        level: u64,
        /// What there is.
        range: RangeInclusive<u8>,
    },
    /// A level where there are none.
    #[error("{0} has no levels: leave the level out, or ask for a coding")]
    NoLevels(Coding),
    /// A window beyond the coding's.
    #[error("{coding} has no window {window}: ask for {} to {}, a power of two in bytes", .range.start(), .range.end())]
    Window {
        /// Of which coding.
        coding: Coding,
        /// What was asked for.
        window: u64,
        /// What there is.
        range: RangeInclusive<u8>,
    },
    /// A window where none can be chosen.
    #[error("the window of {0} can't be chosen: leave it out, or ask for br or zstd")]
    NoWindows(Coding),
}

impl Setting {
    /// `coding` at `level` with a window of 2^`window` bytes; what is left out is the coding's default.
    pub fn new(coding: Coding, level: Option<u64>, window: Option<u64>) -> Result<Self, SettingError> {
        let within = |range: &RangeInclusive<u8>, asked: u64| u8::try_from(asked).ok().filter(|it| range.contains(it));
        let level = match (level, coding.levels()) {
            (None, _) => coding.default_level(),
            (Some(_), None) => return Err(SettingError::NoLevels(coding)),
            (Some(level), Some(range)) => within(&range, level).ok_or(SettingError::Level { coding, level, range })?,
        };
        let window = match (window, coding.windows()) {
            (None, _) => None,
            (Some(_), None) => return Err(SettingError::NoWindows(coding)),
            (Some(window), Some(range)) => {
                Some(within(&range, window).ok_or(SettingError::Window { coding, window, range })?)
            }
        };
        Ok(Self { coding, level, window })
    }

    /// The coding at its default level.
    #[must_use]
    pub const fn default_of(coding: Coding) -> Self {
        Self { coding, level: coding.default_level(), window: None }
    }

    /// Which coding.
    #[must_use]
    pub const fn coding(self) -> Coding {
        self.coding
    }

    /// At which level; 0 for identity.
    #[must_use]
    pub const fn level(self) -> u8 {
        self.level
    }

    /// With which window, as a power of two; none: the codec's own choice.
    #[must_use]
    pub const fn window(self) -> Option<u8> {
        self.window
    }
}
