//! What is wrong with certificates, keys and names before any connection.

use std::io;
use std::path::PathBuf;

/// Why a [`super::Peer`] or an [`super::Identity`] can't be had.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file can't be read.
    #[error("can't read {}: {source}; name a PEM file that this user may read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file can't be written.
    #[error("can't write {}: {source}; choose a folder that this user may write to", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Something is there already that may be somebody's.
    #[error("{} exists and was not made here: choose another folder, or give --force to replace it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file without certificates.
    #[error("{} holds no certificate: it needs at least one block BEGIN CERTIFICATE (PEM)", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A file with a certificate that is none.
    #[error("{} holds a certificate that can't be read ({why}): make it anew, as PEM", path.display())]
    BadCertificate {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        why: String,
    },
    /// A file without a key.
    #[error("{} holds no private key that can be read ({why}): it needs an unencrypted block BEGIN PRIVATE KEY (PEM)",
        path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        why: String,
    },
    /// Certificate and key are of different pairs.
    #[error("the key in {} is not that of the certificate in {} ({why}): give the two that belong together",
        key.display(), certificate.display())]
    Mismatch {
        /// The key's file.
        key: PathBuf,
        /// The certificate's file.
        certificate: PathBuf,
        /// What rustls said.
        why: String,
    },
    /// The system has no authorities.
    #[error(
        "no authority's certificate can be had from the system ({why}): give --ca FILE, or --insecure to trust anybody"
    )]
    Roots {
        /// What the look-up said.
        why: String,
    },
    /// A name that no certificate can be for.
    #[error("`{name}` is no name that a certificate can be for: use a host name such as localhost, or an address")]
    Name {
        /// As given.
        name: String,
    },
    /// A certificate can't be made.
    #[error("can't make a certificate: {why}; check --names and --days")]
    Make {
        /// What rcgen said.
        why: String,
    },
    /// rustls does not take the settings.
    #[error("TLS can't be set up: {why}; please report this")]
    Setup {
        /// What rustls said.
        why: String,
    },
}
