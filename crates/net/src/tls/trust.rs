//! Whom a client believes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::TlsError;

/// Which certificates a client accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those of the system's authorities.
    #[default]
    System,
    /// Those of the authorities in a PEM file, and no others.
    File(PathBuf),
    /// All: whoever answers is believed. For tests; reports have to say so.
    Anybody,
}

impl Trust {
    /// What checks a certificate.
    pub(super) fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
        let roots = match self {
            Self::Anybody => return Ok(Arc::new(Credulous(Arc::clone(provider)))),
            Self::System => system_roots()?,
            Self::File(path) => roots_of(path)?,
        };
        let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
        Ok(built.map_err(|error| TlsError::Roots { why: error.to_string() })?)
    }
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (taken, _) = roots.add_parsable_certificates(found.certs);
    if taken == 0 {
        let why = found.errors.first().map_or_else(|| "none is installed".to_owned(), ToString::to_string);
        return Err(TlsError::Roots { why });
    }
    Ok(roots)
}

fn roots_of(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots
            .add(certificate)
            .map_err(|error| TlsError::BadCertificate { path: path.to_owned(), why: error.to_string() })?;
    }
    Ok(roots)
}

/// The certificates of a PEM file, at least one.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = std::fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| TlsError::BadCertificate { path: path.to_owned(), why: error.to_string() })?;
    if found.is_empty() {
        return Err(TlsError::NoCertificate { path: path.to_owned() });
    }
    Ok(found)
}

/// Believes any certificate; that the peer holds its key is checked all the same.
#[derive(Debug)]
struct Credulous(Arc<CryptoProvider>);

impl ServerCertVerifier for Credulous {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
