//! Streams and what is sent on them.

/// A stream of one connection, by the number that QUIC gives it (RFC 9000, 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream(pub u64);

impl Stream {
    /// Whether the client of the connection opened it.
    #[must_use]
    pub const fn is_client_s(self) -> bool {
        self.0 & 1 == 0
    }

    /// Whether both ends may send on it, or only the one that opened it.
    #[must_use]
    pub const fn kind(self) -> StreamKind {
        if self.0 & 2 == 0 { StreamKind::Both } else { StreamKind::Sending }
    }
}

/// Which directions a stream that is opened here has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Both ends send.
    Both,
    /// Only the one that opens it sends.
    Sending,
}

/// Bytes to send on a stream.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// Copied.
    Copied(&'a [u8]),
    /// Alive as long as the process, so that nothing is copied.
    Static(&'static [u8]),
}

impl<'a> Piece<'a> {
    /// The bytes.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        match self {
            Self::Copied(bytes) | Self::Static(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Stream, StreamKind};

    #[test]
    fn the_two_lowest_bits_of_a_number_tell_who_opened_the_stream_and_who_sends_on_it() {
        let told: Vec<_> = (0..4).map(|number| (Stream(number).is_client_s(), Stream(number).kind())).collect();
        let expected = [
            (true, StreamKind::Both),
            (false, StreamKind::Both),
            (true, StreamKind::Sending),
            (false, StreamKind::Sending),
        ];
        assert_eq!(told, expected);
    }
}
