//! Undoing content codings with the libraries that reqwest itself decodes with.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::read::{GzDecoder, ZlibDecoder};

/// Brotli's reader takes its input in pieces of so many bytes.
const BROTLI_BUFFER_BYTES: usize = 64 << 10;

/// The body without its coding.
///
/// # Errors
/// The coding is not known, or the body is not what it says.
pub fn decode<'a>(coding: &str, body: &'a [u8]) -> io::Result<Cow<'a, [u8]>> {
    let whole = match coding {
        "identity" => return Ok(Cow::Borrowed(body)),
        "gzip" => read(GzDecoder::new(body)),
        "deflate" => read(ZlibDecoder::new(body)),
        "br" => read(brotli::Decompressor::new(body, BROTLI_BUFFER_BYTES)),
        "zstd" => zstd::stream::decode_all(body),
        other => Err(io::Error::other(format!("there is no decoder for Content-Encoding: {other}"))),
    };
    whole.map(Cow::Owned)
}

fn read(mut decoder: impl Read) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    decoder.read_to_end(&mut whole)?;
    Ok(whole)
}
