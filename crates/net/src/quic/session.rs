//! TLS inside QUIC: rustls as `quinn-proto` wants it, but telling what came of the handshake, or why nothing did.

use std::any::Any;
use std::sync::Arc;

use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::crypto::{self, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use ring::aead;
use rustls::HandshakeKind;
use rustls::quic::{ClientConnection, Connection, KeyChange, Secrets, ServerConnection, Suite, Version};
use rustls::server::{ProducesTickets, ServerSessionMemoryCache};

use crate::tls::{Alpn, Identity, Peer, Security, TlsError};

/// QUIC version 1 (RFC 9000).
pub(super) const QUIC_1: u32 = 1;
/// RFC 9001, 5.8.
const RETRY_KEY: [u8; 16] =
    [0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e];
const RETRY_NONCE: [u8; 12] = [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];

/// Sessions that a server remembers for early data.
const SESSIONS: usize = 4096;

/// What a session tells: [`crypto::Session::handshake_data`] is one of these.
#[derive(Debug)]
pub(super) struct Facts {
    pub security: Option<Security>,
    pub error: Option<rustls::Error>,
}

struct Session {
    inner: Connection,
    /// Protects the first packets, whatever is negotiated later.
    initial: Suite,
    next: Option<Secrets>,
    told: bool,
    error: Option<rustls::Error>,
}

impl Session {
    fn new(inner: Connection, initial: Suite) -> Self {
        Self { inner, initial, next: None, told: false, error: None }
    }

    fn side(&self) -> Side {
        if matches!(self.inner, Connection::Client(_)) { Side::Client } else { Side::Server }
    }

    fn security(&self) -> Option<Security> {
        let suite = self.inner.negotiated_cipher_suite()?;
        Some(Security {
            tls_version: "1.3",
            cipher: Security::cipher_name(suite.suite()),
            alpn: self.inner.alpn_protocol().and_then(Alpn::of),
            resumed: self.inner.handshake_kind() == Some(HandshakeKind::Resumed),
            early_data: match &self.inner {
                Connection::Client(client) => client.is_early_data_accepted(),
                Connection::Server(server) => server.zero_rtt_keys().is_some(),
            },
        })
    }
}

fn boxed(keys: rustls::quic::Keys) -> Keys {
    Keys {
        header: KeyPair { local: Box::new(keys.local.header), remote: Box::new(keys.remote.header) },
        packet: KeyPair { local: Box::new(keys.local.packet), remote: Box::new(keys.remote.packet) },
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        let side = if side.is_client() { rustls::Side::Client } else { rustls::Side::Server };
        boxed(self.initial.keys(dst_cid, side, Version::V1))
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(Facts { security: self.security(), error: self.error.clone() }))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let keys = self.inner.zero_rtt_keys()?;
        Some((Box::new(keys.header), Box::new(keys.packet)))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        match &self.inner {
            Connection::Client(client) => Some(client.is_early_data_accepted()),
            Connection::Server(_) => None,
        }
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        if let Err(error) = self.inner.read_hs(buf) {
            let reason = error.to_string();
            self.error = Some(error);
            return Err(match self.inner.alert() {
                Some(alert) => TransportError { code: TransportErrorCode::crypto(alert.into()), frame: None, reason },
                None => TransportError { code: TransportErrorCode::PROTOCOL_VIOLATION, frame: None, reason },
            });
        }
        let tells = !self.told && (self.inner.alpn_protocol().is_some() || !self.inner.is_handshaking());
        self.told |= tells;
        Ok(tells)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(mut parameters) = self.inner.quic_transport_parameters() else { return Ok(None) };
        Ok(Some(TransportParameters::read(self.side(), &mut parameters)?))
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        Some(boxed(match self.inner.write_hs(buf)? {
            KeyChange::Handshake { keys } => keys,
            KeyChange::OneRtt { keys, next } => {
                self.next = Some(next);
                keys
            }
        }))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next.as_mut()?.next_packet_keys();
        Some(KeyPair { local: Box::new(keys.local), remote: Box::new(keys.remote) })
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let Some(tag_start) = payload.len().checked_sub(aead::AES_128_GCM.tag_len()) else { return false };
        let Ok(key) = aead::UnboundKey::new(&aead::AES_128_GCM, &RETRY_KEY) else { return false };
        let mut pseudo = Vec::with_capacity(1 + orig_dst_cid.len() + header.len() + payload.len());
        pseudo.push(orig_dst_cid.len() as u8);
        pseudo.extend_from_slice(orig_dst_cid);
        pseudo.extend_from_slice(header);
        let tag_start = pseudo.len() + tag_start;
        pseudo.extend_from_slice(payload);
        let (known, tag) = pseudo.split_at_mut(tag_start);
        let nonce = aead::Nonce::assume_unique_for_key(RETRY_NONCE);
        aead::LessSafeKey::new(key).open_in_place(nonce, aead::Aad::from(known), tag).is_ok()
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        let done = self.inner.export_keying_material(output, label, Some(context));
        done.map(drop).map_err(|_| ExportKeyingMaterialError)
    }
}

/// The suite of first packets (RFC 9001, 5.2), which ring always has.
fn initial_suite(provider: &rustls::crypto::CryptoProvider) -> Option<Suite> {
    let wanted = rustls::CipherSuite::TLS13_AES_128_GCM_SHA256;
    provider.cipher_suites.iter().find(|suite| suite.suite() == wanted)?.tls13()?.quic_suite()
}

fn written(parameters: &TransportParameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.write(&mut bytes);
    bytes
}

/// The client's side, for `quinn-proto`.
pub(super) struct ClientSessions {
    peer: Arc<Peer>,
    initial: Suite,
}

impl ClientSessions {
    pub fn new(peer: &Arc<Peer>) -> Result<Self, TlsError> {
        let initial = initial_suite(peer.config().crypto_provider()).ok_or_else(no_suite)?;
        Ok(Self { peer: Arc::clone(peer), initial })
    }
}

fn no_suite() -> TlsError {
    TlsError::Setup { why: "TLS_AES_128_GCM_SHA256 is missing, which QUIC needs".to_owned() }
}

impl crypto::ClientConfig for ClientSessions {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        if version != QUIC_1 {
            return Err(ConnectError::UnsupportedVersion);
        }
        let (config, name) = (Arc::clone(self.peer.config()), self.peer.name().clone());
        let client = ClientConnection::new(config, Version::V1, name, written(params))
            .map_err(|_| ConnectError::InvalidServerName(server_name.to_owned()))?;
        Ok(Box::new(Session::new(client.into(), self.initial)))
    }
}

/// Sessions are remembered here, not by their clients.
#[derive(Debug)]
struct NoTickets;

impl ProducesTickets for NoTickets {
    fn enabled(&self) -> bool {
        false
    }

    fn lifetime(&self) -> u32 {
        0
    }

    fn encrypt(&self, _plain: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn decrypt(&self, _cipher: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// The server's side, for `quinn-proto`.
pub(super) struct ServerSessions {
    config: Arc<rustls::ServerConfig>,
    keys: QuicServerConfig,
    initial: Suite,
}

impl ServerSessions {
    pub fn new(identity: &Identity) -> Result<Self, TlsError> {
        let mut config = rustls::ServerConfig::clone(identity.config());
        if config.max_early_data_size > 0 {
            // RFC 9001, 4.6.1: QUIC has its own limits, and this value alone for "yes".
            config.max_early_data_size = u32::MAX;
            // rustls takes early data from sessions that it remembers itself and can forget, so that nobody sends it twice.
            config.ticketer = Arc::new(NoTickets);
            config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
        }
        let initial = initial_suite(config.crypto_provider()).ok_or_else(no_suite)?;
        let config = Arc::new(config);
        let keys = QuicServerConfig::try_from(Arc::clone(&config)).map_err(|_| no_suite())?;
        // Settings that rustls does not take for QUIC show here, not with the first client.
        ServerConnection::new(Arc::clone(&config), Version::V1, Vec::new())
            .map_err(|error| TlsError::Setup { why: error.to_string() })?;
        Ok(Self { config, keys, initial })
    }
}

impl crypto::ServerConfig for ServerSessions {
    fn initial_keys(&self, version: u32, dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        if version == QUIC_1 { self.keys.initial_keys(version, dst_cid) } else { Err(UnsupportedVersion) }
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.keys.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn crypto::Session> {
        let server = ServerConnection::new(Arc::clone(&self.config), Version::V1, written(params))
            .expect("`ServerSessions::new` has tried these settings");
        Box::new(Session::new(server.into(), self.initial))
    }
}
