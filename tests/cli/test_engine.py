"""The engine's commands as the laboratory lists them."""

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest
import typer.main

from photofinish.cli import app
from photofinish.errors import EnvironmentError_
from photofinish.testbed.engine import engine_path

COMMANDS = ["load", "origin", "scripted", "completion"]


class BecameError(Exception):
    """Instead of another program in the place of this one."""


def engine_or_skip() -> str:
    try:
        return str(engine_path())
    except EnvironmentError_:
        pytest.skip("the engine is not built: make build")


def test_the_help_lists_the_engines_commands_with_what_they_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["photofinish", "--help"])
    with pytest.raises(SystemExit):
        app.run()
    printed = capsys.readouterr().out
    listed = typer.main.get_group(app.app).commands
    for command in COMMANDS:
        assert (listed[command].help or "nothing").split(":")[0] in printed


@pytest.mark.parametrize("command", COMMANDS)
def test_flags_reach_the_engine_as_they_were_typed(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    path = engine_or_skip()

    def become(_path: str, arguments: Sequence[str]) -> None:
        assert list(arguments) == [path, command, "--help", "-c", "5", "--rate=7"]
        raise BecameError

    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setattr(sys, "argv", ["photofinish", command, "--help", "-c", "5", "--rate=7"])
    with pytest.raises(BecameError):
        app.run()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_engine_has_every_command_that_is_listed_as_its_own(command: str) -> None:
    done = subprocess.run([engine_or_skip(), command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert f" {command} " in done.stdout
