//! `limit-upload`: a line `go` on standard input is one upload, and a line of JSON answers it. Settings come from
//! the environment (`PHOTOFINISH_URL`, `PHOTOFINISH_FILE`, `PHOTOFINISH_CONNECTION`).

mod failure;
mod response;
mod upload;

use std::env;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use failure::Failure;
use upload::{Settings, Uploader};

fn variable(name: &'static str) -> Result<String, Failure> {
    env::var(name).map_err(|_| Failure::Setting { name, what: "is not set, or not UTF-8" })
}

fn settings() -> Result<Settings, Failure> {
    let keep = match variable("PHOTOFINISH_CONNECTION")?.as_str() {
        "keep" => true,
        "new" => false,
        _ => return Err(Failure::Setting { name: "PHOTOFINISH_CONNECTION", what: "must be keep or new" }),
    };
    Ok(Settings { url: variable("PHOTOFINISH_URL")?, file: variable("PHOTOFINISH_FILE")?.into(), keep })
}

/// A string as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\x1f' => out.extend(format!("\\u{:04x}", u32::from(character)).chars()),
            _ => out.push(character),
        }
    }
    out
}

fn run() -> Result<(), Failure> {
    let mut uploader = Uploader::new(&settings()?)?;
    // Standard output of Rust is flushed at each end of a line.
    let mut answers = io::stdout().lock();
    writeln!(answers, r#"{{"ready":true}}"#).map_err(Failure::Lines)?;
    for command in io::stdin().lock().lines() {
        let answer = match command.map_err(Failure::Lines)?.as_str() {
            "go" => match uploader.once() {
                Ok(sent) => format!(r#"{{"bytes":{},"status":{}}}"#, sent.bytes, sent.status),
                Err(failure) => format!(r#"{{"error":"{}"}}"#, escaped(&failure.to_string())),
            },
            other => format!(r#"{{"error":"{} is no command; an uploader knows go"}}"#, escaped(other)),
        };
        writeln!(answers, "{answer}").map_err(Failure::Lines)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("limit-upload: {failure}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn an_error_text_stays_one_json_string_on_one_line() {
        assert_eq!(escaped("a \"b\" \\ c\n\u{1}é"), "a \\\"b\\\" \\\\ c\\u000a\\u0001é");
    }
}
