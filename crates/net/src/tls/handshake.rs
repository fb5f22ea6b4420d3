//! The handshake of one connection, by rustls.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, ReadEarlyData, UnbufferedConnectionCommon, UnbufferedStatus};
use rustls::{CommonState, HandshakeKind};

use super::half::Half;
use super::records::{Records, Schedule};
use super::{Alpn, Failure, Identity, Peer, Security};

/// Longer chunks of a handshake do not exist: a certificate's length has 24 bits.
const MOST_FLIGHT: usize = 17 << 20;

/// Either side of a handshake.
pub(super) enum Handshake {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

/// How far a handshake has got.
pub(super) enum Progress {
    /// It needs more input.
    More,
    /// It is complete.
    Done {
        /// The peer has said already that nothing follows.
        closed: bool,
    },
    /// It can't be completed.
    Failed(rustls::Error),
}

impl Handshake {
    pub fn client(peer: &Peer) -> Result<Self, rustls::Error> {
        UnbufferedClientConnection::new(peer.config().clone(), peer.name().clone()).map(|it| Self::Client(Box::new(it)))
    }

    pub fn server(identity: &Identity) -> Result<Self, rustls::Error> {
        UnbufferedServerConnection::new(identity.config().clone()).map(|it| Self::Server(Box::new(it)))
    }

    /// Takes `input`, of which it changes what it has read; appends what has to be sent to `output`, and data that came with
    /// the peer's last message to `data`. Returns how much of the input is done with; the rest has to be there again.
    pub fn advance(&mut self, input: &mut [u8], output: &mut Vec<u8>, data: &mut Vec<u8>) -> (usize, Progress) {
        match self {
            Self::Client(connection) => advance(&mut **connection, input, output, data),
            Self::Server(connection) => advance(&mut **connection, input, output, data),
        }
    }

    /// What a completed handshake came to, and the records behind it.
    pub fn finish(self, keeps_tickets: bool) -> Result<(Security, Records), Failure> {
        let failed = |error: rustls::Error| Failure::Handshake { why: error.to_string() };
        let (security, secrets, schedule) = match self {
            Self::Client(connection) => {
                let security = security(&connection);
                let (secrets, rest) = connection.dangerous_into_kernel_connection().map_err(failed)?;
                (security, secrets, Schedule::Client(Box::new(rest)))
            }
            Self::Server(connection) => {
                let security = security(&connection);
                let (secrets, rest) = connection.dangerous_into_kernel_connection().map_err(failed)?;
                (security, secrets, Schedule::Server(Box::new(rest)))
            }
        };
        let receiving = Half::new(secrets.rx.0, &secrets.rx.1)?;
        let sending = Half::new(secrets.tx.0, &secrets.tx.1)?;
        Ok((security, Records::new(receiving, sending, schedule, keeps_tickets)))
    }
}

fn security(state: &CommonState) -> Security {
    Security {
        tls_version: "1.3",
        cipher: state.negotiated_cipher_suite().map_or("unknown", |suite| Security::cipher_name(suite.suite())),
        alpn: state.alpn_protocol().and_then(Alpn::of),
        resumed: state.handshake_kind() == Some(HandshakeKind::Resumed),
        early_data: false,
    }
}

/// What rustls' two kinds of connections have in common, but not by a trait.
trait Shake {
    type Data;

    fn process<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;
    fn is_complete(&self) -> bool;
    fn has_to_say(&self) -> bool;
    fn read_early(read: ReadEarlyData<'_, '_, Self::Data>, into: &mut Vec<u8>);
}

impl Shake for UnbufferedClientConnection {
    type Data = ClientConnectionData;

    fn process<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        UnbufferedConnectionCommon::<ClientConnectionData>::process_tls_records(self, input)
    }

    fn is_complete(&self) -> bool {
        !self.is_handshaking()
    }

    fn has_to_say(&self) -> bool {
        self.wants_write()
    }

    fn read_early(_read: ReadEarlyData<'_, '_, Self::Data>, _into: &mut Vec<u8>) {}
}

impl Shake for UnbufferedServerConnection {
    type Data = ServerConnectionData;

    fn process<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        UnbufferedConnectionCommon::<ServerConnectionData>::process_tls_records(self, input)
    }

    fn is_complete(&self) -> bool {
        !self.is_handshaking()
    }

    fn has_to_say(&self) -> bool {
        self.wants_write()
    }

    fn read_early(mut read: ReadEarlyData<'_, '_, Self::Data>, into: &mut Vec<u8>) {
        while let Some(Ok(record)) = read.next_record() {
            into.extend_from_slice(record.payload);
        }
    }
}

fn advance<S: Shake>(
    connection: &mut S,
    input: &mut [u8],
    output: &mut Vec<u8>,
    data: &mut Vec<u8>,
) -> (usize, Progress) {
    let (mut used, mut closed) = (0, false);
    loop {
        let complete = connection.is_complete();
        let UnbufferedStatus { discard, state } = connection.process(&mut input[used..]);
        let progress = match state {
            Ok(ConnectionState::EncodeTlsData(mut encoding)) => {
                append(output, |space| encoding.encode(space).ok());
                None
            }
            Ok(ConnectionState::TransmitTlsData(transmitting)) => {
                transmitting.done();
                None
            }
            Ok(ConnectionState::ReadTraffic(mut read)) => {
                while let Some(Ok(record)) = read.next_record() {
                    data.extend_from_slice(record.payload);
                }
                None
            }
            Ok(ConnectionState::ReadEarlyData(read)) => {
                S::read_early(read, data);
                None
            }
            Ok(ConnectionState::WriteTraffic(_)) if complete => Some(Progress::Done { closed }),
            // Completed in this very step: once more, to be sure that nothing is left to be sent.
            Ok(ConnectionState::WriteTraffic(_)) => (!connection.is_complete()).then_some(Progress::More),
            Ok(ConnectionState::PeerClosed) => {
                closed = true;
                None
            }
            Ok(_) if closed => {
                Some(Progress::Failed(rustls::Error::General("the peer ended it with close_notify".to_owned())))
            }
            Ok(_) => Some(Progress::More),
            Err(error) => {
                // What it has to tell the peer of that. No more input: it would be read again, from where it failed.
                while connection.has_to_say()
                    && let Ok(ConnectionState::EncodeTlsData(mut encoding)) = connection.process(&mut []).state
                {
                    append(output, |space| encoding.encode(space).ok());
                }
                used += discard;
                return (used, Progress::Failed(error));
            }
        };
        used += discard;
        if let Some(progress) = progress {
            return (used, progress);
        }
    }
}

/// Appends what `encode` writes: a chunk of the handshake, which has no bound of its own.
fn append(output: &mut Vec<u8>, mut encode: impl FnMut(&mut [u8]) -> Option<usize>) {
    let start = output.len();
    for room in [4 << 10, 64 << 10, MOST_FLIGHT] {
        output.resize(start + room, 0);
        if let Some(written) = encode(&mut output[start..]) {
            return output.truncate(start + written);
        }
    }
    output.truncate(start);
}
