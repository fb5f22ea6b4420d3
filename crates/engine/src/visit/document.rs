//! What the laboratory asks for: `photofinish.visit/1`.

use std::net::SocketAddr;

use photofinish_load::request::RequestError;
use photofinish_load::{Checker, Expect, Protocol, Request, Schedule, Spread, StatusRule, UnknownProtocol};
use photofinish_net::Backend;
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
    #[error(transparent)]
    Order(#[from] OrderError),
    #[error("targets[{target}] has no `{name}`, and neither has the document: give one of them")]
    Missing { target: usize, name: &'static str },
    #[error("targets[{target}].protocol: {error}")]
    Protocol { target: usize, error: UnknownProtocol },
    #[error("targets[{target}].protocol: visits do not speak {protocol} yet: use http/1.1")]
    Unspoken { target: usize, protocol: Protocol },
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
            match self.protocol(target)? {
                Protocol::Http1 => {}
                protocol => return Err(DocumentError::Unspoken { target, protocol }),
            }
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
            same_body: true,
        }))
    }

    /// What is spoken with a target.
    pub fn protocol(&self, target: usize) -> Result<Protocol, DocumentError> {
        let text = self.targets[target].protocol.as_deref();
        text.map_or(Ok(Protocol::default()), str::parse).map_err(|error| DocumentError::Protocol { target, error })
    }

    /// The request of one target; its bytes are leaked.
    pub fn request(&self, target: usize) -> Result<Request, DocumentError> {
        let Target { address, request: own, .. } = &self.targets[target];
        let (part, place) = pick(target, own.as_ref(), self.request.as_ref(), "request")?;
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
