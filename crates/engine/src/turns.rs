//! `turns`: contestants that talk lines do repetitions in short windows (`docs/engine-protocol.md`).

mod answer;
mod cold;
mod contestant;
mod document;
mod evidence;
mod lines;
mod naps;
mod origin;
mod output;
mod pace;
mod pipes;
mod process;
mod size;
mod tally;
mod tour;
mod window;

use std::io::Read;
use std::process::ExitCode;

use photofinish_net::Nanos;

use crate::fault::Fault;
use crate::{cpus, signals};
use document::Document;
use tour::{SetUpError, Tour};

/// Arguments: everything is in the document.
#[derive(clap::Args)]
pub struct Args {
    /// Check the document and stop
    #[arg(long)]
    check: bool,
}

/// Reads the document, carries it out, writes JSON lines.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        return Fault::BadInput.report(&format!("turns: standard input can't be read as UTF-8: {error}"));
    }
    let document = match Document::parse(&text) {
        Ok(document) => document,
        Err(error) => return Fault::BadInput.report(&format!("turns: {error}")),
    };
    if args.check {
        return ExitCode::SUCCESS;
    }
    carry_out(&document)
}

fn carry_out(document: &Document) -> ExitCode {
    signals::remember();
    // Each window is bounded by the time-out of its repetitions; whatever begins before the deadline ends within that.
    signals::fence((document.deadline_ms + 3 * document.repetition_timeout_ms) / 1000 + 30);
    if !document.cpus.is_empty()
        && let Err(error) = cpus::pin(&document.cpus)
    {
        return Fault::BadInput.report(&format!("turns: can't run on CPUs {:?}: {error}", document.cpus));
    }
    let started = Nanos::now();
    match Tour::set_up(document, std::io::stdout().lock()) {
        Ok(mut tour) => {
            tour.run();
            tour.finish(Nanos::now().since(started));
            ExitCode::SUCCESS
        }
        Err(error @ SetUpError::Origin(_)) => Fault::Environment.report(&format!("turns: {error}")),
        Err(error) => Fault::BadInput.report(&format!("turns: {error}")),
    }
}
