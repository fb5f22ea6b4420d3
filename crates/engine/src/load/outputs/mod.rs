//! Where a report goes: standard output, and files. One that can't be written takes no other with it.

mod file;
mod ndjson;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use photofinish_load::Report;
use photofinish_load::live::Snapshot;
use photofinish_load::report::text::Text;
use photofinish_load::report::{hlog, html, prometheus};

use super::face::{self, About, Face};
pub use file::OutputError;

/// The flags of outputs and progress.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Outputs")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Outputs {
    /// Print the report as JSON (photofinish.load/1)
    #[arg(long, conflicts_with = "ndjson")]
    pub json: bool,
    /// Write the JSON report to a file too
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print a JSON line each second, and the report as the last one
    #[arg(long)]
    pub ndjson: bool,
    /// Write the report as one HTML page that needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write all histograms as an `HdrHistogram` interval log
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Write the report for Prometheus' textfile collector
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
    /// One line of progress instead of the live view
    #[arg(long, visible_alias = "no-tui")]
    pub plain: bool,
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

    fn close(&mut self) {
        self.0.iter_mut().for_each(|face| face.close());
    }

    fn asked_to_end(&mut self) -> bool {
        self.0.iter_mut().any(|face| face.asked_to_end())
    }
}

impl Outputs {
    /// What the flags name, with the flag.
    fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all =
            [("--out", &self.out), ("--html", &self.html), ("--hlog", &self.hlog), ("--prometheus", &self.prometheus)];
        all.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }

    /// Finds, before anything is measured, what could not be written afterwards.
    pub fn check(&self) -> Result<(), OutputError> {
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

    /// Prints the report, then writes every file. `begun` is when sending began.
    ///
    /// Gives what could not be written; everything else was.
    pub fn publish(&self, report: &Report, begun: SystemTime) -> Vec<OutputError> {
        let json = serde_json::to_string_pretty(report).map(|json| json + "\n").map_err(io::Error::other);
        let printed = match (&json, self.ndjson) {
            (_, true) => ndjson::report(&mut io::stdout().lock(), report),
            (Ok(json), false) if self.json => print(json),
            (Err(error), false) if self.json => Err(io::Error::other(error.to_string())),
            _ => print(&Text { report, color: colored() }.to_string()),
        };
        let mut errors: Vec<OutputError> = printed.err().map(OutputError::Printing).into_iter().collect();
        for (flag, path) in self.files() {
            let content = match flag {
                "--out" => {
                    json.as_ref().map(|json| json.clone().into_bytes()).map_err(|e| io::Error::other(e.to_string()))
                }
                "--html" => Ok(html::render(report).into_bytes()),
                "--hlog" => hlog::render(report, begun),
                _ => Ok(prometheus::render(report, SystemTime::now()).into_bytes()),
            };
            errors.extend(file::write(flag, path, content).err());
        }
        errors
    }
}

fn colored() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
