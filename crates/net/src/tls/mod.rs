//! TLS 1.3 for the loops: who a client trusts ([`Peer`]), who a server is ([`Identity`]), what came of it ([`Security`]).
//!
//! rustls with ring shakes hands; certificates for tests are made by rcgen. The types here serve TLS over TCP and QUIC
//! alike.

mod alpn;
mod error;
mod failure;
mod files;
mod half;
mod handshake;
mod identity;
mod layer;
mod over;
mod peer;
mod records;
mod secure;
mod security;
mod session;
#[cfg(test)]
mod tests;
mod trust;

pub use alpn::Alpn;
pub use error::TlsError;
pub use failure::Failure;
pub use files::CertificateFiles;
pub use identity::{Authority, Identity, IdentityOptions, NAMES};
pub use peer::{Peer, PeerOptions};
pub use secure::Secure;
pub use security::{Security, WireBytes};
pub use trust::Trust;
