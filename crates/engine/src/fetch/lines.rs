//! One command a line on standard input, one answer a line on standard output.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

use photofinish_http::coding::{Coding, ContentEncoding, DecodeError, Decoder};
use serde_json::{Value, json};

use super::http1::Http1;
use super::http2::Http2;
use super::settings::Settings;
use super::transport::{Failure, Transport};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 64 << 10;
/// By how much the worst coding may make a body longer, in bytes.
const MOST_CODED_BYTES_MORE: usize = 64 << 10;

/// Why a repetition came to nothing.
#[derive(Debug, thiserror::Error)]
enum RepetitionError {
    #[error(transparent)]
    Fetch(#[from] Failure),
    #[error("there is no decoder for its Content-Encoding")]
    Unknown,
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("the body is no list in JSON: {0}")]
    Parse(#[from] serde_json::Error),
    #[error("{path}: {error}: give a path that can be written")]
    Save { path: String, error: std::io::Error },
    #[error("`{0}` is no command of a client: it knows `go` and `save PATH`")]
    Command(String),
}

/// A response as it came.
#[derive(Debug, Default)]
pub struct Body {
    pub status: u16,
    pub encoding: ContentEncoding,
    bytes: Vec<u8>,
    most_bytes: usize,
}

impl Body {
    /// One piece more.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), Failure> {
        if self.bytes.len() + piece.len() > self.most_bytes {
            return Err(Failure::TooLong(self.most_bytes));
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

enum Wire {
    Http1(Http1),
    Http2(Box<Http2>),
}

struct Client {
    settings: Settings,
    link: Option<(Transport, Wire)>,
    buffer: Vec<u8>,
    body: Body,
    decoder: Decoder,
    decoded: Vec<u8>,
}

impl Client {
    fn new(settings: Settings) -> Self {
        let most_bytes = settings.most_bytes.saturating_add(MOST_CODED_BYTES_MORE);
        Self {
            link: None,
            buffer: vec![0; BUFFER_BYTES],
            body: Body { most_bytes, ..Body::default() },
            decoder: Decoder::default(),
            decoded: Vec::with_capacity(settings.most_bytes),
            settings,
        }
    }

    /// Reads one response whole. A connection that fails on the way is dropped, and the next repetition makes another.
    fn fetch(&mut self) -> Result<(), Failure> {
        let Self { settings, link, buffer, body, .. } = self;
        body.bytes.clear();
        let (mut transport, mut wire) = if let Some(link) = link.take() {
            link
        } else {
            let wire =
                if settings.h2 { Wire::Http2(Box::new(Http2::new())) } else { Wire::Http1(Http1::new(settings)) };
            (Transport::open(settings)?, wire)
        };
        let goes_on = match &mut wire {
            Wire::Http1(wire) => wire.fetch(&mut transport, buffer, body)?,
            Wire::Http2(wire) => wire.fetch(settings, &mut transport, buffer, body)?,
        };
        if goes_on && settings.keep {
            *link = Some((transport, wire));
        }
        Ok(())
    }

    /// One repetition; the decoded body goes to `path`, if there is one, outside all stages.
    fn repeat(&mut self, path: Option<&str>) -> Result<Value, RepetitionError> {
        let began = Instant::now();
        self.fetch()?;
        let received = Instant::now();
        let Body { status, encoding, bytes, .. } = &self.body;
        if *status != 200 {
            return Ok(json!({"status": status, "bytes": bytes.len()}));
        }
        let whole = match encoding {
            ContentEncoding::Other => return Err(RepetitionError::Unknown),
            ContentEncoding::Absent | ContentEncoding::One(Coding::Identity) => bytes,
            ContentEncoding::One(coding) => {
                self.decoded.clear();
                self.decoder.decode(*coding, None, bytes, self.settings.most_bytes, &mut self.decoded)?;
                &self.decoded
            }
        };
        let decoded = Instant::now();
        let records: Vec<Value> = serde_json::from_slice(whole)?;
        let parsed = Instant::now();
        if let Some(path) = path {
            let told = |error| RepetitionError::Save { path: path.to_owned(), error };
            std::fs::write(path, whole).map_err(told)?;
        }
        let ns = |from: Instant, to: Instant| u64::try_from((to - from).as_nanos()).unwrap_or(u64::MAX);
        Ok(json!({
            "status": status, "bytes": whole.len(), "records": records.len(), "coding": encoding.name(),
            "transfer_ns": ns(began, received), "decode_ns": ns(received, decoded), "parse_ns": ns(decoded, parsed),
        }))
    }

    fn answer(&mut self, command: &str) -> Value {
        let answer = match (command, command.strip_prefix("save ")) {
            ("go", _) => self.repeat(None),
            (_, Some(path)) if !path.is_empty() => self.repeat(Some(path)),
            _ => Err(RepetitionError::Command(command.to_owned())),
        };
        answer.unwrap_or_else(|error| json!({"error": error.to_string()}))
    }
}

/// Answers until the end of input, or until nobody reads the answers.
pub fn serve(settings: Settings) -> ExitCode {
    let mut client = Client::new(settings);
    let mut out = std::io::stdout().lock();
    let mut said = writeln!(out, "{}", json!({"ready": true}));
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if said.is_err() {
            break;
        }
        said = writeln!(out, "{}", client.answer(&line));
    }
    ExitCode::SUCCESS
}
