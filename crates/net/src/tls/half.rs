//! One direction of a connection's records: its key, and how many records it has served.

use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};
use rustls::ConnectionTrafficSecrets;

use super::Failure;

/// Type, version and length in front of each record.
pub(super) const HEAD_BYTES: usize = 5;
/// Most bytes of text that a record may have (RFC 8446, 5.1).
pub(super) const MOST_TEXT: usize = 1 << 14;
/// Most bytes that may follow the head: text, its type, padding and tag (RFC 8446, 5.2).
const MOST_BODY: usize = MOST_TEXT + 256;
/// Type and tag of a record without padding.
const AROUND_TEXT: usize = 1 + 16;
/// Bytes that a record adds to its text.
pub(super) const RECORD_OVERHEAD: usize = HEAD_BYTES + AROUND_TEXT;
/// Records after which a key is replaced: half of what AES-GCM may serve (RFC 8446, 5.5: 2^24.5).
const MOST_RECORDS: u64 = 1 << 23;

/// What a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Alert = 21,
    Handshake = 22,
    Data = 23,
}

/// A key with its nonces.
#[derive(Debug)]
pub(super) struct Half {
    key: LessSafeKey,
    /// The four bytes of the nonces that stay, and what the others are counted on.
    iv: ([u8; NONCE_LEN - 8], u64),
    sequence: u64,
}

impl Half {
    /// Begins with the record of number `sequence`.
    pub fn new(sequence: u64, secrets: &ConnectionTrafficSecrets) -> Result<Self, Failure> {
        let unusable = || Failure::Handshake { why: "its cipher can't be used here".to_owned() };
        let (algorithm, key, iv): (&'static Algorithm, _, _) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return Err(unusable()),
        };
        let key = UnboundKey::new(algorithm, key.as_ref()).map_err(|_| unusable())?;
        let (fixed, counted) = iv.as_ref().split_first_chunk().ok_or_else(unusable)?;
        let counted = counted.try_into().map_err(|_| unusable())?;
        Ok(Self { key: LessSafeKey::new(key), iv: (*fixed, u64::from_be_bytes(counted)), sequence })
    }

    /// Whether the key has served long enough.
    pub const fn is_worn(&self) -> bool {
        self.sequence >= MOST_RECORDS
    }

    /// The per-record nonce of RFC 8446, 5.3.
    fn nonce(&mut self) -> Nonce {
        let mut nonce = [0; NONCE_LEN];
        let (fixed, counted) = self.iv;
        nonce[..NONCE_LEN - 8].copy_from_slice(&fixed);
        nonce[NONCE_LEN - 8..].copy_from_slice(&(counted ^ self.sequence).to_be_bytes());
        self.sequence += 1;
        Nonce::assume_unique_for_key(nonce)
    }

    /// Appends a record to `into`, with the text that `write` appends: at most [`MOST_TEXT`] bytes.
    pub fn seal(&mut self, kind: Kind, into: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let start = into.len();
        into.extend_from_slice(&[23, 3, 3, 0, 0]);
        write(into);
        let text_bytes = into.len() - start - HEAD_BYTES;
        debug_assert!(text_bytes <= MOST_TEXT);
        into.push(kind as u8);
        let body = ((text_bytes + AROUND_TEXT) as u16).to_be_bytes();
        into[start + 3..start + HEAD_BYTES].copy_from_slice(&body);
        let nonce = self.nonce();
        let (head, text) = into[start..].split_at_mut(HEAD_BYTES);
        let sealed = self.key.seal_in_place_separate_tag(nonce, Aad::from(&*head), text);
        // Fails beyond 64 GiB of text only.
        if let Ok(tag) = sealed {
            into.extend_from_slice(tag.as_ref());
        }
    }

    /// Opens the record that fills `space` from `at` on; its text is moved to the front of `space`. Returns what the record
    /// carries and the length of the text.
    pub fn open(&mut self, space: &mut [u8], at: usize) -> Result<(Kind, usize), Failure> {
        let mut head = [0; HEAD_BYTES];
        head.copy_from_slice(&space[at..at + HEAD_BYTES]);
        let nonce = self.nonce();
        let text = self.key.open_within(nonce, Aad::from(head), space, at + HEAD_BYTES..);
        let text = text.map_err(|_| broken("its tag does not match"))?;
        let last = text.iter().rposition(|&byte| byte != 0).ok_or_else(|| broken("it has no type"))?;
        if last > MOST_TEXT {
            return Err(broken("it is too long"));
        }
        match text[last] {
            21 => Ok((Kind::Alert, last)),
            22 => Ok((Kind::Handshake, last)),
            23 => Ok((Kind::Data, last)),
            _ => Err(broken("it is of no known type")),
        }
    }
}

/// How long the record at the front of `input` is; `None` if its head is not there yet.
pub(super) fn record_bytes(input: &[u8]) -> Result<Option<usize>, Failure> {
    let Some(head) = input.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let body = usize::from(u16::from_be_bytes([head[3], head[4]]));
    match head[0] {
        _ if body > MOST_BODY => Err(broken("it is too long")),
        23 => Ok(Some(HEAD_BYTES + body)),
        _ => Err(broken("it is not encrypted")),
    }
}

pub(super) fn broken(why: &str) -> Failure {
    Failure::Record { why: why.to_owned() }
}
