//! `visit`: many resident targets, one schedule of windows (`docs/engine-protocol.md`).

mod document;
mod output;
mod tour;

use std::io::{Read, Write};
use std::process::ExitCode;

use photofinish_load::Layers;
use photofinish_load::driver::Windows;
use photofinish_net::{Nanos, Options};

use crate::fault::Fault;
use crate::signals;
use document::Document;
use tour::Tour;

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
        return Fault::BadInput.report(&format!("visit: standard input can't be read as UTF-8: {error}"));
    }
    let document = match Document::parse(&text) {
        Ok(document) => document,
        Err(error) => return Fault::BadInput.report(&format!("visit: {error}")),
    };
    if args.check {
        return ExitCode::SUCCESS;
    }
    carry_out(&document)
}

fn carry_out(document: &Document) -> ExitCode {
    signals::remember();
    signals::allow_many_files();
    // Each stage is bounded; a visit beyond the deadline ends within its own bounds.
    signals::fence(document.deadline_ms / 1000 + 30);
    let options = Options {
        backend: document.backend(),
        // A connection that was given up keeps its slot until the kernel has let go of it.
        max_connections: 2 * document.connections_in_all() + 16,
        cpu: document.cpus.first().copied(),
        busy_poll: if document.spins() { Nanos::from_millis(1000) } else { Nanos(0) },
        precise_timer: true,
        // A table of files costs two more system calls a connection, and these live for one visit.
        direct_files: !document.reconnect,
        reset_on_close: document.reconnect,
        account: true,
        stop: None,
    };
    let started = Nanos::now();
    let spoken = (0..document.targets.len()).filter_map(|target| document.protocol(target).ok());
    let layers = Layers::of(spoken, Windows::default());
    let tour = match Tour::new(document, std::io::stdout().lock()) {
        Ok(tour) => tour,
        Err(error) => return Fault::BadInput.report(&format!("visit: {error}")),
    };
    let (ended, tour) = layers.run(&options, tour);
    match ended {
        Ok(stats) => {
            let mut out = tour.finish(&stats, Nanos::now().since(started));
            // Nobody reads any more: nothing is left to tell, and nobody to tell it to.
            let _ = out.flush();
            ExitCode::SUCCESS
        }
        Err(error) => Fault::Environment.report(&format!("visit: {error}")),
    }
}
