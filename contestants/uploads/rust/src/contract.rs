//! The contract of lines: a line `go` on standard input is one upload, and a line of JSON answers it.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::json;

use crate::{Failure, Settings};

/// What came of one upload; `bytes` counts those of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub bytes: u64,
    pub status: u16,
}

/// The whole of a program: makes the uploader, then answers lines to the end of input.
pub fn serve<U>(make: impl FnOnce(Settings) -> Result<U, Failure>) -> ExitCode
where
    U: FnMut() -> Result<Sent, Failure>,
{
    let outcome = Settings::from_environment()
        .and_then(make)
        .and_then(|upload| answer(io::stdin().lock(), io::stdout().lock(), upload));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn answer(
    commands: impl BufRead,
    mut answers: impl Write,
    mut upload: impl FnMut() -> Result<Sent, Failure>,
) -> Result<(), Failure> {
    let mut say =
        |line: serde_json::Value| writeln!(answers, "{line}").and_then(|()| answers.flush()).map_err(Failure::Lines);
    say(json!({"ready": true}))?;
    for command in commands.lines() {
        say(match command.map_err(Failure::Lines)?.as_str() {
            "go" => match upload() {
                Ok(sent) => json!({"bytes": sent.bytes, "status": sent.status}),
                Err(failure) => json!({"error": failure.to_string()}),
            },
            other => json!({"error": format!("{other} is no command; an uploader knows go")}),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Sent, answer};
    use crate::Failure;

    #[test]
    fn each_line_is_answered_in_its_order_and_a_failure_does_not_end_the_program() {
        let mut outcomes = [Ok(Sent { bytes: 7, status: 413 }), Err(Failure::Closed)].into_iter();
        let mut answers = Vec::new();
        answer(&b"go\ngo\nsave x"[..], &mut answers, || outcomes.next().expect("two uploads")).expect("answered");
        let answers = String::from_utf8(answers).expect("JSON");
        let lines: Vec<_> = answers.lines().collect();
        assert_eq!(lines[..2], [r#"{"ready":true}"#, r#"{"bytes":7,"status":413}"#]);
        assert!(lines[2].starts_with(r#"{"error":"the server closed"#) && lines[3].contains("no command"), "{lines:?}");
    }
}
