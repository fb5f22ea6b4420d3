//! Why connections end, in words.

use std::io;
use std::net::SocketAddr;

use quinn_proto::ConnectionError;

use super::session::Facts;
use crate::Closed;
use crate::tls::{Alpn, Failure};

/// `H3_NO_ERROR` (RFC 9114, 8.1): the peer is done, and nothing is wrong.
const H3_NO_ERROR: u64 = 0x100;
/// TLS alerts begin here among the codes of QUIC (RFC 9001, 4.8).
const FIRST_ALERT: u64 = 0x100;
const NO_APPLICATION_PROTOCOL: u64 = 120;

/// Whom a connection is with, as far as messages tell.
pub(super) struct Partner<'a> {
    pub address: SocketAddr,
    /// Whom a client asked for.
    pub name: &'a str,
    /// What a client asked for.
    pub asked: &'a [Alpn],
    /// The handshake was not complete.
    pub handshaking: bool,
}

impl Partner<'_> {
    /// What `reason` and what the session says mean to the handler.
    pub fn closed(&self, reason: ConnectionError, facts: Option<Facts>) -> Closed {
        let text = match reason {
            ConnectionError::ApplicationClosed(close) if [0, H3_NO_ERROR].contains(&close.error_code.into_inner()) => {
                return Closed::ByPeer;
            }
            ConnectionError::ConnectionClosed(close) if u64::from(close.error_code) == 0 => return Closed::ByPeer,
            ConnectionError::TransportError(error) => match facts.and_then(|facts| facts.error) {
                Some(error) => return self.failed(Failure::from_rustls(&error, self.name, self.asked)),
                None => format!("the peer at {} breaks the rules of QUIC ({error})", self.address),
            },
            ConnectionError::ConnectionClosed(close) => {
                let code = u64::from(close.error_code);
                if self.handshaking && code == FIRST_ALERT + NO_APPLICATION_PROTOCOL {
                    return self.failed(Failure::protocol(self.asked, None));
                }
                if self.handshaking && code >= FIRST_ALERT {
                    return self.failed(Failure::Refused { alert: close.to_string() });
                }
                return self.error(io::ErrorKind::ConnectionReset, &format!("was ended by the peer: {close}"));
            }
            ConnectionError::VersionMismatch => return self.failed(Failure::QuicVersion),
            ConnectionError::TimedOut if self.handshaking => {
                return self.failed(Failure::NoQuic { address: self.address, why: "nobody answers there".to_owned() });
            }
            ConnectionError::TimedOut => return self.error(io::ErrorKind::TimedOut, "has been silent for too long"),
            ConnectionError::ApplicationClosed(close) => {
                return self.error(io::ErrorKind::ConnectionReset, &format!("was ended by the peer: {close}"));
            }
            ConnectionError::Reset => {
                return self.error(io::ErrorKind::ConnectionReset, "is forgotten by the peer: was it restarted?");
            }
            other @ (ConnectionError::LocallyClosed | ConnectionError::CidsExhausted) => other.to_string(),
        };
        Closed::Failed(io::Error::new(io::ErrorKind::InvalidData, text))
    }

    /// What an error of the socket means.
    pub fn unreachable(&self, error: &io::Error) -> Closed {
        if self.handshaking {
            let why = format!("the network says: {error}");
            return self.failed(Failure::NoQuic { address: self.address, why });
        }
        self.error(io::ErrorKind::ConnectionReset, &format!("is lost: {error}"))
    }

    #[expect(clippy::unused_self, reason = "reads as the others do")]
    fn failed(&self, failure: Failure) -> Closed {
        Closed::Failed(failure.into())
    }

    fn error(&self, kind: io::ErrorKind, what: &str) -> Closed {
        Closed::Failed(io::Error::new(kind, format!("the QUIC connection with {} {what}", self.address)))
    }
}
