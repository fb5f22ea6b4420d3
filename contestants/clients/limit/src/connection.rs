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
    Store(io::Error),
    Ended { missing: u64 },
    EndedInHead,
    HeadTooLong,
    Head(&'static str),
    Surplus,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => write!(f, "connect: {error}"),
            Self::Send(error) => write!(f, "send: {error}"),
            Self::Receive(error) => write!(f, "receive: {error}"),
            Self::Store(error) => write!(f, "write the body: {error}"),
            Self::Ended { missing } => write!(f, "the connection ended {missing} bytes before the body's end"),
            Self::EndedInHead => write!(f, "the connection ended before the head's end"),
            Self::HeadTooLong => write!(f, "the head does not fit into the buffer"),
            Self::Head(what) => write!(f, "{what}"),
            Self::Surplus => write!(f, "more bytes came than Content-Length says"),
        }
    }
}

/// What a download brought.
pub struct Fetched {
    pub status: u16,
    pub body_bytes: u64,
}

pub struct Connection(TcpStream);

impl Connection {
    pub fn open(authority: &str) -> Result<Self, Failure> {
        TcpStream::connect(authority).map(Self).map_err(Failure::Connect)
    }

    /// Sends `request` and reads the response through `buffer`; hands each piece of the body to `sink`.
    ///
    /// # Errors
    /// [`Failure`]; the connection is to be dropped then.
    pub fn fetch(
        &mut self,
        request: &[u8],
        heads: &mut Heads,
        buffer: &mut [u8],
        mut sink: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Fetched, Failure> {
        self.0.write_all(request).map_err(Failure::Send)?;
        let (head, filled) = self.read_head(heads, buffer)?;
        let mut missing = head.content_length.checked_sub((filled - head.bytes) as u64).ok_or(Failure::Surplus)?;
        sink(&buffer[head.bytes..filled]).map_err(Failure::Store)?;
        while missing > 0 {
            let wanted = usize::try_from(missing).map_or(buffer.len(), |missing| missing.min(buffer.len()));
            let got = self.receive(&mut buffer[..wanted])?;
            if got == 0 {
                return Err(Failure::Ended { missing });
            }
            sink(&buffer[..got]).map_err(Failure::Store)?;
            missing -= got as u64;
        }
        Ok(Fetched { status: head.status, body_bytes: head.content_length })
    }

    /// The head, and how much of `buffer` is filled with it and with what followed it.
    fn read_head(&mut self, heads: &mut Heads, buffer: &mut [u8]) -> Result<(Head, usize), Failure> {
        let mut filled = 0;
        loop {
            if filled == buffer.len() {
                return Err(Failure::HeadTooLong);
            }
            let got = self.receive(&mut buffer[filled..])?;
            if got == 0 {
                return Err(Failure::EndedInHead);
            }
            filled += got;
            if let Some(head) = heads.read(&buffer[..filled]).map_err(Failure::Head)? {
                return Ok((head, filled));
            }
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.0.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(Failure::Receive),
            }
        }
    }
}
