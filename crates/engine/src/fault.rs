//! How a subcommand fails: one line on standard error, and the exit code that all of Photofinish uses.

use std::fmt::Display;
use std::process::ExitCode;

/// Why a subcommand ends without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// What the user gave can't be used.
    BadInput = 2,
    /// This environment can't do it.
    Environment = 3,
}

impl Fault {
    /// Prints `photofinish: message` and gives the exit code.
    pub fn report(self, message: &impl Display) -> ExitCode {
        eprintln!("photofinish: {message}");
        ExitCode::from(self as u8)
    }
}
