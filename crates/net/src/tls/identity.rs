//! The server's side of a handshake, before it: certificate and key.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rcgen::{KeyUsagePurpose, PKCS_ECDSA_P256_SHA256};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ServerSessionMemoryCache;
use time::{Duration, OffsetDateTime};

use super::trust::certificates;
use super::{Alpn, TlsError};

/// Whose name stands on certificates made here.
pub(super) const AUTHORITY_NAME: &str = "Photofinish test authority";
/// What a certificate made here is for unless told otherwise.
pub const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// How long it is valid, counted from the day before it is made.
const DAYS: u32 = 30;
/// More than a thousand years is a slip.
const MOST_DAYS: i64 = 366_000;
/// Bytes of early data that a server takes where that was asked for: what rustls takes before it refuses.
const EARLY_BYTES: u32 = 16 * 1024;

/// Sessions that such a server keeps.
const SESSIONS: usize = 4096;

/// What a server offers beside its certificate.
#[derive(Clone, Debug)]
pub struct IdentityOptions {
    /// What it speaks, the most welcome first.
    pub protocols: Vec<Alpn>,
    /// Takes data before the end of a handshake, which anybody may send twice.
    pub early_data: bool,
}

impl Default for IdentityOptions {
    fn default() -> Self {
        Self { protocols: vec![Alpn::H2, Alpn::Http1], early_data: false }
    }
}

/// Who a server is: certificates, key, and the protocols it speaks. TLS 1.3, session tickets on.
#[derive(Debug)]
pub struct Identity {
    config: Arc<ServerConfig>,
}

impl Identity {
    /// Reads a chain (the server's own certificate first) and its key from PEM files.
    pub fn read(certificate: &Path, key: &Path, options: &IdentityOptions) -> Result<Self, TlsError> {
        let chain = certificates(certificate)?;
        let text = std::fs::read(key).map_err(|source| TlsError::Read { path: key.to_owned(), source })?;
        let private = PrivateKeyDer::from_pem_slice(&text)
            .map_err(|error| TlsError::NoKey { path: key.to_owned(), why: error.to_string() })?;
        Self::new(chain, private, options).map_err(|why| TlsError::Mismatch {
            key: key.to_owned(),
            certificate: certificate.to_owned(),
            why: why.to_string(),
        })
    }

    /// Certificates and a key that are at hand.
    pub fn of(authority: &Authority, options: &IdentityOptions) -> Result<Self, TlsError> {
        let chain = vec![authority.certificate.clone()];
        let key = PrivateKeyDer::from_pem_slice(authority.key_pem.as_bytes())
            .map_err(|error| TlsError::Setup { why: error.to_string() })?;
        Self::new(chain, key, options).map_err(|error| TlsError::Setup { why: error.to_string() })
    }

    fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        options: &IdentityOptions,
    ) -> Result<Self, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = Alpn::wire(&options.protocols);
        if options.early_data {
            // With sessions that the server keeps, and takes once: a ticket could be shown again, with its data.
            config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
            config.max_early_data_size = EARLY_BYTES;
        } else {
            config.ticketer = rustls::crypto::ring::Ticketer::new()?;
        }
        config.enable_secret_extraction = true;
        Ok(Self { config: Arc::new(config) })
    }

    /// The same server with other protocols: QUIC has its own.
    #[must_use]
    pub fn speaking(&self, protocols: &[Alpn]) -> Self {
        let mut config = ServerConfig::clone(&self.config);
        config.alpn_protocols = Alpn::wire(protocols);
        Self { config: Arc::new(config) }
    }

    /// For QUIC and for whoever shakes hands by other means.
    #[must_use]
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }
}

/// An authority made on the fly, and the one certificate that it gave out: ECDSA on P-256. The authority's own key is
/// forgotten at once, so that nobody can give out another in its name.
#[derive(Clone, Debug)]
pub struct Authority {
    certificate: CertificateDer<'static>,
    ca_pem: String,
    certificate_pem: String,
    key_pem: String,
}

impl Authority {
    /// For `localhost` and its addresses, for 30 days.
    pub fn for_localhost() -> Result<Self, TlsError> {
        Self::make(&NAMES.map(str::to_owned), DAYS)
    }

    /// For these host names and addresses; valid from yesterday, for `days` days from now.
    pub fn make(names: &[String], days: u32) -> Result<Self, TlsError> {
        Self::valid(names, -1, i64::from(days))
    }

    /// As [`Authority::make`], but valid between two days counted from now: for tests of expired certificates.
    pub fn valid(names: &[String], from_days: i64, to_days: i64) -> Result<Self, TlsError> {
        let failed = |error: rcgen::Error| TlsError::Make { why: error.to_string() };
        let today = OffsetDateTime::now_utc();
        let day = |days: i64| {
            let near = (-MOST_DAYS..=MOST_DAYS).contains(&days);
            let at = if near { today.checked_add(Duration::days(days)) } else { None };
            at.ok_or_else(|| TlsError::Make { why: format!("{days} days from now is beyond the calendar") })
        };
        let (from, to) = (day(from_days)?, day(to_days)?);
        let mut ca = CertificateParams::new(Vec::new()).map_err(failed)?;
        ca.distinguished_name.push(DnType::CommonName, AUTHORITY_NAME);
        ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        (ca.not_before, ca.not_after) = (from, to);
        let ca_key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let issuer = CertifiedIssuer::self_signed(ca, ca_key).map_err(failed)?;

        let mut leaf = CertificateParams::new(names.to_vec()).map_err(failed)?;
        let name = names.first().map_or("localhost", String::as_str);
        leaf.distinguished_name.push(DnType::CommonName, name);
        leaf.use_authority_key_identifier_extension = true;
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        (leaf.not_before, leaf.not_after) = (from, to);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let certificate = leaf.signed_by(&key, &issuer).map_err(failed)?;
        Ok(Self {
            certificate: certificate.der().clone(),
            ca_pem: issuer.pem(),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        })
    }

    /// What clients have to trust.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// What the server shows.
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The server's key.
    #[must_use]
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }
}
