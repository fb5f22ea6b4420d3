//! Standard input and output of the kept program as FIFOs, whose other ends may come and go.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Why a FIFO can't be used.
#[derive(Debug, thiserror::Error)]
pub enum FifoError {
    #[error("{path} can't be opened: {error}; make it with mkfifo")]
    Open { path: PathBuf, error: io::Error },
    #[error("{0} is no FIFO: make it with mkfifo")]
    Kind(PathBuf),
}

/// One FIFO: the end for the program, and a hold that keeps both directions open, so that the program sees neither an
/// end of input nor a broken pipe when whoever talks to it goes.
pub struct Fifo {
    pub end: File,
    _hold: File,
}

impl Fifo {
    /// The program reads from it.
    pub fn input(path: &Path) -> Result<Self, FifoError> {
        Self::open(path, OpenOptions::new().read(true))
    }

    /// The program writes to it.
    pub fn output(path: &Path) -> Result<Self, FifoError> {
        Self::open(path, OpenOptions::new().write(true))
    }

    fn open(path: &Path, mode: &OpenOptions) -> Result<Self, FifoError> {
        let told = |error| FifoError::Open { path: path.to_owned(), error };
        // Anything else might block, or be made longer by what the program writes.
        if !std::fs::metadata(path).map_err(told)?.file_type().is_fifo() {
            return Err(FifoError::Kind(path.to_owned()));
        }
        // First, so that opening one direction finds the other and does not wait for it.
        let hold = OpenOptions::new().read(true).write(true).open(path).map_err(told)?;
        Ok(Self { end: mode.open(path).map_err(told)?, _hold: hold })
    }
}
