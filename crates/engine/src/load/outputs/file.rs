//! Whole files, or none: written beside their place and moved there.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why an output is missing.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The folder of a file is not there.
    #[error("{flag} {}: there is no folder {}; make it with `mkdir -p {}`", path.display(), folder.display(), folder.display())]
    NoFolder {
        /// What asked for it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// Two outputs would go to one file.
    #[error("{flag} and {other} both name {}: give each its own file", path.display())]
    Twice {
        /// The second of them.
        flag: &'static str,
        /// The first of them.
        other: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A file can't be written.
    #[error("{flag} {} can't be written: {source}; {}", path.display(), mend(source))]
    Writing {
        /// What asked for it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Standard output can't be written.
    #[error("the report can't be printed: {0}; write it to a file with --out")]
    Printing(#[source] io::Error),
}

fn mend(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or name a file on another disk",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "name a file in a folder that you may write to",
        ErrorKind::IsADirectory => "name a file, not a folder",
        _ => "name another file",
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Finds a missing folder, or a folder in the file's place.
pub fn check(flag: &'static str, path: &Path) -> Result<(), OutputError> {
    if path.is_dir() {
        let source = ErrorKind::IsADirectory.into();
        return Err(OutputError::Writing { flag, path: path.to_owned(), source });
    }
    let folder = folder(path);
    if folder.is_dir() {
        return Ok(());
    }
    Err(OutputError::NoFolder { flag, path: path.to_owned(), folder: folder.to_owned() })
}

/// Writes `content` as a whole: whoever reads `path` sees the old file or the new one, and a full disk leaves the old one.
pub fn write(flag: &'static str, path: &Path, content: io::Result<Vec<u8>>) -> Result<(), OutputError> {
    content.and_then(|content| replace(path, &content)).map_err(|source| OutputError::Writing {
        flag,
        path: path.to_owned(),
        source,
    })
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // A pipe or a device is written to; it must not be replaced by a file. A link keeps pointing to its file.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|known| !known.is_file()) {
        return fs::write(&target, content);
    }
    let mut name = OsString::from(".");
    name.push(target.file_name().ok_or(ErrorKind::InvalidInput)?);
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = folder(&target).join(name);
    let moved = fs::write(&beside, content).and_then(|()| fs::rename(&beside, &target));
    if moved.is_err() {
        // What can't be removed either was never made.
        let _ = fs::remove_file(&beside);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("photofinish-outputs-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_stays_beside_it() {
        let folder = scratch("whole");
        let path = folder.join("run.json");
        for content in ["first, and longer", "second"] {
            write("--out", &path, Ok(content.into())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = scratch("link");
        let (file, link) = (folder.join("there"), folder.join("here"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write("--html", &link, Ok(b"new".into())).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_full_disk_is_named_with_the_flag_the_file_and_a_mend() {
        let error = write("--hlog", Path::new("/dev/full"), Ok(vec![0; 10])).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("--hlog /dev/full can't be written: No space left on device"), "{text}");
        assert!(text.ends_with("free some space, or name a file on another disk"), "{text}");
    }

    #[test]
    fn a_missing_folder_is_found_before_anything_is_measured() {
        let folder = scratch("missing");
        let error = check("--html", &folder.join("a/b/run.html")).unwrap_err();
        assert!(error.to_string().contains("mkdir -p"), "{error}");
        assert!(check("--html", &folder).unwrap_err().to_string().contains("name a file, not a folder"));
        assert!(check("--html", Path::new("run.html")).is_ok());
        fs::remove_dir_all(folder).unwrap();
    }
}
