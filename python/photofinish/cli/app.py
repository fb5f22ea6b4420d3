"""The command line: parses, calls, prints. What a command does stands in the room that it belongs to."""

import sys
from typing import Annotated

import typer

from photofinish.cli import advise, doctor, engine, new, race, read, up
from photofinish.errors import PhotofinishError

app = typer.Typer(
    name="photofinish",
    help="Races the parts of an HTTP system and names a winner only where the measurements support one.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RACING = "Racing"
READING = "Reading"
TOOLS = "Tools"

app.command(rich_help_panel=RACING)(race.race)
app.command(rich_help_panel=RACING)(race.resume)
app.command("list", rich_help_panel=RACING)(read.list_)
app.command(rich_help_panel=RACING)(up.up)
app.add_typer(new.app, name="new", rich_help_panel=RACING)
app.command(rich_help_panel=READING)(read.runs)
app.command(rich_help_panel=READING)(read.show)
app.command(rich_help_panel=READING)(read.report)
app.command(rich_help_panel=READING)(read.compare)
app.command(rich_help_panel=READING)(read.gate)
app.command(rich_help_panel=TOOLS)(doctor.doctor)
app.command(rich_help_panel=TOOLS)(advise.advise)
PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
app.command("load", rich_help_panel=TOOLS, context_settings=PASSED_ON)(engine.load)
app.command("origin", rich_help_panel=TOOLS, context_settings=PASSED_ON)(engine.origin)
app.command("scripted", rich_help_panel=TOOLS, context_settings=PASSED_ON)(engine.scripted)
app.command("completion", rich_help_panel=TOOLS, context_settings=PASSED_ON)(engine.completion)


@app.callback(invoke_without_command=True)
def version(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False
) -> None:
    """Races the parts of an HTTP system and names a winner only where the measurements support one."""
    if version:
        from photofinish.testbed.environment import package_version  # noqa: PLC0415 - only asked for here

        typer.echo(f"photofinish {package_version()}")
        raise typer.Exit


def run() -> None:
    """Entry point: every error on purpose becomes one line and its exit code."""
    try:
        app(prog_name="photofinish")
    except PhotofinishError as error:
        sys.stderr.write(f"photofinish: {error}\n")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
