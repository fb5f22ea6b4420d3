//! The client's side of a handshake, before it.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;

use super::{Alpn, TlsError, Trust};

/// Sessions that are kept for going on with, a [`Peer`].
const SESSIONS: usize = 256;

/// What a client wants of those it connects to.
#[derive(Clone, Debug)]
pub struct PeerOptions {
    /// Whom it believes.
    pub trust: Trust,
    /// Whom the certificate has to be for; a host name or an address.
    pub name: String,
    /// What it offers, the most welcome first. A server that chooses none of them is none that was asked for.
    pub protocols: Vec<Alpn>,
    /// Goes on with earlier sessions where the server lets it.
    pub resume: bool,
    /// Sends what is queued in [`crate::Handler::connected`] before the handshake ends, 16 KiB at most, where an earlier
    /// session allows it; needs `resume`. [`crate::Handler::connected`] then comes at once, and what it can be told of the
    /// connection's security is what is expected, until the server has answered. Data that the server does not accept is sent
    /// again. Anybody may send it a second time: for requests that do no harm twice.
    pub early_data: bool,
}

impl Default for PeerOptions {
    fn default() -> Self {
        Self {
            trust: Trust::default(),
            name: "localhost".to_owned(),
            protocols: vec![Alpn::Http1],
            resume: false,
            early_data: false,
        }
    }
}

/// Servers that a client may connect to: whom it believes, under which name, with which protocols. Shared by all
/// connections that may go on with each other's sessions.
#[derive(Debug)]
pub struct Peer {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
    protocols: Vec<Alpn>,
    resumes: bool,
}

impl Peer {
    /// Reads what the options name; TLS 1.3 only.
    pub fn new(options: &PeerOptions) -> Result<Self, TlsError> {
        let name = ServerName::try_from(options.name.clone());
        let name = name.map_err(|_| TlsError::Name { name: options.name.clone() })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = options.trust.verifier(&provider)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| TlsError::Setup { why: error.to_string() })?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = Alpn::wire(&options.protocols);
        config.resumption =
            if options.resume { Resumption::in_memory_sessions(SESSIONS) } else { Resumption::disabled() };
        config.enable_early_data = options.early_data && options.resume;
        config.enable_secret_extraction = true;
        Ok(Self { name, config: Arc::new(config), protocols: options.protocols.clone(), resumes: options.resume })
    }

    /// For QUIC and for whoever shakes hands by other means.
    #[must_use]
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// Whom the certificate has to be for.
    #[must_use]
    pub fn name(&self) -> &ServerName<'static> {
        &self.name
    }

    /// Whether sessions are gone on with.
    #[must_use]
    pub const fn resumes(&self) -> bool {
        self.resumes
    }

    /// What is offered.
    #[must_use]
    pub fn protocols(&self) -> &[Alpn] {
        &self.protocols
    }
}
