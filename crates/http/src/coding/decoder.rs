//! Decoding, never beyond what the caller allows.

use super::brotli::Brotli;
use super::deflate::Inflater;
use super::zstd::Decompressor;
use super::{Coding, Dictionary};

/// Why a body does not decode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are not what the coding says; a gzip or deflate body that ends too early is told so as well.
    #[error("the body is not {0}, or broken on its way")]
    Broken(Coding),
    /// The body ends before its coding does.
    #[error("the body ends in the middle of its {0} stream")]
    Truncated(Coding),
    /// The coding ends before the body does.
    #[error("{bytes} bytes follow the end of the {coding} stream")]
    Trailing {
        /// Which coding.
        coding: Coding,
        /// How many.
        bytes: usize,
    },
    /// The decoded body is longer than allowed.
    #[error("the body is longer than {most} bytes when decoded: expect a longer one, or suspect the server")]
    TooLong {
        /// What was allowed, in bytes.
        most: usize,
    },
    /// What old servers send as `deflate`.
    #[error("the body is a bare deflate stream, but the coding deflate is the zlib format (RFC 9110, section 8.4.1.2)")]
    RawDeflate,
    /// A window beyond what the coding allows.
    #[error(
        "the {coding} stream asks for a window of {bytes} bytes, but {most} is the most that clients have to offer"
    )]
    Window {
        /// Which coding.
        coding: Coding,
        /// What it asks for.
        bytes: u64,
        /// What is allowed.
        most: u64,
    },
    /// It can't be read without its dictionary.
    #[error("the body is {0}, but no dictionary was offered")]
    NoDictionary(Coding),
    /// It was encoded against another dictionary, or its header is none.
    #[error("the body's header does not name the dictionary that was offered")]
    OtherDictionary(Coding),
    /// The system has none.
    #[error("no memory for decoding {coding}: allow fewer connections or shorter bodies")]
    Memory {
        /// Which coding.
        coding: Coding,
    },
}

/// That nothing follows the end of a coded body.
pub(super) const fn no_more(coding: Coding, rest: &[u8]) -> Result<(), DecodeError> {
    if rest.is_empty() { Ok(()) } else { Err(DecodeError::Trailing { coding, bytes: rest.len() }) }
}

/// Decodes bodies one after the other.
#[derive(Default)]
pub struct Decoder {
    inflater: Option<Inflater>,
    brotli: Brotli,
    zstd: Option<Decompressor>,
}

impl Decoder {
    /// Appends to `out` what `bytes`, a whole body, encode: `most` bytes at most. After an error `out` is as before.
    ///
    /// `out` with room for the body that is expected saves attempts at a length.
    pub fn decode(
        &mut self,
        coding: Coding,
        dictionary: Option<&Dictionary>,
        bytes: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let begin = out.len();
        let result = self.run(coding, dictionary, bytes, most, out);
        if result.is_err() {
            out.truncate(begin);
        }
        result
    }

    fn run(
        &mut self,
        coding: Coding,
        dictionary: Option<&Dictionary>,
        bytes: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let memory = DecodeError::Memory { coding };
        match coding {
            Coding::Identity if bytes.len() > most => Err(DecodeError::TooLong { most }),
            Coding::Identity => {
                out.extend_from_slice(bytes);
                Ok(())
            }
            Coding::Gzip | Coding::Deflate => {
                if self.inflater.is_none() {
                    self.inflater = Some(Inflater::new().ok_or(memory.clone())?);
                }
                self.inflater.as_mut().ok_or(memory)?.decode(coding, bytes, most, out)
            }
            Coding::Br => self.brotli.decode(coding, None, bytes, most, out),
            Coding::Dcb => {
                let (dictionary, stream) = against(coding, dictionary, bytes)?;
                self.brotli.decode(coding, Some(dictionary), stream, most, out)
            }
            Coding::Zstd => self.zstd(coding)?.decode(coding, None, bytes, most, out),
            Coding::Dcz => {
                let (dictionary, stream) = against(coding, dictionary, bytes)?;
                self.zstd(coding)?.decode(coding, Some(dictionary), stream, most, out)
            }
        }
    }

    fn zstd(&mut self, coding: Coding) -> Result<&mut Decompressor, DecodeError> {
        if self.zstd.is_none() {
            self.zstd = Decompressor::new();
        }
        self.zstd.as_mut().ok_or(DecodeError::Memory { coding })
    }
}

/// The dictionary that the body's header names, and what follows the header.
fn against<'d, 'b>(
    coding: Coding,
    dictionary: Option<&'d Dictionary>,
    bytes: &'b [u8],
) -> Result<(&'d Dictionary, &'b [u8]), DecodeError> {
    let dictionary = dictionary.ok_or(DecodeError::NoDictionary(coding))?;
    let stream = bytes.strip_prefix(dictionary.header(coding).as_slice());
    stream.map(|stream| (dictionary, stream)).ok_or(DecodeError::OtherDictionary(coding))
}
