//! `fetch`: the engine as a client that decodes and parses, for the race of such clients.

mod http1;
mod http2;
mod lines;
mod settings;
mod transport;

use std::process::ExitCode;

use self::lines::serve;
use self::settings::Settings;
use crate::fault::Fault;

/// Fetch, decode and parse a response for every line of standard input, and answer with what it took
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Speaks the contract of clients that decode and parse (docs/contestants.md): everything is told by the environment, and each
line `go` or `save PATH` is one repetition. HTTP/1.1 and HTTP/2, in clear text or over TLS.")]
pub struct Args {}

/// Repeats until the end of input.
pub fn run(Args {}: Args) -> ExitCode {
    match Settings::of(|name| std::env::var(name).ok()) {
        Ok(settings) => serve(settings),
        Err(error) => Fault::BadInput.report(&format!("fetch: {error}")),
    }
}
