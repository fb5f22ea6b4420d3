//! Looking into the body of an upload: what it consists of, and its hashes.

use photofinish_http::BodyHash;
use photofinish_http::request::Framing;
use serde::Serialize;

use crate::exchange::Ask;

/// What an upload turned out to be, as its answer says it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Findings {
    bytes: u64,
    content_length: Option<u64>,
    chunked: bool,
    content_type: Option<String>,
    parts: Vec<Part>,
    xxh3: String,
    sha256: Option<String>,
}

/// One part of a multipart body.
#[derive(Clone, Debug, Serialize)]
struct Part {
    name: String,
    filename: Option<String>,
    content_type: Option<String>,
    bytes: u64,
    xxh3: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl Findings {
    pub fn to_json(&self) -> Vec<u8> {
        // Strings, numbers and lists: nothing in them that JSON can't say.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A body that is being looked into.
pub(crate) struct Inspection {
    findings: Findings,
    whole: BodyHash,
}

/// Why a body is no answer to what its `Content-Type` says.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum InspectError {}

impl std::fmt::Debug for Inspection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.findings.fmt(formatter)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "bodies that contradict their type are errors")]
impl Inspection {
    pub fn new(ask: &Ask<'_>, _sha256: bool) -> Result<Self, InspectError> {
        let findings = Findings {
            bytes: 0,
            content_length: ask.content_length(),
            chunked: ask.framing == Framing::Chunked,
            content_type: ask.content_type.map(|text| String::from_utf8_lossy(text).into_owned()),
            parts: Vec::new(),
            xxh3: String::new(),
            sha256: None,
        };
        Ok(Self { findings, whole: BodyHash::default() })
    }

    pub fn read(&mut self, piece: &[u8]) -> Result<(), InspectError> {
        self.findings.bytes += piece.len() as u64;
        self.whole.update(piece, None);
        Ok(())
    }

    pub fn end(mut self) -> Result<Box<Findings>, InspectError> {
        self.findings.xxh3 = format!("{:016x}", self.whole.digest());
        Ok(Box::new(self.findings))
    }
}
