//! What ends a yardstick.

use std::io;

/// Any fault ends the program: a yardstick that mends what goes wrong would cost more than the least.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A system call failed.
    #[error("{call} failed: {source}; is the other side still there?")]
    System {
        /// The call.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The first response has no length that could be counted on.
    #[error("the response to `GET {path}` has no Content-Length in its first 64 KiB: choose another path")]
    NoLength {
        /// What was requested.
        path: String,
    },
    /// The other side closed a connection, or sent more than one response.
    #[error("a connection ended, or brought bytes that nobody asked for")]
    Broken,
}

impl Fault {
    /// Wraps `errno` as left by `call`.
    pub fn last(call: &'static str) -> Self {
        Self::System { call, source: io::Error::last_os_error() }
    }

    /// A result that is negative on failure, as system calls return it.
    pub fn check(call: &'static str, result: i64) -> Result<i64, Self> {
        if result < 0 { Err(Self::last(call)) } else { Ok(result) }
    }
}
