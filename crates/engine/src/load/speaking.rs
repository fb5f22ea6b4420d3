//! What is spoken with the servers: flags become a protocol, its windows and the other end of TLS.

use std::path::PathBuf;
use std::sync::Arc;

use photofinish_load::Protocol;
use photofinish_load::driver::Windows;
use photofinish_net::tls::{Alpn, Peer, PeerOptions, Trust};

use super::requests::Group;

/// What a connection may receive before it gives its peer more, at least (RFC 9113, 6.9.2).
const LEAST_CONNECTION_WINDOW: i64 = 65_535;
const MOST_WINDOW: i64 = 0x7fff_ffff;

/// Flags of the protocol.
#[derive(clap::Args, Clone, Debug)]
pub struct SpeakingFlags {
    /// Version of HTTP: https:// URLs add TLS 1.3; 2 on http:// URLs is spoken from the first byte on (prior knowledge)
    #[arg(long = "http", value_name = "VERSION", default_value = "1.1")]
    pub version: Version,
    /// Requests in flight on a connection of HTTP/2 or 3, each on a stream of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub streams: u32,
    /// What a server may send on one stream of HTTP/2 or 3 before it is given more, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Windows::default().stream,
        value_parser = clap::value_parser!(u32).range(1..=MOST_WINDOW))]
    pub stream_window: u32,
    /// The same of all streams of a connection together
    #[arg(long, value_name = "BYTES", default_value_t = Windows::default().connection,
        value_parser = clap::value_parser!(u32).range(LEAST_CONNECTION_WINDOW..=MOST_WINDOW))]
    pub connection_window: u32,
    /// Trust the certificates of this PEM file instead of the system's authorities
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// Trust any certificate; every report says so
    #[arg(long)]
    pub insecure: bool,
    /// Whom the certificate has to be for, if not the host of the URL
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// Go on with earlier TLS sessions where the server lets it, instead of a full handshake for each connection
    #[arg(long)]
    pub resume: bool,
    /// Send requests before the handshake has ended, where an earlier session allows it
    #[arg(long, requires = "resume")]
    pub early_data: bool,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Version {
    /// HTTP/1.1
    #[value(name = "1.1", alias = "1")]
    One,
    /// HTTP/2
    #[value(name = "2")]
    Two,
    /// HTTP/3
    #[value(name = "3")]
    Three,
}

/// What is spoken with one server.
#[derive(Clone, Debug)]
pub struct Speaking {
    /// The protocol.
    pub protocol: Protocol,
    /// The other end of TLS or QUIC, if there is one.
    pub peer: Option<Arc<Peer>>,
}

impl SpeakingFlags {
    /// Windows for protocols with streams.
    pub const fn windows(&self) -> Windows {
        Windows { stream: self.stream_window, connection: self.connection_window }
    }

    /// Requests that a connection has under way, pipelining included.
    pub fn depth(&self, pipeline: u32) -> u32 {
        if self.version == Version::One { pipeline } else { self.streams }
    }

    /// Checks what belongs together.
    pub fn check(&self, groups: &[Group], pipeline: u32) -> Result<(), String> {
        if self.version == Version::One && self.streams > 1 {
            return Err(
                "--streams needs a protocol that has some: add --http 2 or --http 3, or use --pipeline".to_owned()
            );
        }
        if self.version != Version::One && pipeline > 1 {
            return Err("--pipeline is of HTTP/1.1: use --streams with --http 2 or 3".to_owned());
        }
        let tls = [
            ("--ca", self.ca.is_some()),
            ("--insecure", self.insecure),
            ("--server-name", self.server_name.is_some()),
            ("--resume", self.resume),
        ];
        if let Some((flag, _)) = tls.iter().find(|flag| flag.1)
            && !groups.iter().any(|group| group.url.secure)
        {
            return Err(format!("{flag} is of TLS: write https:// in the URL"));
        }
        if self.version == Version::One {
            return Ok(());
        }
        let field = groups.iter().find_map(|group| group.of_connections.clone());
        field.map_or(Ok(()), |name| {
            Err(format!("the field `{name}` is of connections of HTTP/1.1 and can't be sent here: leave it out"))
        })
    }

    /// What is spoken with a group's server.
    pub fn with(&self, group: &Group) -> Result<Speaking, String> {
        let url = &group.url;
        let (protocol, alpn) = match (self.version, url.secure) {
            (Version::One, false) => (Protocol::Http1, Alpn::Http1),
            (Version::One, true) => (Protocol::Http1Tls, Alpn::Http1),
            (Version::Two, false) => (Protocol::Http2, Alpn::H2),
            (Version::Two, true) => (Protocol::Http2Tls, Alpn::H2),
            (Version::Three, true) => (Protocol::Http3, Alpn::H3),
            (Version::Three, false) => {
                return Err(format!("HTTP/3 is always encrypted: write https://{}{}", url.authority, url.path));
            }
        };
        if !url.secure {
            return Ok(Speaking { protocol, peer: None });
        }
        let options = PeerOptions {
            trust: match (&self.ca, self.insecure) {
                (_, true) => Trust::Anybody,
                (Some(file), false) => Trust::File(file.clone()),
                (None, false) => Trust::System,
            },
            name: self.server_name.clone().unwrap_or_else(|| url.host.clone()),
            protocols: vec![alpn],
            resume: self.resume,
            early_data: self.early_data,
        };
        let peer = Peer::new(&options).map_err(|error| error.to_string())?;
        Ok(Speaking { protocol, peer: Some(Arc::new(peer)) })
    }
}
