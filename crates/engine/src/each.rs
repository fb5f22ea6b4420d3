//! `each`: the shim that lets a one-shot program talk lines (`docs/contestants.md`, `docs/engine-protocol.md`).

mod argv;
mod reply;
mod run;

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use regex_lite::Regex;

use crate::fault::Fault;
use argv::Template;
use reply::Reply;

/// Where what is not asked to be saved goes.
const NOWHERE: &str = "/dev/null";

/// Run one program once for every line of standard input, and answer with what it said
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  photofinish each -- curl -sS -o '{save}' -w '{\"bytes\":%{size_download},\"status\":%{http_code}}' '${PHOTOFINISH_URL}'
  photofinish each --bytes '\\[([0-9]+)(/[0-9]+)?\\] ->' -- wget --no-verbose -O '{save}' '${PHOTOFINISH_URL}'

Lines: `go` runs the program once, `save PATH` lets it write what it fetches to PATH.")]
pub struct Args {
    /// Where the program prints no JSON: the first group of the last match in its standard error, else in its standard
    /// output, is the number of bytes
    #[arg(long, value_name = "REGEX")]
    bytes: Option<Regex>,
    /// What in ARGV stands for the file to write to
    #[arg(long, value_name = "TEXT", default_value = "{save}")]
    save_to: String,
    /// How long one run may take before it is killed
    #[arg(long, value_name = "S", default_value_t = 120)]
    timeout_s: u64,
    /// The program and its arguments; ${NAME} is replaced by the environment variable NAME
    #[arg(last = true, required = true, value_name = "ARGV")]
    argv: Vec<String>,
}

/// Runs the program whenever it is asked to, until the end of input.
pub fn run(args: &Args) -> ExitCode {
    let template = match Template::new(&args.argv, &args.save_to, |name| std::env::var(name).ok()) {
        Ok(template) => template.found_on(std::env::var_os("PATH").as_deref()),
        Err(error) => return Fault::BadInput.report(&format!("each: {error}")),
    };
    run::end_child_with_this();
    let mut out = std::io::stdout().lock();
    let mut said = writeln!(out, r#"{{"ready":true}}"#).and_then(|()| out.flush());
    let mut line = Vec::new();
    let mut input = std::io::stdin().lock();
    // Nobody reads any more: nothing is left to do.
    while said.is_ok() {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Fault::BadInput.report(&format!("each: standard input can't be read: {error}")),
        }
        let mut text = answer(args, &template, &line).to_line();
        text.push('\n');
        said = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
    ExitCode::SUCCESS
}

/// Does what one line asks for.
fn answer(args: &Args, template: &Template, line: &[u8]) -> Reply {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end_matches(['\n', '\r']);
    let path = match line.strip_prefix("save ") {
        Some("") => return Reply::error("save needs a path"),
        Some(_) if !template.saves() => {
            return Reply::error(&format!(
                "nothing in ARGV stands for the file to write to: put {} there",
                args.save_to
            ));
        }
        Some(path) => path,
        None if line == "go" => NOWHERE,
        None => return Reply::error(&format!("`{line}` is no command: use go or save PATH")),
    };
    match run::once(&template.filled(path), Duration::from_secs(args.timeout_s.max(1))) {
        Ok(outcome) => Reply::of(&outcome, args.bytes.as_ref()),
        Err(error) => Reply::error(&format!("can't run `{}`: {error}", args.argv[0])),
    }
}
