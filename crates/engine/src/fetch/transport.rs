//! The stream of bytes to the server: blocking, in clear text or over TLS.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use rustls::{ClientConnection, StreamOwned};

use super::settings::Settings;

/// Why a repetition has no response.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{what}: {error}")]
    Io { what: &'static str, error: io::Error },
    #[error("the handshake: {0}")]
    Tls(rustls::Error),
    #[error("the server did not choose {0} by ALPN")]
    Protocol(&'static str),
    #[error("the response: {0}")]
    Malformed(String),
    #[error("the connection ended before the response did")]
    Early,
    #[error("the body as it came is longer than {0} bytes")]
    TooLong(usize),
}

impl Failure {
    /// For `map_err`.
    pub const fn io(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Io { what, error }
    }
}

pub enum Transport {
    Clear(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Transport {
    /// Connects and, over TLS, shakes hands and makes sure of the protocol.
    pub fn open(settings: &Settings) -> Result<Self, Failure> {
        let mut socket = TcpStream::connect(&settings.authority).map_err(Failure::io("connect"))?;
        socket.set_nodelay(true).map_err(Failure::io("connect"))?;
        let Some(peer) = &settings.peer else { return Ok(Self::Clear(socket)) };
        let mut session = ClientConnection::new(peer.config().clone(), peer.name().clone()).map_err(Failure::Tls)?;
        while session.is_handshaking() {
            session.complete_io(&mut socket).map_err(Failure::io("the handshake"))?;
        }
        let wanted = if settings.h2 { "h2" } else { "http/1.1" };
        if session.alpn_protocol() != Some(wanted.as_bytes()) {
            return Err(Failure::Protocol(wanted));
        }
        Ok(Self::Tls(Box::new(StreamOwned::new(session, socket))))
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let sent = match self {
            Self::Clear(socket) => socket.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        };
        sent.map_err(Failure::io("send"))
    }

    /// The next bytes, into `buffer`; none at the connection's end.
    pub fn receive<'b>(&mut self, buffer: &'b mut [u8]) -> Result<&'b [u8], Failure> {
        loop {
            let got = match self {
                Self::Clear(socket) => socket.read(buffer),
                Self::Tls(stream) => stream.read(buffer),
            };
            match got {
                Ok(got) => return Ok(&buffer[..got]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Io { what: "receive", error }),
            }
        }
    }
}
