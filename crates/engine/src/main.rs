//! The one native binary of Photofinish.

mod certificate;
mod codings;
mod completion;
mod cost;
mod cpus;
#[cfg(test)]
mod documented;
mod each;
mod fault;
mod fetch;
mod interference;
mod journey;
mod keep;
mod laboratory;
mod limit;
mod load;
mod origin;
mod probe;
mod proctable;
mod scripted;
mod signals;
mod turns;
mod visit;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Photofinish's native engine: load generator, reference server, and the laboratory's hands.
#[derive(Parser)]
#[command(name = "photofinish", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Load(Box<load::Args>),
    /// Visit many resident targets in short windows, as a document on standard input says
    Visit(visit::Args),
    /// Let contestants that talk lines take turns in short windows, as a document on standard input says
    Turns(turns::Args),
    /// Serve every route that the suites need
    Origin(origin::Args),
    /// Answer every request with the same bytes: the reference line of a server race
    Limit(limit::Args),
    /// Answer with known delays, freezes and faults, and tell the truth about them
    Scripted(scripted::Args),
    /// Make a certificate for tests, and the authority that vouches for it
    Certificate(certificate::Args),
    /// Measure what each content coding at each level makes of a payload, and what it costs
    Codings(codings::Args),
    /// Say as JSON what this kernel can do
    Probe(probe::Args),
    /// Run one program so that nothing of it can outlive the caller
    Keep(keep::Args),
    /// Run one program once for every line of standard input, and answer with what it said
    Each(each::Args),
    /// Fetch, decode and parse a response for every line of standard input, and answer with what it took
    Fetch(fetch::Args),
    Completion(completion::Args),
}

fn main() -> ExitCode {
    let own = std::env::args_os().nth(1).is_some_and(|first| Cli::command().find_subcommand(first).is_some());
    if !own {
        return laboratory::hand_over(std::env::args_os().skip(1));
    }
    match Cli::parse().command {
        Command::Load(args) => load::run(*args),
        Command::Visit(args) => visit::run(args),
        Command::Turns(args) => turns::run(args),
        Command::Origin(args) => origin::run(args),
        Command::Limit(args) => limit::run(args),
        Command::Scripted(args) => scripted::run(args),
        Command::Certificate(args) => certificate::run(args),
        Command::Codings(args) => codings::run(args),
        Command::Probe(args) => probe::run(args),
        Command::Keep(args) => keep::run(args),
        Command::Each(args) => each::run(&args),
        Command::Fetch(args) => fetch::run(args),
        Command::Completion(args) => completion::run(args, Cli::command()),
    }
}
