//! What can go wrong, each with the place.

use std::io;

/// Why a program can't start, or why one upload failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{name} {what}")]
    Setting { name: &'static str, what: &'static str },
    #[error("standard input or output: {0}")]
    Lines(io::Error),
    #[error("the file: {0}")]
    File(io::Error),
    #[error("the file ended after {sent} of the {declared} bytes that the head had declared")]
    Shrank { sent: u64, declared: u64 },
    #[error("{at}: {error}")]
    Connection { at: &'static str, error: io::Error },
    #[error("the server closed the connection before its response was whole")]
    Closed,
    #[error("the response is not HTTP/1.1: {0}")]
    Malformed(#[from] httparse::Error),
    #[error("the response {0}")]
    Response(&'static str),
    #[error("{0}: {error}", error = chain(.1.as_ref()))]
    Library(&'static str, Box<dyn std::error::Error + Send + Sync>),
    #[error("io_uring: {0}; it needs Linux 6.0, and sysctl kernel.io_uring_disabled must be 0")]
    Ring(io::Error),
    #[error("making the pipe: {0}")]
    Pipe(io::Error),
}

impl Failure {
    /// True if the other end broke the connection off, so that its answer may still lie there.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        matches!(self, Self::Connection { error, .. }
            if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset))
    }
}

/// An error and all its causes on one line; libraries keep the one that matters at the end.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
