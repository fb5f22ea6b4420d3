//! Where a report goes: standard output, and files. One that can't be written takes no other with it.

mod file;
mod ndjson;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use photofinish_load::Report;
use photofinish_load::live::Snapshot;
use photofinish_load::report::text::Text;
use photofinish_load::report::{hlog, html, prometheus};

use super::face::{self, About, Face};
use crate::fault::Fault;
use file::OutputError;

/// Flags that say what is shown and stored.
#[derive(Clone, Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct OutputFlags {
    /// Print the report as JSON (photofinish.load/1)
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,
    /// Write the JSON report to a file too
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print a JSON line each second, and the report as the last one
    #[arg(long)]
    ndjson: bool,
    /// Write the report as one HTML page that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write all histograms as an `HdrHistogram` interval log
    #[arg(long, value_name = "FILE")]
    hlog: Option<PathBuf>,
    /// Write the report for Prometheus' textfile collector
    #[arg(long, value_name = "FILE")]
    prometheus: Option<PathBuf>,
    /// One line of progress instead of the live view
    #[arg(long, visible_alias = "no-tui")]
    plain: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
}

/// Several faces as one.
struct Faces(Vec<Box<dyn Face>>);

impl Face for Faces {
    fn show(&mut self, snapshot: &Snapshot<'_>) {
        self.0.iter_mut().for_each(|face| face.show(snapshot));
    }

    fn end(&mut self, snapshot: &Snapshot<'_>) {
        self.0.iter_mut().for_each(|face| face.end(snapshot));
    }

    fn close(&mut self) {
        self.0.iter_mut().for_each(|face| face.close());
    }

    fn asked_to_end(&mut self) -> bool {
        self.0.iter_mut().any(|face| face.asked_to_end())
    }
}

impl OutputFlags {
    /// What the flags name, with the flag.
    fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all =
            [("--out", &self.out), ("--html", &self.html), ("--hlog", &self.hlog), ("--prometheus", &self.prometheus)];
        all.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }

    /// Finds, before anything is measured, what could not be written afterwards.
    pub fn check(&self) -> Result<(), String> {
        self.findings().map_err(|error| error.to_string())
    }

    fn findings(&self) -> Result<(), OutputError> {
        let mut seen: Vec<(&'static str, &Path)> = Vec::new();
        for (flag, path) in self.files() {
            if let Some((other, _)) = seen.iter().find(|(_, known)| *known == path) {
                return Err(OutputError::Twice { flag, other, path: path.to_owned() });
            }
            file::check(flag, path)?;
            seen.push((flag, path));
        }
        Ok(())
    }

    /// What shows the load while it runs: on standard error for people, on standard output for `--ndjson`.
    pub fn face(&self, about: About) -> Box<dyn Face> {
        let shown = face::choose(self.quiet, self.plain, about);
        if self.ndjson { Box::new(Faces(vec![shown, Box::new(ndjson::Ndjson::new(io::stdout()))])) } else { shown }
    }

    /// Prints the report, then writes every file; one that fails says so on standard error, and the others are written.
    ///
    /// Not 0 only if something could not be written.
    pub fn publish(&self, report: &Report) -> Result<ExitCode, String> {
        let json = serde_json::to_string_pretty(report).map_err(|error| format!("no report: {error}"))? + "\n";
        let printed = if self.ndjson {
            ndjson::report(&mut io::stdout().lock(), report)
        } else if self.json {
            print(&json)
        } else {
            print(&Text { report, color: colored() }.to_string())
        };
        let mut errors: Vec<OutputError> = printed.err().map(OutputError::Printing).into_iter().collect();
        let ended = SystemTime::now();
        for (flag, path) in self.files() {
            let content = match flag {
                "--out" => Ok(json.clone().into_bytes()),
                "--html" => Ok(html::render(report).into_bytes()),
                "--hlog" => hlog::render(report, begun(report, ended)),
                _ => Ok(prometheus::render(report, ended).into_bytes()),
            };
            errors.extend(file::write(flag, path, content).err());
        }
        Ok(complain(&errors))
    }
}

impl OutputFlags {
    /// Prints what is no report of one load: `json` with `--json`, `text` without; `--out` takes the JSON.
    pub fn say(&self, json: &str, text: &str) -> ExitCode {
        let printed = print(if self.json || self.ndjson { json } else { text });
        let mut errors: Vec<OutputError> = printed.err().map(OutputError::Printing).into_iter().collect();
        if let Some(path) = &self.out {
            errors.extend(file::write("--out", path, Ok(json.as_bytes().to_vec())).err());
        }
        complain(&errors)
    }
}

/// Says what could not be written; 0 if nothing.
fn complain(errors: &[OutputError]) -> ExitCode {
    errors.iter().fold(ExitCode::SUCCESS, |_, error| Fault::Environment.report(&format!("load: {error}")))
}

/// When sending began; a report is made as soon as the load is over.
fn begun(report: &Report, ended: SystemTime) -> SystemTime {
    let since = Duration::from_nanos(report.measured_ns + report.drain_ns);
    ended.checked_sub(since).unwrap_or(ended)
}

fn colored() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
