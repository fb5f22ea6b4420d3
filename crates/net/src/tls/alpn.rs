//! The application protocols that are negotiated.

use std::fmt;

/// A protocol as named by ALPN (RFC 7301; the registry "TLS ALPN Protocol IDs").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alpn {
    /// HTTP/1.1
    Http1,
    /// HTTP/2
    H2,
    /// HTTP/3
    H3,
}

impl Alpn {
    /// As on the wire and in reports: `http/1.1`, `h2`, `h3`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::H2 => "h2",
            Self::H3 => "h3",
        }
    }

    /// The protocol that a peer chose.
    #[must_use]
    pub fn of(wire: &[u8]) -> Option<Self> {
        [Self::Http1, Self::H2, Self::H3].into_iter().find(|alpn| alpn.name().as_bytes() == wire)
    }

    pub(crate) fn wire(list: &[Self]) -> Vec<Vec<u8>> {
        list.iter().map(|alpn| alpn.name().as_bytes().to_vec()).collect()
    }
}

impl fmt::Display for Alpn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
