//! The least program that can fetch a body over HTTP/1.1: see `README.md`; the contract is in `docs/contestants.md`.

mod connection;
mod head;

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use connection::{Connection, Fetched};
use head::Heads;

/// What the environment asks for.
struct Settings {
    /// `host:port`.
    authority: String,
    /// The whole request, as it goes out.
    request: Vec<u8>,
    keep: bool,
    buffer_bytes: usize,
}

impl Settings {
    fn from_environment() -> Result<Self, String> {
        let url = variable("PHOTOFINISH_URL")?;
        let (authority, target) = url
            .strip_prefix("http://")
            .map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len())))
            .filter(|(authority, _)| authority.contains(':'))
            .ok_or_else(|| format!("PHOTOFINISH_URL is {url}; it has to be http://HOST:PORT/PATH"))?;
        let target = if target.is_empty() { "/" } else { target };
        let keep = match variable("PHOTOFINISH_CONNECTION")?.as_str() {
            "keep" => true,
            "new" => false,
            other => return Err(format!("PHOTOFINISH_CONNECTION is {other}; it has to be keep or new")),
        };
        let protocol = variable("PHOTOFINISH_PROTOCOL")?;
        if protocol != "http/1.1" {
            return Err(format!("PHOTOFINISH_PROTOCOL is {protocol}; only http/1.1 can be asked for here"));
        }
        let buffer = variable("PHOTOFINISH_BUFFER")?;
        Ok(Self {
            authority: authority.to_owned(),
            request: format!("GET {target} HTTP/1.1\r\nHost: {authority}\r\n\r\n").into_bytes(),
            keep,
            buffer_bytes: buffer
                .parse()
                .ok()
                .filter(|&bytes| bytes > 0)
                .ok_or_else(|| format!("PHOTOFINISH_BUFFER is {buffer}; it has to be a number of bytes above 0"))?,
        })
    }
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} is not set; the laboratory sets it"))
}

struct Client {
    settings: Settings,
    heads: Heads,
    buffer: Vec<u8>,
    connection: Option<Connection>,
}

impl Client {
    /// One repetition; `path` is where the body goes, nowhere without one.
    fn repeat(&mut self, path: Option<&str>) -> Result<Fetched, String> {
        let mut file =
            path.map(|path| File::create(path).map_err(|error| format!("create {path}: {error}"))).transpose()?;
        let sink = |piece: &[u8]| file.as_mut().map_or(Ok(()), |file| file.write_all(piece));
        // A connection that fails on the way is dropped here, and the next repetition opens another.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.settings.authority).map_err(|failure| failure.to_string())?,
        };
        let fetched = connection
            .fetch(&self.settings.request, &mut self.heads, &mut self.buffer, sink)
            .map_err(|failure| failure.to_string())?;
        if self.settings.keep {
            self.connection = Some(connection);
        }
        Ok(fetched)
    }
}

/// Standard output, a system call a line.
struct Answers {
    file: File,
    /// The last answer and its line: repetitions mostly end alike.
    last: Option<(u64, u16)>,
    line: Vec<u8>,
}

impl Answers {
    fn open() -> io::Result<Self> {
        let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Self { file, last: None, line: Vec::new() })
    }

    fn ready(&mut self) -> io::Result<()> {
        self.file.write_all(b"{\"ready\":true}\n")
    }

    fn say(&mut self, answer: &Result<Fetched, String>) -> io::Result<()> {
        let Fetched { status, body_bytes } = match answer {
            Ok(fetched) => fetched,
            Err(error) => return self.file.write_all(format!("{{\"error\":\"{}\"}}\n", escaped(error)).as_bytes()),
        };
        if self.last != Some((*body_bytes, *status)) {
            self.line = format!("{{\"bytes\":{body_bytes},\"status\":{status}}}\n").into_bytes();
            self.last = Some((*body_bytes, *status));
        }
        self.file.write_all(&self.line)
    }
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
    let settings = Settings::from_environment()?;
    let mut client =
        Client { heads: Heads::default(), buffer: vec![0; settings.buffer_bytes], settings, connection: None };
    let broken = |error: io::Error| format!("standard input or output: {error}");
    let mut commands = io::stdin().lock();
    let mut answers = Answers::open().map_err(broken)?;
    answers.ready().map_err(broken)?;
    let mut line = String::new();
    while commands.read_line(&mut line).map_err(broken)? > 0 {
        let answer = match line.trim_end() {
            "go" => client.repeat(None),
            command => match command.strip_prefix("save ") {
                Some(path) => client.repeat(Some(path)),
                None => Err(format!("unknown command {command}")),
            },
        };
        answers.say(&answer).map_err(broken)?;
        line.clear();
    }
    Ok(())
}

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("limit-download: {error}");
            ExitCode::from(2)
        }
    }
}
