//! The least program that can fetch, decode and count records: see `README.md`; the contract is in `docs/contestants.md`.

mod coding;
mod connection;
mod head;
mod settings;

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use coding::{Coding, Decoder};
use connection::Connection;
use head::Heads;
use memchr::memmem::Finder;
use settings::Settings;

/// A key that each record has once, and nothing within a record.
const KEY: &[u8] = b"\"birthDay\":";

/// What a repetition came to.
struct Done {
    status: u16,
    bytes: usize,
    records: usize,
    coding: Coding,
    transfer: Duration,
    decode: Duration,
    parse: Duration,
}

struct Client {
    settings: Settings,
    heads: Heads,
    buffer: Vec<u8>,
    decoder: Decoder,
    key: Finder<'static>,
    connection: Option<Connection>,
}

impl Client {
    fn new(settings: Settings) -> Self {
        Self {
            heads: Heads::default(),
            buffer: vec![0; settings.buffer_bytes],
            decoder: Decoder::new(settings.body_bytes),
            key: Finder::new(KEY),
            connection: None,
            settings,
        }
    }

    /// One repetition; the decoded body goes to `path`, nowhere without one, outside all stages.
    fn repeat(&mut self, path: Option<&str>) -> Result<Done, String> {
        let began = Instant::now();
        // A connection that fails on the way is dropped here, and the next repetition opens another.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.settings.authority).map_err(|failure| failure.to_string())?,
        };
        let (head, end) = connection
            .fetch(&self.settings.request, &mut self.heads, &mut self.buffer)
            .map_err(|failure| failure.to_string())?;
        if self.settings.keep {
            self.connection = Some(connection);
        } else {
            drop(connection);
        }
        let received = Instant::now();
        let body = &self.buffer[head.bytes..end];
        let whole = self.decoder.decode(head.coding, body).map_err(|undecodable| undecodable.to_string())?;
        let decoded = Instant::now();
        let records = self.key.find_iter(whole).count();
        let parsed = Instant::now();
        if let Some(path) = path {
            std::fs::write(path, whole).map_err(|error| format!("write {path}: {error}"))?;
        }
        Ok(Done {
            status: head.status,
            bytes: whole.len(),
            records,
            coding: head.coding,
            transfer: received - began,
            decode: decoded - received,
            parse: parsed - decoded,
        })
    }
}

/// Writes one answer, a system call a line.
fn say(answers: &mut File, line: &mut Vec<u8>, answer: &Result<Done, String>) -> io::Result<()> {
    line.clear();
    match answer {
        Ok(done) => writeln!(
            line,
            r#"{{"status":{},"bytes":{},"records":{},"coding":"{}","transfer_ns":{},"decode_ns":{},"parse_ns":{}}}"#,
            done.status,
            done.bytes,
            done.records,
            done.coding.name(),
            done.transfer.as_nanos(),
            done.decode.as_nanos(),
            done.parse.as_nanos(),
        )?,
        Err(error) => writeln!(line, "{{\"error\":\"{}\"}}", escaped(error))?,
    }
    answers.write_all(line)
}

/// Writes `text` as the contents of a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control < ' ' => out.extend(format!("\\u{:04x}", control as u32).chars()),
            other => out.push(other),
        }
    }
    out
}

fn serve() -> Result<(), String> {
    let mut client = Client::new(Settings::from_environment()?);
    let broken = |error: io::Error| format!("standard input or output: {error}");
    let mut commands = io::stdin().lock();
    let mut answers = File::from(io::stdout().as_fd().try_clone_to_owned().map_err(broken)?);
    answers.write_all(b"{\"ready\":true}\n").map_err(broken)?;
    let (mut line, mut out) = (String::new(), Vec::new());
    while commands.read_line(&mut line).map_err(broken)? > 0 {
        let answer = match line.trim_end() {
            "go" => client.repeat(None),
            command => match command.strip_prefix("save ") {
                Some(path) => client.repeat(Some(path)),
                None => Err(format!("unknown command {command}")),
            },
        };
        say(&mut answers, &mut out, &answer).map_err(broken)?;
        line.clear();
    }
    Ok(())
}

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("limit-decode: {error}");
            ExitCode::from(2)
        }
    }
}
