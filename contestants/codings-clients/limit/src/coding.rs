//! Content codings, each undone by one call into a buffer that is there already.

use std::fmt;

use zstd_safe::DCtx;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    Deflate,
    Br,
    Zstd,
}

impl Coding {
    pub fn named(name: &[u8]) -> Option<Self> {
        [Self::Identity, Self::Gzip, Self::Deflate, Self::Br, Self::Zstd]
            .into_iter()
            .find(|coding| name.eq_ignore_ascii_case(coding.name().as_bytes()))
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Br => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// A body that is not what its coding says, or longer than was due.
#[derive(Debug)]
pub struct Undecodable(Coding);

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the body is no whole {} stream of the size that was due", self.0.name())
    }
}

/// What the codecs keep from body to body.
pub struct Decoder {
    deflate: libdeflater::Decompressor,
    zstd: DCtx<'static>,
    decoded: Vec<u8>,
}

impl Decoder {
    /// For bodies of up to `most_bytes`, decoded.
    pub fn new(most_bytes: usize) -> Self {
        Self { deflate: libdeflater::Decompressor::new(), zstd: DCtx::create(), decoded: vec![0; most_bytes] }
    }

    /// The body without its coding.
    ///
    /// # Errors
    /// [`Undecodable`].
    pub fn decode<'a>(&'a mut self, coding: Coding, body: &'a [u8]) -> Result<&'a [u8], Undecodable> {
        let into = &mut self.decoded[..];
        let bytes = match coding {
            Coding::Identity => return Ok(body),
            Coding::Gzip => self.deflate.gzip_decompress(body, into).ok(),
            Coding::Deflate => self.deflate.zlib_decompress(body, into).ok(),
            Coding::Br => brotlic::decompress(body, into).ok(),
            Coding::Zstd => self.zstd.decompress(into, body).ok(),
        };
        bytes.map(|bytes| &self.decoded[..bytes]).ok_or(Undecodable(coding))
    }
}

#[cfg(test)]
mod tests {
    use super::{Coding, Decoder};

    /// `Hello World!` in each coding.
    const CODED: [(Coding, &[u8]); 5] = [
        (Coding::Identity, b"Hello World!"),
        (Coding::Gzip, b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xf3H\xcd\xc9\xc9W\x08\xcf/\xcaIQ\x04\x00\xa3\x1c)\x1c\x0c\x00\x00\x00"),
        (Coding::Deflate, b"x\x9c\xf3H\xcd\xc9\xc9W\x08\xcf/\xcaIQ\x04\x00\x1cI\x04>"),
        (Coding::Br, b"\x8b\x05\x80Hello World!\x03"),
        (Coding::Zstd, b"\x28\xb5\x2f\xfd\x20\x0c\x61\x00\x00Hello World!"),
    ];

    #[test]
    fn every_coding_is_undone_and_a_body_that_is_too_long_or_cut_off_is_none() {
        for (coding, body) in CODED {
            assert_eq!(Decoder::new(12).decode(coding, body).unwrap(), b"Hello World!", "{coding:?}");
            if coding != Coding::Identity {
                assert!(Decoder::new(11).decode(coding, body).is_err(), "{coding:?}");
                assert!(Decoder::new(12).decode(coding, &body[..body.len() - 1]).is_err(), "{coding:?}");
            }
        }
    }
}
