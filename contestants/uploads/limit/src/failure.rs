//! What can go wrong, each with the place.

use std::fmt;
use std::io;

/// Why the program can't start, or why one upload failed.
#[derive(Debug)]
pub enum Failure {
    /// A variable of the environment.
    Setting { name: &'static str, what: &'static str },
    /// Standard input or output.
    Lines(io::Error),
    /// The file can't be opened or read.
    File(io::Error),
    /// The file ended before the length that the head had declared.
    Shrank { sent: u64, declared: u64 },
    /// The connection can't be made, or broke off.
    Connection { at: &'static str, error: io::Error },
    /// The server closed before its response was whole.
    Closed,
    /// A response that this program doesn't read.
    Response(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name, what } => write!(out, "{name} {what}"),
            Self::Lines(error) => write!(out, "standard input or output: {error}"),
            Self::File(error) => write!(out, "the file: {error}"),
            Self::Shrank { sent, declared } => {
                write!(out, "the file ended after {sent} of the {declared} bytes that the head had declared")
            }
            Self::Connection { at, error } => write!(out, "{at}: {error}"),
            Self::Closed => write!(out, "the server closed the connection before its response was whole"),
            Self::Response(what) => write!(out, "the response {what}"),
        }
    }
}

impl std::error::Error for Failure {}
