//! Compression dictionaries as HTTP uses them (RFC 9842).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::Coding;

/// SHA-256 of a dictionary, by which both sides name it.
pub type Digest = [u8; 32];

/// Before the digest, in a body with the coding `dcb` (RFC 9842, section 4).
const DCB_MAGIC: [u8; 4] = [0xff, 0x44, 0x43, 0x42];
/// Before the digest, in a body with the coding `dcz`: a skippable frame of 32 bytes (RFC 9842, section 5).
const DCZ_MAGIC: [u8; 8] = [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00];
/// How Zstandard's own dictionaries begin (RFC 8878, section 5).
const ZSTD_DICTIONARY: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();
/// The library ignores raw dictionaries below this.
const LEAST_BYTES: usize = 8;

/// What both sides have, to encode against; clones share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary {
    bytes: Arc<[u8]>,
    digest: Digest,
}

/// Bytes that can't be a dictionary here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitDictionary {
    /// Too short to be of use.
    #[error("a dictionary has {LEAST_BYTES} bytes at least: take an earlier response")]
    Short,
    /// It has Zstandard's own dictionary format, while RFC 9842 wants content as it is.
    #[error("the file is a Zstandard dictionary in its own format: take raw content, such as an earlier response")]
    Formatted,
}

impl Dictionary {
    /// A dictionary of raw content.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Result<Self, UnfitDictionary> {
        let bytes = bytes.into();
        if bytes.len() < LEAST_BYTES {
            return Err(UnfitDictionary::Short);
        }
        if bytes.starts_with(&ZSTD_DICTIONARY) {
            return Err(UnfitDictionary::Formatted);
        }
        let digest = Sha256::digest(&bytes).into();
        Ok(Self { bytes, digest })
    }

    /// Its content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its name.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The value of `Available-Dictionary` that offers it.
    #[must_use]
    pub fn offer(&self) -> String {
        format!(":{}:", STANDARD.encode(self.digest))
    }

    /// What a body that is encoded against it begins with.
    pub(super) fn header(&self, coding: Coding) -> Vec<u8> {
        let magic = if coding == Coding::Dcb { &DCB_MAGIC[..] } else { &DCZ_MAGIC[..] };
        [magic, &self.digest].concat()
    }
}

/// The digest in the value of `Available-Dictionary` (RFC 9842, section 2.2): one byte sequence (RFC 9651, section 3.3.5)
/// of 32 bytes. Anything else is no offer; parameters, of which none are defined, are ignored.
#[must_use]
pub fn available_dictionary(value: &[u8]) -> Option<Digest> {
    let sequence = value.trim_ascii().strip_prefix(b":")?;
    let end = memchr::memchr(b':', sequence)?;
    let parameters = &sequence[end + 1..];
    if !parameters.is_empty() && !parameters.starts_with(b";") {
        return None;
    }
    let mut digest = [0; 32];
    // The decoder asks for room for the padding too.
    let mut room = [0; 36];
    let length = STANDARD.decode_slice(&sequence[..end], &mut room).ok()?;
    (length == digest.len()).then(|| digest.copy_from_slice(&room[..length]))?;
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::{Dictionary, UnfitDictionary, available_dictionary};

    #[test]
    fn the_offer_of_a_dictionary_is_read_back() {
        let dictionary = Dictionary::new(&b"an earlier response"[..]).expect("a dictionary");
        let offer = dictionary.offer();
        assert_eq!(available_dictionary(offer.as_bytes()), Some(dictionary.digest()));
        assert_eq!(available_dictionary(format!(" {offer};x=1 ").as_bytes()), Some(dictionary.digest()));
    }

    #[test]
    fn the_digest_is_that_of_the_rfc_s_own_example_form() {
        // RFC 9842, section 2.2.
        let offer = b":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:";
        let digest = available_dictionary(offer).expect("an offer");
        assert_eq!(digest[..4], [0xa5, 0x91, 0xa6, 0xd4]);
    }

    #[test]
    fn what_is_no_byte_sequence_of_32_bytes_is_no_offer() {
        for wrong in ["", ":", "::", ":AAAA:", "pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=", "?1", ":!:"] {
            assert_eq!(available_dictionary(wrong.as_bytes()), None, "{wrong}");
        }
        let long = format!(":{}:", "A".repeat(400));
        assert_eq!(available_dictionary(long.as_bytes()), None);
        let twice = ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:, :AAAA:";
        assert_eq!(available_dictionary(twice.as_bytes()), None);
    }

    #[test]
    fn what_is_no_raw_content_is_refused() {
        assert_eq!(Dictionary::new(&b"short"[..]), Err(UnfitDictionary::Short));
        assert_eq!(Dictionary::new(&b"\x37\xa4\x30\xec12345"[..]), Err(UnfitDictionary::Formatted));
    }
}
