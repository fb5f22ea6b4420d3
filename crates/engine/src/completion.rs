//! `completion`: one script for a shell that completes both halves of the command: the engine's subcommands from their
//! own definition, without starting anything, all others by asking the laboratory, which answers in Typer's protocol.

use std::io::Write;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::fault::Fault;

const BASH: &str = include_str!("completion/bash.sh");
const ZSH: &str = include_str!("completion/zsh.sh");
const FISH: &str = include_str!("completion/fish.fish");
/// Stands in the templates for the engine's subcommands.
const COMMANDS: &str = "@COMMANDS@";

/// Print a script that completes every command in a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  source <(photofinish completion bash)                                   in ~/.bashrc
  source <(photofinish completion zsh)                                    in ~/.zshrc, after compinit
  photofinish completion fish > ~/.config/fish/completions/photofinish.fish")]
pub struct Args {
    /// bash, zsh or fish
    shell: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Known {
    Bash,
    Zsh,
    Fish,
}

/// The script for the subcommands of `engine`, and whatever the laboratory has.
fn script(shell: Known, engine: Command) -> String {
    let names: Vec<String> = engine.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    // In bash and zsh the functions must not be named like those of the whole; fish knows commands, not functions.
    let (kind, name, around, between) = match shell {
        Known::Bash => (Shell::Bash, "photofinish_engine", BASH, "|"),
        Known::Zsh => (Shell::Zsh, "photofinish_engine", ZSH, "|"),
        Known::Fish => (Shell::Fish, "photofinish", FISH, " "),
    };
    let mut engine = engine.disable_help_flag(true);
    let mut generated = Vec::new();
    clap_complete::generate(kind, &mut engine, name, &mut generated);
    let generated = String::from_utf8_lossy(&generated);
    around.replace(COMMANDS, &names.join(between)).replace("@ENGINE@", generated.trim_end())
}

/// Prints the script.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args, engine: Command) -> ExitCode {
    match std::io::stdout().lock().write_all(script(args.shell, engine).as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => Fault::Environment.report(&format!("completion: the script can't be printed: {error}")),
    }
}
