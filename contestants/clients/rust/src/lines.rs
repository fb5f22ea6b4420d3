//! One command a line on standard input, one answer a line on standard output.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::json;

use crate::settings::{SettingError, Settings};
use crate::sink::Sink;

/// Whatever a library says has gone wrong.
pub type Failure = Box<dyn Error>;

/// A client that can fetch its URL again and again.
pub trait Download {
    /// Fetches once, hands the body piece by piece to `sink`, and says the status.
    ///
    /// # Errors
    /// Why the response is not there whole; the next call must not depend on what is left of this one.
    fn fetch(&mut self, sink: &mut Sink) -> Result<u16, Failure>;
}

/// A whole contestant: makes the client that the environment asks for and answers until the end of input.
pub fn run<D: Download>(make: impl FnOnce(Settings) -> Result<D, Failure>) -> ExitCode {
    match Settings::from_environment()
        .map_err(|error: SettingError| error.into())
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
fn serve(client: &mut impl Download, commands: &mut impl BufRead, answers: &mut impl Write) -> io::Result<()> {
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
            // Written out by hand, as it is the one line that comes with every repetition.
            Ok((bytes, status)) => writeln!(answers, "{{\"bytes\":{bytes},\"status\":{status}}}")?,
            Err(failure) => writeln!(answers, "{}", json!({"error": whole_text(failure.as_ref())}))?,
        }
        line.clear();
    }
    Ok(())
}

fn repeat(client: &mut impl Download, path: Option<&str>) -> Result<(u64, u16), Failure> {
    let mut sink = Sink::new(path)?;
    let status = client.fetch(&mut sink)?;
    Ok((sink.bytes(), status))
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
