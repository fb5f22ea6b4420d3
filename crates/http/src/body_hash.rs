//! The hash that proves which body was received.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// The xxh3-64 (seed 0) of a body that arrives in slices.
///
/// A body in one slice, the common case, costs one call and touches no state; only a second slice starts the streaming
/// hasher, which is kept for later bodies.
#[derive(Default)]
pub struct BodyHash {
    bytes: u64,
    single: u64,
    stream: Option<Box<Xxh3Default>>,
    streaming: bool,
}

impl BodyHash {
    /// Begins a new body.
    pub fn reset(&mut self) {
        self.bytes = 0;
        self.streaming = false;
    }

    /// Takes the next bytes of the body; `rest` is how many are known to follow, if that is known.
    pub fn update(&mut self, slice: &[u8], rest: Option<u64>) {
        if slice.is_empty() {
            return;
        }
        if self.bytes == 0 && rest == Some(0) {
            self.single = xxh3_64(slice);
        } else {
            self.stream_in(slice);
        }
        self.bytes += slice.len() as u64;
    }

    fn stream_in(&mut self, slice: &[u8]) {
        let stream = self.stream.get_or_insert_with(Box::default);
        if !self.streaming {
            stream.reset();
            self.streaming = true;
        }
        stream.update(slice);
    }

    /// Bytes hashed since the last reset.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The hash of all bytes since the last reset.
    #[must_use]
    pub fn digest(&self) -> u64 {
        match (&self.stream, self.streaming, self.bytes) {
            (_, _, 0) => xxh3_64(&[]),
            (Some(stream), true, _) => stream.digest(),
            _ => self.single,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_does_not_depend_on_how_the_body_was_sliced() {
        let body: Vec<u8> = (0..5000_u32).map(|i| (i % 251) as u8).collect();
        let mut whole = BodyHash::default();
        whole.update(&body, Some(0));
        for cut in [0, 1, 12, 240, 241, 4999, 5000] {
            let mut sliced = BodyHash::default();
            sliced.update(b"an earlier body", None);
            sliced.reset();
            sliced.update(&body[..cut], Some((body.len() - cut) as u64));
            sliced.update(&body[cut..], Some(0));
            assert_eq!((sliced.bytes(), sliced.digest()), (5000, whole.digest()), "cut at {cut}");
        }
    }

    #[test]
    fn an_empty_body_has_the_published_hash_of_nothing() {
        assert_eq!(BodyHash::default().digest(), 0x2d06_8005_38d3_94c2);
    }
}
