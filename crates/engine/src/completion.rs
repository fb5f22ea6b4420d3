//! `completion`: scripts that let a shell complete this command's words.

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

/// Arguments.
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script for one shell.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "photofinish-engine", &mut script);
    match std::io::stdout().write_all(&script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(3),
    }
}
