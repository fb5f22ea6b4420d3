//! Certificates made here, as files for programs that read such.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::identity::AUTHORITY_NAME;
use super::trust::certificates;
use super::{Authority, TlsError};

const CA: &str = "ca.pem";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// Where [`Authority::write_to`] has put what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// What clients have to trust.
    pub ca: PathBuf,
    /// What the server shows.
    pub certificate: PathBuf,
    /// The server's key, for its owner's eyes only.
    pub key: PathBuf,
}

impl Authority {
    /// Writes `ca.pem`, `certificate.pem` and `key.pem` into `folder`, which is made if it is missing. Each file is there
    /// whole or as it was before. Files of these names are replaced if they were made here, or if `force`.
    pub fn write_to(&self, folder: &Path, force: bool) -> Result<CertificateFiles, TlsError> {
        let files =
            CertificateFiles { ca: folder.join(CA), certificate: folder.join(CERTIFICATE), key: folder.join(KEY) };
        if !force && !is_own(&files.ca) {
            let there = [&files.ca, &files.certificate, &files.key].into_iter().find(|path| path.exists());
            if let Some(path) = there {
                return Err(TlsError::Exists { path: path.clone() });
            }
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| TlsError::Write { path, source }
        };
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        replace(&files.key, self.key_pem(), 0o600).map_err(failed(&files.key))?;
        replace(&files.certificate, self.certificate_pem(), 0o644).map_err(failed(&files.certificate))?;
        replace(&files.ca, self.ca_pem(), 0o644).map_err(failed(&files.ca))?;
        Ok(files)
    }
}

/// Whether `path` holds an authority's certificate that was made here.
fn is_own(path: &Path) -> bool {
    let name = AUTHORITY_NAME.as_bytes();
    certificates(path).is_ok_and(|found| found.iter().all(|one| one.windows(name.len()).any(|part| part == name)))
}

/// Writes a file of its own, then lets it take the place of `path`.
fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    // One that a killed process of this number has left behind.
    let _ = std::fs::remove_file(&fresh);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| std::fs::rename(&fresh, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::{Authority, Identity, IdentityOptions, TlsError};

    #[test]
    fn files_are_replaced_only_if_they_were_made_here() {
        let folder = std::env::temp_dir().join(format!("photofinish-certificates-{}", std::process::id()));
        let authority = Authority::for_localhost().expect("made");
        let files = authority.write_to(&folder, false).expect("written");
        let mode = std::fs::metadata(&files.key).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let other = Authority::for_localhost().expect("made");
        other.write_to(&folder, false).expect("its own files may be replaced");
        Identity::read(&files.certificate, &files.key, &IdentityOptions::default()).expect("they belong together");

        std::fs::write(&files.ca, "somebody's").expect("writes");
        let refused = other.write_to(&folder, false);
        assert!(matches!(refused, Err(TlsError::Exists { .. })), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&files.ca).expect("there"), "somebody's");
        other.write_to(&folder, true).expect("force");

        std::fs::write(&files.key, authority.key_pem()).expect("writes");
        let mixed = Identity::read(&files.certificate, &files.key, &IdentityOptions::default());
        assert!(matches!(mixed, Err(TlsError::Mismatch { .. })), "{mixed:?}");
        let none = Identity::read(&files.certificate, &files.certificate, &IdentityOptions::default());
        assert!(matches!(none, Err(TlsError::NoKey { .. })), "{none:?}");
        std::fs::remove_dir_all(&folder).expect("removes");
        let gone = Identity::read(&files.certificate, &files.key, &IdentityOptions::default());
        assert!(matches!(gone, Err(TlsError::Read { .. })), "{gone:?}");
    }
}
