"""Certificates that the engine makes for the laboratory."""

from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_
from photofinish.testbed.certificates import certificates


def engine(folder: Path, script: str) -> Path:
    program = folder / "engine"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_they_are_made_once(tmp_path: Path) -> None:
    script = 'echo x >> "$0.calls"; for each in ca certificate key; do echo PEM > "$3/$each.pem"; done'
    made = engine(tmp_path, script)
    first = certificates(made, tmp_path / "here")
    assert certificates(made, tmp_path / "here") == first
    assert first.ca.read_text(encoding="utf-8") == "PEM\n"
    assert (tmp_path / "engine.calls").read_text(encoding="utf-8") == "x\n"


def test_what_the_engine_says_is_told_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentError_, match=r"here: no certificate could be made: no room; rebuild"):
        certificates(engine(tmp_path, "echo no room >&2; exit 3"), tmp_path / "here")
    with pytest.raises(EnvironmentError_, match="no certificate could be made"):
        certificates(tmp_path / "nothing", tmp_path / "here")
