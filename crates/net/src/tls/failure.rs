//! Why a connection's handshake, or its records, failed: what [`crate::Closed::Failed`] carries.

use std::io;
use std::net::SocketAddr;

use rustls::{AlertDescription, CertificateError};

use super::Alpn;

/// Why a secured connection came to nothing or broke. The text says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The server's certificate is no longer, or not yet, valid.
    #[error("the certificate of {name} is {}: renew it, or give --insecure to trust it all the same",
        if *.early { "not valid yet" } else { "expired" })]
    Dates {
        /// Who was asked for.
        name: String,
        /// Not yet, instead of no longer.
        early: bool,
    },
    /// The certificate is for somebody else.
    #[error(
        "the certificate is not for {name}{presented}: give --server-name with a name that it is for, or --insecure"
    )]
    WrongName {
        /// Who was asked for.
        name: String,
        /// Empty, or " but for …".
        presented: String,
    },
    /// Nobody known vouches for the certificate.
    #[error("the certificate of {name} comes from an unknown authority: give that one's with --ca FILE, or --insecure")]
    UnknownIssuer {
        /// Who was asked for.
        name: String,
    },
    /// The certificate is wrong in another way.
    #[error("the certificate of {name} can't be trusted ({why}): give --insecure to trust it all the same")]
    Certificate {
        /// Who was asked for.
        name: String,
        /// What rustls said.
        why: String,
    },
    /// The peer does not speak TLS.
    #[error("the peer does not answer in TLS: does it listen in clear text on this port? Try http:// or another port")]
    NotTls,
    /// The peer speaks none of the protocols asked for.
    #[error("the server does not speak {asked} over TLS{instead}: ask for a protocol that it speaks")]
    Protocol {
        /// The protocols asked for.
        asked: String,
        /// Empty, or " (it chose …)".
        instead: String,
    },
    /// The peer has no TLS 1.3.
    #[error("the peer does not speak TLS 1.3: enable it there")]
    Version,
    /// Nobody speaks QUIC there.
    #[error("nobody speaks QUIC at {address} ({why}): does the server listen for HTTP/3 on this UDP port?")]
    NoQuic {
        /// Where.
        address: SocketAddr,
        /// What was seen.
        why: String,
    },
    /// The peer has no QUIC version 1.
    #[error("the peer speaks QUIC, but not version 1 (RFC 9000): enable it there")]
    QuicVersion,
    /// The peer broke the handshake off.
    #[error("the peer refuses the handshake ({alert}): its log may say why")]
    Refused {
        /// The alert.
        alert: String,
    },
    /// Anything else that went wrong before the end of the handshake.
    #[error("the handshake failed: {why}")]
    Handshake {
        /// What rustls said.
        why: String,
    },
    /// The connection ended in the middle of the handshake.
    #[error("the peer closed the connection in the middle of the handshake: its log may say why")]
    Unfinished,
    /// The connection ended without the peer having said so inside TLS: what came may not be all.
    #[error("the connection ended without close_notify: what arrived may have been cut short")]
    Truncated,
    /// What arrived was no valid record.
    #[error("a record is broken ({why}): something between the two ends changed it, or the peer is at fault")]
    Record {
        /// What is wrong with it.
        why: String,
    },
}

impl Failure {
    /// What `error`, taken from [`crate::Closed::Failed`], says of TLS; `None` for failures of the network.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// Whether the peer does not speak what was asked for, its certificate being no matter.
    #[must_use]
    pub const fn is_protocol(&self) -> bool {
        matches!(self, Self::Protocol { .. } | Self::Version | Self::NotTls | Self::NoQuic { .. } | Self::QuicVersion)
    }

    /// What rustls' `error` means to a client that asked `name` for `asked`.
    #[must_use]
    pub fn from_rustls(error: &rustls::Error, name: &str, asked: &[Alpn]) -> Self {
        let name = name.to_owned();
        match error {
            rustls::Error::InvalidCertificate(problem) => Self::from_certificate(problem, name),
            rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol)
            | rustls::Error::NoApplicationProtocol => Self::protocol(asked, None),
            rustls::Error::AlertReceived(AlertDescription::ProtocolVersion)
            | rustls::Error::PeerIncompatible(
                rustls::PeerIncompatible::ServerDoesNotSupportTls12Or13
                | rustls::PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
                | rustls::PeerIncompatible::Tls13RequiredForQuic,
            ) => Self::Version,
            rustls::Error::AlertReceived(alert) => Self::refused(*alert),
            rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => Self::NotTls,
            other => Self::Handshake { why: other.to_string() },
        }
    }

    /// The server speaks none of `asked`.
    #[must_use]
    pub fn protocol(asked: &[Alpn], chosen: Option<Alpn>) -> Self {
        let asked: Vec<&str> = asked.iter().map(|alpn| alpn.name()).collect();
        let instead = chosen.map_or_else(String::new, |alpn| format!(" (it chose {alpn})"));
        Self::Protocol { asked: asked.join(" or "), instead }
    }

    pub(super) fn refused(alert: AlertDescription) -> Self {
        Self::Refused { alert: alert.as_str().map_or_else(|| format!("{alert:?}"), str::to_owned) }
    }

    fn from_certificate(problem: &CertificateError, name: String) -> Self {
        match problem {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Dates { name, early: false },
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::Dates { name, early: true }
            }
            CertificateError::NotValidForName => Self::WrongName { name, presented: String::new() },
            CertificateError::NotValidForNameContext { presented, .. } => {
                let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
                let presented = if names.is_empty() { String::new() } else { format!(" but for {}", names.join(", ")) };
                Self::WrongName { name, presented }
            }
            // The latter: somebody of the same name as one who is trusted.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownIssuer { name },
            other => Self::Certificate { name, why: other.to_string() },
        }
    }
}

/// The name in rustls' `DnsName("localhost")` or `IpAddress(127.0.0.1)`.
fn bare(name: &str) -> &str {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(name).trim_matches('"')
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        let kind = match failure {
            Failure::Truncated | Failure::Unfinished => io::ErrorKind::UnexpectedEof,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, failure)
    }
}
