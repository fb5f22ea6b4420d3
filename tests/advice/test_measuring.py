"""What the engine tells of a payload."""

import json
from pathlib import Path
from typing import Any

import pytest

from photofinish.advice.measuring import Asked, measure, parse
from photofinish.errors import EnvironmentError_, InputError
from photofinish.testbed.stop import StopFlag

CELL = {"id": "gzip-6", "coding": "gzip", "level": 6, "library": "zlib", "bytes": 10}
LINES: list[dict[str, Any]] = [
    {"event": "begin", "schema": "photofinish.codings/1", "payload": {"bytes": 20, "sha256": "ab"}, "cells": [CELL]},
    {"event": "left-out", "id": "br-11", "why": "slow"},
    {"event": "round", "round": 0, "cells": [{"id": "gzip-6", "encode_ns": 5, "decode_ns": 2}]},
    {"event": "end", "rounds": 1, "aborted": None},
]


def engine(folder: Path, script: str) -> Path:
    program = folder / "engine"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_lines_become_candidates_and_rounds() -> None:
    found = parse(LINES)
    assert (found.payload_bytes, found.candidates[0].id, found.left_out) == (20, "gzip-6", {"br-11": "slow"})
    assert found.rounds == ({"gzip-6": (5.0, 2.0)},)


@pytest.mark.parametrize("lines", [[], LINES[:-1], [{**LINES[0], "schema": "photofinish.codings/2"}, LINES[-1]]])
def test_lines_of_another_version_or_cut_off_are_refused(lines: list[dict[str, Any]]) -> None:
    with pytest.raises(EnvironmentError_):
        parse(lines)


def test_progress_is_passed_on_and_errors_keep_their_kind(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("\n".join(json.dumps(each) for each in LINES) + "\n", encoding="utf-8")
    seen: list[tuple[float, float | None]] = []
    script = f'echo \'{{"event":"progress","done":0.5,"eta_s":2}}\'; cat {tmp_path}/lines'
    asked = Asked(tmp_path / "payload", 14, 30.0)
    measure(engine(tmp_path, script), asked, StopFlag(), lambda done, eta_s: seen.append((done, eta_s)))
    assert seen == [(0.5, 2)]
    with pytest.raises(InputError, match="no level 12"):
        measure(engine(tmp_path, "echo 'photofinish: gzip has no level 12' >&2; exit 2"), asked, StopFlag())
    with pytest.raises(EnvironmentError_, match="no memory"):
        measure(engine(tmp_path, "echo no memory >&2; exit 3"), asked, StopFlag())
    with pytest.raises(EnvironmentError_, match="no JSON"):
        measure(engine(tmp_path, "echo hello"), asked, StopFlag())


def test_the_command_names_all_that_was_asked() -> None:
    argv = Asked(Path("p"), 14, 30.0, ("gzip", "br"), "br=0-6", 512).argv(Path("engine"))
    assert " ".join(argv) == (
        "engine codings --payload p --json --rounds 14 --budget-s 30 --codings gzip,br --levels br=0-6 --size 512"
    )
