//! What the laboratory asks for: `photofinish.visit/1`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use photofinish_http::coding::Coding;
use photofinish_load::mix::is_of_connections;
use photofinish_load::request::RequestError;
use photofinish_load::{Checker, Expect, Protocol, Request, Schedule, Spread, StatusRule, UnknownProtocol};
use photofinish_net::Backend;
use photofinish_net::tls::{Alpn, Peer, PeerOptions, TlsError, Trust};
use serde::Deserialize;

use crate::cost::CpuSource;
use crate::journey::{OrderError, Phase, check_order, schema_of};

pub const SCHEMA: &str = "photofinish.visit/1";

/// Why a document can't be carried out.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("the document on standard input is not valid: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "the document's schema is `{0}`, this engine knows `{SCHEMA}`: use an engine and a laboratory of one version"
    )]
    Schema(String),
    #[error("threads is {0}: this engine visits with one thread; set threads to 1")]
    Threads(u32),
    #[error("backend is `{0}`: use auto, io_uring or epoll")]
    Backend(String),
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    #[error("load.rate is {0}: use a number of requests a second above 0")]
    Rate(f64),
    #[error("{place} is `{text}`: use 16 hexadecimal digits or null")]
    Hash { place: String, text: String },
    #[error("{place} is `{text}`: use identity, gzip, deflate, br, zstd or null")]
    Coding { place: String, text: String },
    #[error(transparent)]
    Order(#[from] OrderError),
    #[error("targets[{target}] has no `{name}`, and neither has the document: give one of them")]
    Missing { target: usize, name: &'static str },
    #[error("targets[{target}].protocol: {error}")]
    Protocol { target: usize, error: UnknownProtocol },
    #[error("targets[{target}]: {error}")]
    Tls { target: usize, error: TlsError },
    #[error("{place} has a field `{name}`, which only HTTP/1.1 can send: leave it out")]
    OfConnections { place: String, name: String },
    #[error("{place}: {error}")]
    Request { place: String, error: RequestError },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    #[serde(rename = "schema")]
    _schema: String,
    pub deadline_ms: u64,
    #[serde(default = "auto")]
    backend: String,
    #[serde(default = "one")]
    threads: u32,
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// `null`: spin if the engine was given a CPU of its own and there is another one.
    #[serde(default)]
    spin: Option<bool>,
    pub window_ms: f64,
    pub settle_ms: f64,
    pub drain_ms: f64,
    /// Closes a target's connections after each visit and makes them anew at the next; else they rest open.
    #[serde(default)]
    pub reconnect: bool,
    pub load: Load,
    /// For targets whose protocol is encrypted.
    #[serde(default)]
    tls: TlsPart,
    /// For targets without one of their own.
    #[serde(default)]
    request: Option<RequestPart>,
    #[serde(default)]
    expect: Option<ExpectPart>,
    pub targets: Vec<Target>,
    pub phases: Vec<Phase>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "mode", rename_all = "lowercase", deny_unknown_fields)]
pub enum Load {
    Closed {
        connections: u32,
        /// Requests in flight a connection.
        #[serde(default = "one")]
        streams: u32,
    },
    Open {
        connections: u32,
        #[serde(default = "one")]
        streams: u32,
        rate: f64,
        #[serde(default)]
        arrivals: Arrivals,
        #[serde(default)]
        seed: u64,
    },
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    #[default]
    Constant,
    Poisson,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(default)]
struct TlsPart {
    /// PEM file of authorities; `null`: the system's.
    ca: Option<PathBuf>,
    insecure: bool,
    /// Whom certificates have to be for; `null`: the target's address.
    server_name: Option<String>,
    resume: bool,
    early_data: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestPart {
    #[serde(default = "get")]
    method: String,
    path: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectPart {
    status: u16,
    #[serde(default)]
    body_bytes: Option<u64>,
    #[serde(default)]
    body_xxh3: Option<String>,
    /// `null`: not looked at; `identity`: there may be none. Length and hash are the decoded body's.
    #[serde(default)]
    coding: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub id: String,
    pub address: SocketAddr,
    #[serde(default)]
    pub cpu: Option<CpuSource>,
    #[serde(default)]
    protocol: Option<String>,
    /// In place of the document's own, as a whole.
    #[serde(default)]
    request: Option<RequestPart>,
    #[serde(default)]
    expect: Option<ExpectPart>,
}

impl Document {
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let schema = schema_of(text)?;
        if schema != SCHEMA {
            return Err(DocumentError::Schema(schema));
        }
        let document: Self = serde_json::from_str(text)?;
        document.check()?;
        Ok(document)
    }

    fn check(&self) -> Result<(), DocumentError> {
        if self.threads != 1 {
            return Err(DocumentError::Threads(self.threads));
        }
        if self.backend.parse::<Backend>().is_err() {
            return Err(DocumentError::Backend(self.backend.clone()));
        }
        for (name, count) in [("load.connections", self.load.connections()), ("load.streams", self.load.streams())] {
            if count == 0 {
                return Err(DocumentError::Zero(name));
            }
        }
        for (name, span) in [("deadline_ms", self.deadline_ms as f64), ("window_ms", self.window_ms)] {
            if !span.is_finite() || span <= 0.0 {
                return Err(DocumentError::Zero(name));
            }
        }
        if !self.drain_ms.is_finite() || self.drain_ms < 1.0 {
            return Err(DocumentError::Zero("drain_ms"));
        }
        if let Load::Open { rate, .. } = self.load
            && !(rate.is_finite() && rate > 0.0)
        {
            return Err(DocumentError::Rate(rate));
        }
        check_order(&self.phases, self.targets.len())?;
        for target in 0..self.targets.len() {
            self.checker(target)?;
            self.request(target)?;
            self.protocol(target)?;
        }
        Ok(())
    }

    pub fn backend(&self) -> Backend {
        self.backend.parse().unwrap_or_default()
    }

    pub fn connections_in_all(&self) -> usize {
        self.load.connections() as usize * self.targets.len()
    }

    /// Spinning spares the target the cost of waking the engine, which the kernel would charge to the target; on a CPU
    /// that both share it would take the target's time instead.
    pub fn spins(&self) -> bool {
        self.spin.unwrap_or(!self.cpus.is_empty() && crate::cpus::online() > 1)
    }

    /// A checker that knows nothing yet: each target has its own.
    pub fn checker(&self, target: usize) -> Result<Checker, DocumentError> {
        let (part, place) = pick(target, self.targets[target].expect.as_ref(), self.expect.as_ref(), "expect")?;
        Ok(Checker::new(Expect {
            status: StatusRule::Exactly(part.status),
            body_bytes: part.body_bytes,
            body_xxh3: part.hash(&place)?,
            coding: part.coding(&place)?,
            same_body: true,
        }))
    }

    /// What is spoken with a target.
    pub fn protocol(&self, target: usize) -> Result<Protocol, DocumentError> {
        let text = self.targets[target].protocol.as_deref();
        text.map_or(Ok(Protocol::default()), str::parse).map_err(|error| DocumentError::Protocol { target, error })
    }

    /// The other end of a target's TLS or QUIC, if its protocol is encrypted. Targets share none: a session of one is none
    /// of another's.
    pub fn peer(&self, target: usize) -> Result<Option<Arc<Peer>>, DocumentError> {
        let alpn = match self.protocol(target)? {
            Protocol::Http1 | Protocol::Http2 => return Ok(None),
            Protocol::Http1Tls => Alpn::Http1,
            Protocol::Http2Tls => Alpn::H2,
            Protocol::Http3 => Alpn::H3,
        };
        let TlsPart { ca, insecure, server_name, resume, early_data } = &self.tls;
        let options = PeerOptions {
            trust: match ca {
                _ if *insecure => Trust::Anybody,
                Some(file) => Trust::File(file.clone()),
                None => Trust::System,
            },
            name: server_name.clone().unwrap_or_else(|| self.targets[target].address.ip().to_string()),
            protocols: vec![alpn],
            resume: *resume,
            early_data: *early_data,
        };
        let peer = Peer::new(&options).map_err(|error| DocumentError::Tls { target, error })?;
        Ok(Some(Arc::new(peer)))
    }

    /// What one target is loaded with; `open`: by a schedule.
    pub fn load_of(&self, target: usize, open: bool) -> Result<photofinish_load::Target, DocumentError> {
        let (address, connections) = (self.targets[target].address, self.load.connections());
        let (request, checker) = (self.request(target)?, self.checker(target)?);
        let protocol = self.protocol(target)?;
        Ok(photofinish_load::Target {
            protocol,
            peer: self.peer(target)?,
            depth: if protocol.has_streams() { self.load.streams() } else { 1 },
            ..photofinish_load::Target::new(address, request, connections, checker, open)
        })
    }

    /// The request of one target; its bytes are leaked.
    pub fn request(&self, target: usize) -> Result<Request, DocumentError> {
        let Target { address, request: own, .. } = &self.targets[target];
        let (part, place) = pick(target, own.as_ref(), self.request.as_ref(), "request")?;
        if self.protocol(target)?.has_streams()
            && let Some((name, _)) = part.headers.iter().find(|(name, value)| is_of_connections(name, value))
        {
            return Err(DocumentError::OfConnections { place, name: name.clone() });
        }
        Request::build(&part.method, &address.to_string(), &part.path, &part.headers)
            .map_err(|error| DocumentError::Request { place, error })
    }

    /// The open loop's schedule, if it is one; each target gets its own random sequence.
    pub fn schedule(&self, target: usize) -> Option<Schedule> {
        match self.load {
            Load::Closed { .. } => None,
            Load::Open { rate, arrivals, seed, .. } => {
                let spread = match arrivals {
                    Arrivals::Constant => Spread::Constant,
                    Arrivals::Poisson => Spread::Poisson,
                };
                Some(Schedule::new(spread, rate, seed.wrapping_add(target as u64), 0, 1))
            }
        }
    }
}

/// A target's own part or the document's, and the place where it stands.
fn pick<'a, T>(
    target: usize,
    own: Option<&'a T>,
    common: Option<&'a T>,
    name: &'static str,
) -> Result<(&'a T, String), DocumentError> {
    match (own, common) {
        (Some(own), _) => Ok((own, format!("targets[{target}].{name}"))),
        (None, Some(common)) => Ok((common, name.to_owned())),
        (None, None) => Err(DocumentError::Missing { target, name }),
    }
}

impl ExpectPart {
    fn coding(&self, place: &str) -> Result<Option<Coding>, DocumentError> {
        let Some(text) = &self.coding else { return Ok(None) };
        match Coding::named(text.as_bytes()).filter(|coding| !coding.needs_dictionary()) {
            Some(coding) => Ok(Some(coding)),
            None => Err(DocumentError::Coding { place: format!("{place}.coding"), text: text.clone() }),
        }
    }

    fn hash(&self, place: &str) -> Result<Option<u64>, DocumentError> {
        let Some(text) = &self.body_xxh3 else { return Ok(None) };
        match u64::from_str_radix(text, 16) {
            Ok(hash) if text.len() == 16 => Ok(Some(hash)),
            _ => Err(DocumentError::Hash { place: format!("{place}.body_xxh3"), text: text.clone() }),
        }
    }
}

impl Load {
    pub const fn connections(&self) -> u32 {
        match self {
            Self::Closed { connections, .. } | Self::Open { connections, .. } => *connections,
        }
    }

    pub const fn streams(&self) -> u32 {
        match self {
            Self::Closed { streams, .. } | Self::Open { streams, .. } => *streams,
        }
    }
}

fn auto() -> String {
    "auto".to_owned()
}

fn get() -> String {
    "GET".to_owned()
}

const fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"schema":"photofinish.visit/1","deadline_ms":1000,"backend":"auto","threads":1,"cpus":[0],
        "window_ms":15,"settle_ms":2,"drain_ms":250,"load":{"mode":"open","connections":5,"rate":100,"arrivals":"poisson",
        "seed":1},"request":{"method":"GET","path":"/","headers":[["Accept","*/*"]]},
        "expect":{"status":200,"body_bytes":12,"body_xxh3":"0123456789abcdef"},
        "targets":[{"id":"a","address":"127.0.0.1:1","cpu":{"kind":"cgroup-v1","path":"/x"}},
        {"id":"b","address":"127.0.0.1:2","cpu":{"kind":"processes","root_pid":1}}],
        "phases":[{"name":"measure","order":[[0,1],[1,0]]}]}"#;

    #[test]
    fn a_good_document_is_understood() {
        let document = Document::parse(GOOD).unwrap();
        assert_eq!(document.connections_in_all(), 10);
        assert!(document.schedule(0).is_some() && document.phases[0].is_measured());
    }

    #[test]
    fn a_target_may_have_a_request_and_expectations_of_its_own() {
        let own = r#""127.0.0.1:2","request":{"path":"/own"},"expect":{"status":404}"#;
        let document = Document::parse(&GOOD.replace("\"127.0.0.1:2\"", own)).unwrap();
        assert!(document.request(0).unwrap().bytes.starts_with(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAccept"));
        assert_eq!(document.request(1).unwrap().bytes, b"GET /own HTTP/1.1\r\nHost: 127.0.0.1:2\r\n\r\n");
        let expects = [0, 1].map(|target| *document.checker(target).unwrap().expect());
        assert_eq!(expects.map(|expect| expect.status), [StatusRule::Exactly(200), StatusRule::Exactly(404)]);
        assert_eq!(expects.map(|expect| expect.body_bytes), [Some(12), None]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, wanted) in [
            ("visit/1", "visit/2", "schema is `photofinish.visit/2`"),
            ("\"threads\":1", "\"threads\":2", "threads is 2"),
            ("[1,0]", "[1,2]", "no target 2"),
            ("\"status\":200,", "\"status\":200,\"coding\":\"lz4\",", "expect.coding is `lz4`: use identity, gzip"),
            ("0123456789abcdef", "xyz", "16 hexadecimal"),
            ("\"rate\":100", "\"rate\":0", "load.rate"),
            ("\"auto\"", "\"kqueue\"", "kqueue"),
            ("\"settle_ms\"", "\"settel_ms\"", "settel_ms"),
            ("\"connections\":5", "\"connections\":0", "load.connections"),
            ("\"connections\":5", "\"connections\":5,\"streams\":0", "load.streams"),
            (
                "\"expect\":{\"status\":200,\"body_bytes\":12,\"body_xxh3\":\"0123456789abcdef\"},",
                "",
                "targets[0] has no `expect`",
            ),
            ("\"127.0.0.1:2\"", "\"127.0.0.1:2\",\"protocol\":\"h4\"", "targets[1].protocol: `h4`"),
            ("\"path\":\"/\"", "\"path\":\"x\"", "request: `x` is no request path"),
            (
                "\"127.0.0.1:2\"",
                "\"127.0.0.1:2\",\"expect\":{\"status\":200,\"body_xxh3\":\"q\"}",
                "targets[1].expect.body_xxh3",
            ),
            ("\"127.0.0.1:2\"", "\"127.0.0.1:2\",\"request\":{\"path\":\"y\"}", "targets[1].request: `y`"),
        ] {
            let error = Document::parse(&GOOD.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
