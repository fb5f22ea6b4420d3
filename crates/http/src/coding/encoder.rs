//! Encoding whole bodies.

use super::brotli::{self, Brotli};
use super::deflate::Deflater;
use super::zstd::{self, Compressor};
use super::{Coding, Dictionary, Digest, Setting};

/// Prepared dictionaries that are kept; each costs about as much memory as its dictionary.
const MOST_PREPARED: usize = 16;

/// Why a body was not encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// It can't be done without one.
    #[error("{0} encodes against a dictionary: give one, or ask for br or zstd")]
    NoDictionary(Coding),
    /// The library refused, which it does for want of memory alone.
    #[error("{coding} at level {level} failed: give the process more memory, or take a lower level")]
    Failed {
        /// Which coding.
        coding: Coding,
        /// At which level.
        level: u8,
    },
}

enum Prepared {
    Brotli(brotli::Prepared),
    Zstd(zstd::Prepared),
}

/// Encodes bodies one after the other; what its codecs need is made once, when first needed.
#[derive(Default)]
pub struct Encoder {
    deflaters: [Option<Deflater>; 10],
    brotli: Brotli,
    zstd: Option<Compressor>,
    /// Oldest first; brotli's are the same for all levels.
    prepared: Vec<(Digest, Coding, u8, Prepared)>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl Encoder {
    /// Appends `bytes`, encoded as `setting` says, to `out`. After an error `out` is as before.
    pub fn encode(
        &mut self,
        setting: Setting,
        dictionary: Option<&Dictionary>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let begin = out.len();
        let result = self.run(setting, dictionary, bytes, out);
        if result.is_err() {
            out.truncate(begin);
        }
        result
    }

    fn run(
        &mut self,
        setting: Setting,
        dictionary: Option<&Dictionary>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let Setting { coding, level, window } = setting;
        let failed = EncodeError::Failed { coding, level };
        let done = match coding {
            Coding::Identity => {
                out.extend_from_slice(bytes);
                true
            }
            Coding::Gzip | Coding::Deflate => {
                let slot = &mut self.deflaters[usize::from(level)];
                if slot.is_none() {
                    *slot = Deflater::new(level);
                }
                slot.as_mut().is_some_and(|deflater| deflater.encode(coding, bytes, out))
            }
            Coding::Br => self.brotli.encode(level, window, None, bytes, out),
            Coding::Zstd => self.zstd().is_some_and(|zstd| zstd.encode(level, window, bytes, out).is_ok()),
            Coding::Dcb | Coding::Dcz => {
                let dictionary = dictionary.ok_or(EncodeError::NoDictionary(coding))?;
                out.extend_from_slice(&dictionary.header(coding));
                let at = self.prepare(coding, level, dictionary).ok_or(failed.clone())?;
                // Both lend from different fields.
                if self.zstd.is_none() {
                    self.zstd = Compressor::new();
                }
                match (&self.prepared[at].3, &mut self.zstd) {
                    (Prepared::Brotli(prepared), _) => self.brotli.encode(level, None, Some(prepared), bytes, out),
                    (Prepared::Zstd(prepared), Some(zstd)) => zstd.encode_with(prepared, bytes, out).is_ok(),
                    (Prepared::Zstd(_), None) => false,
                }
            }
        };
        if done { Ok(()) } else { Err(failed) }
    }

    fn zstd(&mut self) -> Option<&mut Compressor> {
        if self.zstd.is_none() {
            self.zstd = Compressor::new();
        }
        self.zstd.as_mut()
    }

    /// Where among the prepared dictionaries this one is.
    fn prepare(&mut self, coding: Coding, level: u8, dictionary: &Dictionary) -> Option<usize> {
        let level = if coding == Coding::Dcz { level } else { 0 };
        let key = (dictionary.digest(), coding, level);
        let known = self.prepared.iter().position(|entry| (entry.0, entry.1, entry.2) == key);
        if known.is_some() {
            return known;
        }
        let prepared = match coding {
            Coding::Dcz => Prepared::Zstd(zstd::Prepared::new(dictionary, level)?),
            _ => Prepared::Brotli(brotli::Prepared::new(dictionary)?),
        };
        if self.prepared.len() >= MOST_PREPARED {
            self.prepared.remove(0);
        }
        self.prepared.push((key.0, key.1, key.2, prepared));
        Some(self.prepared.len() - 1)
    }
}
