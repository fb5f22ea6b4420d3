//! Where the pieces of a body go.

use std::fs::File;
use std::io::{self, Write};

/// Counts what it takes; keeps it only where it was made with a path.
pub struct Sink {
    file: Option<File>,
    bytes: u64,
}

impl Sink {
    /// A sink that writes to `path`, or that throws everything away.
    ///
    /// # Errors
    /// The file can't be created.
    pub fn new(path: Option<&str>) -> io::Result<Self> {
        Ok(Self { file: path.map(File::create).transpose()?, bytes: 0 })
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        self.bytes += piece.len() as u64;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(piece))
    }

    /// Bytes taken so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
