//! One connection to the origin, and one download over it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;

use crate::head::{Head, Heads};

/// What ended a download; the connection is of no use after it.
#[derive(Debug)]
pub enum Failure {
    Connect(io::Error),
    Send(io::Error),
    Receive(io::Error),
    Ended { missing: usize },
    EndedInHead,
    TooLong { bytes: usize },
    Head(&'static str),
    Surplus,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => write!(f, "connect: {error}"),
            Self::Send(error) => write!(f, "send: {error}"),
            Self::Receive(error) => write!(f, "receive: {error}"),
            Self::Ended { missing } => write!(f, "the connection ended {missing} bytes before the body's end"),
            Self::EndedInHead => write!(f, "the connection ended before the head's end"),
            Self::TooLong { bytes } => write!(f, "the response does not fit into {bytes} bytes"),
            Self::Head(what) => write!(f, "{what}"),
            Self::Surplus => write!(f, "more bytes came than Content-Length says"),
        }
    }
}

pub struct Connection(TcpStream);

impl Connection {
    pub fn open(authority: &str) -> Result<Self, Failure> {
        TcpStream::connect(authority).map(Self).map_err(Failure::Connect)
    }

    /// Sends `request` and reads the whole response into `buffer`: its head, then its body, which ends with the
    /// buffer's first so many bytes that are given beside it.
    ///
    /// # Errors
    /// [`Failure`]; the connection is to be dropped then.
    pub fn fetch(&mut self, request: &[u8], heads: &mut Heads, buffer: &mut [u8]) -> Result<(Head, usize), Failure> {
        self.0.write_all(request).map_err(Failure::Send)?;
        let mut filled = 0;
        let head = loop {
            filled += self.receive(buffer, filled)?.ok_or(Failure::EndedInHead)?;
            if let Some(head) = heads.read(&buffer[..filled]).map_err(Failure::Head)? {
                break head;
            }
        };
        let end = head.bytes.checked_add(head.content_length).filter(|&end| end <= buffer.len());
        let end = end.ok_or(Failure::TooLong { bytes: buffer.len() })?;
        while filled < end {
            let missing = end - filled;
            filled += self.receive(&mut buffer[..end], filled)?.ok_or(Failure::Ended { missing })?;
        }
        if filled > end { Err(Failure::Surplus) } else { Ok((head, end)) }
    }

    /// Fills `buffer` further from `filled` on; how much came, or `None` at the connection's end.
    fn receive(&mut self, buffer: &mut [u8], filled: usize) -> Result<Option<usize>, Failure> {
        let bytes = buffer.len();
        let free = &mut buffer[filled..];
        if free.is_empty() {
            return Err(Failure::TooLong { bytes });
        }
        loop {
            match self.0.read(free) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(got) => return Ok((got > 0).then_some(got)),
                Err(error) => return Err(Failure::Receive(error)),
            }
        }
    }
}
