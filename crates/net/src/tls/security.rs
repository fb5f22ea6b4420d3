//! What a handshake came to.

use super::Alpn;

/// What was negotiated for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Security {
    /// `1.3`
    pub tls_version: &'static str,
    /// By its registered name: `TLS_AES_128_GCM_SHA256`.
    pub cipher: &'static str,
    /// The protocol that both agreed on; none where one of them does not negotiate.
    pub alpn: Option<Alpn>,
    /// An earlier session was gone on with: no certificate was checked anew.
    pub resumed: bool,
    /// Data sent before the handshake ended was accepted.
    pub early_data: bool,
}

impl Security {
    /// The registered name of a suite of TLS 1.3.
    #[must_use]
    pub fn cipher_name(suite: rustls::CipherSuite) -> &'static str {
        match suite {
            rustls::CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
            rustls::CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
            rustls::CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
            other => other.as_str().unwrap_or("unknown"),
        }
    }
}

/// Bytes that the transport carried for a connection: ciphertext, handshake and framing included; with QUIC, payloads of
/// UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireBytes {
    /// Received.
    pub received: u64,
    /// Handed to the transport.
    pub sent: u64,
}
