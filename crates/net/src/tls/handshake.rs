//! The handshake of one connection, by rustls.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::UnbufferedStatus;
use rustls::unbuffered::{ConnectionState, ReadEarlyData, TransmitTlsData, UnbufferedConnectionCommon};
use rustls::{CommonState, HandshakeKind};

use super::half::{Half, RECORD_OVERHEAD};
use super::records::{Records, Schedule};
use super::{Alpn, Failure, Identity, Peer, Security};

/// Longer chunks of a handshake do not exist: a certificate's length has 24 bits.
const MOST_FLIGHT: usize = 17 << 20;

/// The record that a client sends behind its early data if, and only if, the server has accepted it (RFC 8446, 4.5).
const END_OF_EARLY_DATA: usize = 4 + RECORD_OVERHEAD;

/// Either side of a handshake.
enum Side {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

/// What became of data that was sent before the end of the handshake.
#[derive(Default)]
struct Early {
    /// There was the time for it.
    offered: bool,
    accepted: bool,
}

/// A handshake that is not complete.
pub(super) struct Handshake {
    side: Side,
    early: Early,
}

/// How far a handshake has got.
pub(super) enum Progress {
    /// It needs more input.
    More,
    /// Data may be sent already: [`Handshake::send_early`] comes next.
    Early,
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
        let connection = UnbufferedClientConnection::new(peer.config().clone(), peer.name().clone())?;
        Ok(Self { side: Side::Client(Box::new(connection)), early: Early::default() })
    }

    pub fn server(identity: &Identity) -> Result<Self, rustls::Error> {
        let connection = UnbufferedServerConnection::new(identity.config().clone())?;
        Ok(Self { side: Side::Server(Box::new(connection)), early: Early::default() })
    }

    /// Takes `input`, of which it changes what it has read; appends what has to be sent to `output`, and data that came with
    /// the peer's last message to `data`. Returns how much of the input is done with; the rest has to be there again.
    pub fn advance(&mut self, input: &mut [u8], output: &mut Vec<u8>, data: &mut Vec<u8>) -> (usize, Progress) {
        let Self { side, early } = self;
        match side {
            Side::Client(connection) => advance(&mut **connection, early, input, output, data),
            Side::Server(connection) => advance(&mut **connection, early, input, output, data),
        }
    }

    /// Appends `text` as early data to `output`, behind the first message. Returns how much of it the server may be sent.
    pub fn send_early(&mut self, text: &[u8], output: &mut Vec<u8>) -> usize {
        let Side::Client(connection) = &mut self.side else { return 0 };
        let UnbufferedStatus { state: Ok(ConnectionState::TransmitTlsData(mut transmitting)), .. } =
            connection.process(&mut [])
        else {
            return 0;
        };
        let start = output.len();
        let mut written = 0;
        if let Some(mut early) = transmitting.may_encrypt_early_data()
            && !text.is_empty()
        {
            output.resize(start + text.len() + RECORD_OVERHEAD, 0);
            written = early.encrypt(text, &mut output[start..]).unwrap_or(0);
            output.truncate(start + written);
        }
        transmitting.done();
        written.saturating_sub(RECORD_OVERHEAD)
    }

    /// What is known before the server has answered, of a session that is gone on with to send early data.
    pub fn expected(&self, peer: &Peer) -> Option<Security> {
        let Side::Client(connection) = &self.side else { return None };
        let alpn = if let [only] = peer.protocols() { Some(*only) } else { None };
        Some(Security { alpn, resumed: true, ..security(connection) })
    }

    /// What a completed handshake came to, and the records behind it.
    pub fn finish(self, keeps_tickets: bool) -> Result<(Security, Records), Failure> {
        let failed = |error: rustls::Error| Failure::Handshake { why: error.to_string() };
        let (security, secrets, schedule) = match self.side {
            Side::Client(connection) => {
                let security = Security { early_data: self.early.accepted, ..security(&connection) };
                let (secrets, rest) = connection.dangerous_into_kernel_connection().map_err(failed)?;
                (security, secrets, Schedule::Client(Box::new(rest)))
            }
            Side::Server(connection) => {
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
    fn may_send_early(transmitting: &mut TransmitTlsData<'_, Self::Data>) -> bool;
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

    fn may_send_early(transmitting: &mut TransmitTlsData<'_, Self::Data>) -> bool {
        transmitting.may_encrypt_early_data().is_some()
    }
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

    fn may_send_early(_transmitting: &mut TransmitTlsData<'_, Self::Data>) -> bool {
        false
    }
}

fn advance<S: Shake>(
    connection: &mut S,
    early: &mut Early,
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
                let start = output.len();
                append(output, |space| encoding.encode(space).ok());
                early.accepted |= early.offered && output.len() - start == END_OF_EARLY_DATA;
                None
            }
            Ok(ConnectionState::TransmitTlsData(mut transmitting)) => {
                if !early.offered && S::may_send_early(&mut transmitting) {
                    early.offered = true;
                    Some(Progress::Early)
                } else {
                    transmitting.done();
                    None
                }
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
