//! Looking into the body of an upload: what it consists of, and its hashes.

use std::fmt::{self, Write as _};

use photofinish_http::BodyHash;
use photofinish_http::multipart::{Event, MultipartError, MultipartReader, PartHead, boundary_of};
use photofinish_http::request::Framing;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::exchange::Ask;

/// What an upload turned out to be, as its answer says it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Findings {
    bytes: u64,
    content_length: Option<u64>,
    chunked: bool,
    content_type: Option<String>,
    /// Of a multipart body; empty for any other.
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
    whole: Hashes,
    part: Hashes,
    /// `None` for a body of another type, which has no parts.
    reader: Option<MultipartReader>,
}

impl fmt::Debug for Inspection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.fmt(formatter)
    }
}

impl Inspection {
    /// Begins with the body that `ask` announces.
    pub fn new(ask: &Ask<'_>, sha256: bool) -> Result<Self, MultipartError> {
        let boundary = ask.content_type.map_or(Ok(None), boundary_of)?;
        let findings = Findings {
            bytes: 0,
            content_length: ask.content_length(),
            chunked: ask.framing == Framing::Chunked,
            content_type: ask.content_type.map(|text| String::from_utf8_lossy(text).into_owned()),
            parts: Vec::new(),
            xxh3: String::new(),
            sha256: None,
        };
        let reader = boundary.map(|boundary| MultipartReader::new(&boundary)).transpose()?;
        Ok(Self { findings, whole: Hashes::new(sha256), part: Hashes::new(sha256), reader })
    }

    /// Takes the next bytes.
    pub fn read(&mut self, piece: &[u8]) -> Result<(), MultipartError> {
        let Self { findings, whole, part, reader } = self;
        findings.bytes += piece.len() as u64;
        whole.update(piece);
        let Some(reader) = reader else { return Ok(()) };
        let parts = &mut findings.parts;
        reader.read(piece, |event| match event {
            Event::Part(head) => parts.push(Part::begin(head)),
            Event::Data(bytes) => part.update(bytes),
            Event::PartEnd => {
                if let Some(ended) = parts.last_mut() {
                    ended.bytes = part.xxh3.bytes();
                    (ended.xxh3, ended.sha256) = part.take();
                }
            }
        })
    }

    /// The body has ended.
    pub fn end(mut self) -> Result<Box<Findings>, MultipartError> {
        if let Some(reader) = &self.reader {
            reader.end()?;
        }
        (self.findings.xxh3, self.findings.sha256) = self.whole.take();
        Ok(Box::new(self.findings))
    }
}

impl Part {
    fn begin(head: PartHead) -> Self {
        let PartHead { name, filename, content_type } = head;
        Self { name, filename, content_type, bytes: 0, xxh3: String::new(), sha256: None }
    }
}

/// The hashes of some bytes.
struct Hashes {
    xxh3: BodyHash,
    sha256: Option<Sha256>,
}

impl Hashes {
    fn new(sha256: bool) -> Self {
        Self { xxh3: BodyHash::default(), sha256: sha256.then(Sha256::new) }
    }

    fn update(&mut self, bytes: &[u8]) {
        self.xxh3.update(bytes, None);
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(bytes);
        }
    }

    /// Both in hexadecimal, of the bytes so far; begins anew.
    fn take(&mut self) -> (String, Option<String>) {
        let xxh3 = format!("{:016x}", self.xxh3.digest());
        self.xxh3.reset();
        (xxh3, self.sha256.as_mut().map(|sha256| hex(&sha256.finalize_reset())))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
