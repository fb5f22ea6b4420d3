//! What is spoken with a target, in the words of manifests, documents and reports.

use std::fmt;
use std::str::FromStr;

/// A version of HTTP over a transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP/1.1 over TCP.
    #[default]
    Http1,
    /// HTTP/1.1 over TLS 1.3.
    Http1Tls,
    /// HTTP/2 over TCP, with prior knowledge.
    Http2,
    /// HTTP/2 over TLS 1.3, agreed on by ALPN.
    Http2Tls,
    /// HTTP/3 over QUIC.
    Http3,
}

/// A name that is no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no protocol: use http/1.1, http/1.1+tls, h2, h2+tls or h3")]
pub struct UnknownProtocol(String);

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Http1, Self::Http1Tls, Self::Http2, Self::Http2Tls, Self::Http3];

    /// The name that manifests, documents, evidence and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::Http1Tls => "http/1.1+tls",
            Self::Http2 => "h2",
            Self::Http2Tls => "h2+tls",
            Self::Http3 => "h3",
        }
    }

    /// Whether what is sent is encrypted.
    #[must_use]
    pub const fn is_secure(self) -> bool {
        matches!(self, Self::Http1Tls | Self::Http2Tls | Self::Http3)
    }

    /// Whether one connection carries several requests at once, each on a stream of its own.
    #[must_use]
    pub const fn has_streams(self) -> bool {
        matches!(self, Self::Http2 | Self::Http2Tls | Self::Http3)
    }

    /// The scheme of its URLs.
    #[must_use]
    pub const fn scheme(self) -> &'static str {
        if self.is_secure() { "https" } else { "http" }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, UnknownProtocol> {
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| UnknownProtocol(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Protocol;

    #[test]
    fn every_protocol_is_found_by_its_name_and_others_are_told_what_there_is() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().parse(), Ok(protocol));
        }
        let error = "http/2".parse::<Protocol>().unwrap_err().to_string();
        assert!(error.contains("`http/2`") && error.contains("h2+tls"), "{error}");
    }
}
