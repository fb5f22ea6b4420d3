"""The engine's commands for the help and the completion; the native binary handles them before Python starts."""

import os

import typer

from photofinish.testbed.engine import engine_path


def _become(command: str, context: typer.Context) -> None:
    path = engine_path()
    os.execv(path, [str(path), command, *context.args])  # noqa: S606 - becomes the engine


def load(context: typer.Context) -> None:
    """Drive one URL or many in an open or closed loop, check every response, and say what bound the result."""
    _become("load", context)


def origin(context: typer.Context) -> None:
    """Serve the reference routes: /, /test/SIZE, /info."""
    _become("origin", context)


def scripted(context: typer.Context) -> None:
    """Serve with known delays, freezes and faults, and tell the truth about them: for trying load generators."""
    _become("scripted", context)


def completion(context: typer.Context) -> None:
    """Print a script that completes every command in bash, zsh or fish."""
    _become("completion", context)
