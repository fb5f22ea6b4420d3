//! Bodies of responses on their way over streams.

use photofinish_http::payload;

use crate::exchange::Content;

/// The rest of one response's body.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Static { bytes: &'static [u8], sent: usize },
    Made { bytes: Vec<u8>, sent: usize },
    Payload { size: u64, sent: u64 },
}

/// The next bytes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// To be sent without a copy.
    Static(&'static [u8]),
    /// To be copied.
    Made(&'a [u8]),
}

impl Piece<'_> {
    #[expect(clippy::match_same_arms, reason = "their lifetimes differ")]
    pub const fn len(&self) -> usize {
        match self {
            Self::Static(bytes) => bytes.len(),
            Self::Made(bytes) => bytes.len(),
        }
    }
}

impl Outgoing {
    pub fn new(body: Content) -> Self {
        match body {
            Content::Static(bytes) => Self::Static { bytes, sent: 0 },
            Content::Made(bytes) => Self::Made { bytes, sent: 0 },
            Content::Payload(size) => Self::Payload { size, sent: 0 },
        }
    }

    /// The memory of a body that has left; nothing if it was not made for it.
    pub fn into_memory(self) -> Vec<u8> {
        if let Self::Made { bytes, .. } = self { bytes } else { Vec::new() }
    }

    /// Takes the next bytes off, at most `most`, never none if there are some and `most` is not 0; whether they are the last.
    pub fn next(&mut self, most: usize) -> (Piece<'_>, bool) {
        match self {
            Self::Static { bytes, sent } => {
                let from = *sent;
                *sent = bytes.len().min(from.saturating_add(most));
                (Piece::Static(&bytes[from..*sent]), *sent == bytes.len())
            }
            Self::Made { bytes, sent } => {
                let from = *sent;
                *sent = bytes.len().min(from.saturating_add(most));
                (Piece::Made(&bytes[from..*sent]), *sent == bytes.len())
            }
            Self::Payload { size, sent } => {
                let most = usize::try_from(*size - *sent).map_or(most, |left| left.min(most));
                // The memory was there when the request was taken, and stays.
                let piece = payload::piece(*sent, most).unwrap_or_default();
                *sent += piece.len() as u64;
                (Piece::Static(piece), sent == size)
            }
        }
    }

    /// The last `bytes` bytes that were taken off did not leave.
    pub fn give_back(&mut self, bytes: usize) {
        match self {
            Self::Static { sent, .. } | Self::Made { sent, .. } => *sent -= bytes,
            Self::Payload { sent, .. } => *sent -= bytes as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use photofinish_http::payload;

    use super::{Outgoing, Piece};
    use crate::exchange::Content;

    fn all(body: Content, most: usize) -> Vec<u8> {
        let (mut outgoing, mut bytes) = (Outgoing::new(body), Vec::new());
        loop {
            let given_back = outgoing.next(most).0.len();
            outgoing.give_back(given_back);
            let (piece, last) = outgoing.next(most);
            assert!((1..=most).contains(&piece.len()));
            let (Piece::Static(piece) | Piece::Made(piece)) = piece;
            bytes.extend_from_slice(piece);
            if last {
                return bytes;
            }
        }
    }

    #[test]
    fn bodies_leave_whole_in_pieces_of_any_size() {
        for most in [1, 7, 1000] {
            assert_eq!(all(Content::Static(b"Hello World!"), most), b"Hello World!");
            assert_eq!(all(Content::Made(b"Hello World!".to_vec()), most), b"Hello World!");
            assert_eq!(all(Content::Payload(999), most), payload::bytes(999).expect("memory"));
        }
    }
}
