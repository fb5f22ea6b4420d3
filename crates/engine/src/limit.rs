//! `limit`: the least server that can answer.

use std::process::ExitCode;

use photofinish_origin::Which;

use crate::origin;

/// Answer every request with the same bytes: the reference line of a server race
#[derive(clap::Args, Clone, Debug)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    serving: origin::Args,
}

/// Serves until SIGTERM or SIGINT.
pub fn run(args: Args) -> ExitCode {
    origin::run_as(Which::Limit, args.serving)
}
