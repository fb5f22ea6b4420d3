//! One command a line on standard input, one answer a line on standard output.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::decoding::decode;
use crate::settings::Settings;

/// Whatever a library says has gone wrong.
pub type Failure = Box<dyn Error>;

/// A response as it came.
pub struct Fetched {
    pub status: u16,
    /// `Content-Encoding`; `None` if there is none.
    pub coding: Option<String>,
    /// Still coded.
    pub body: Bytes,
}

/// A client that can fetch its URL again and again.
pub trait Fetch {
    /// Fetches one response whole.
    ///
    /// # Errors
    /// Why it is not there whole; the next call must not depend on what is left of this one.
    fn fetch(&mut self) -> Result<Fetched, Failure>;
}

/// A whole contestant: makes the client that the environment asks for and answers until the end of input.
pub fn run<F: Fetch>(make: impl FnOnce(Settings) -> Result<F, Failure>) -> ExitCode {
    match Settings::from_environment()
        .map_err(Failure::from)
        .and_then(make)
        .and_then(|mut client| Ok(serve(&mut client, &mut io::stdin().lock(), &mut io::stdout().lock())?))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", whole_text(failure.as_ref()));
            ExitCode::from(2)
        }
    }
}

/// `answers` has to flush at each end of line, as standard output does.
fn serve(client: &mut impl Fetch, commands: &mut impl BufRead, answers: &mut impl Write) -> io::Result<()> {
    writeln!(answers, "{}", json!({"ready": true}))?;
    let mut line = String::new();
    while commands.read_line(&mut line)? > 0 {
        let answer = match line.trim_end() {
            "go" => repeat(client, None),
            command => match command.strip_prefix("save ") {
                Some(path) => repeat(client, Some(path)),
                None => Err(format!("unknown command {command}").into()),
            },
        };
        match answer {
            Ok(done) => writeln!(answers, "{done}")?,
            Err(failure) => writeln!(answers, "{}", json!({"error": whole_text(failure.as_ref())}))?,
        }
        line.clear();
    }
    Ok(())
}

/// One repetition; the decoded body is written to `path`, if there is one, outside all stages.
fn repeat(client: &mut impl Fetch, path: Option<&str>) -> Result<Value, Failure> {
    let began = Instant::now();
    let Fetched { status, coding, body } = client.fetch()?;
    let received = Instant::now();
    if status != 200 {
        return Ok(json!({"status": status, "bytes": body.len()}));
    }
    let coding = coding.as_deref().unwrap_or("identity");
    let whole = decode(coding, &body)?;
    let decoded = Instant::now();
    let records: Vec<Value> = serde_json::from_slice(&whole)?;
    let parsed = Instant::now();
    if let Some(path) = path {
        std::fs::write(path, &whole)?;
    }
    let ns = |from: Instant, to: Instant| u64::try_from((to - from).as_nanos());
    Ok(json!({
        "status": status, "bytes": whole.len(), "records": records.len(), "coding": coding,
        "transfer_ns": ns(began, received)?, "decode_ns": ns(received, decoded)?, "parse_ns": ns(decoded, parsed)?,
    }))
}

/// The error and all that caused it, outermost first.
fn whole_text(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        // Some libraries repeat the cause in their own text.
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}
