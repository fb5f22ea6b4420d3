"""Runs ``photofinish codings`` over a payload and reads its lines (``docs/engine-protocol.md``)."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from photofinish.errors import EnvironmentError_, InputError
from photofinish.testbed.stop import Interrupted, StopFlag

SCHEMA = "photofinish.codings/1"
GRACE_S = 2.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """One coding at one level."""

    id: str
    coding: str
    level: int
    bytes: int
    """Of the payload, encoded."""
    library: str
    twin_of: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What the engine told of one payload."""

    payload_bytes: int
    sha256: str
    candidates: tuple[Candidate, ...]
    rounds: tuple[Mapping[str, tuple[float, float]], ...]
    """Candidate's id → CPU ns for one encoding and one decoding; one dictionary a round."""
    left_out: Mapping[str, str]
    """Id → why."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to measure."""

    payload: Path
    rounds: int
    budget_s: float
    codings: Sequence[str] = ()
    levels: str = ""
    size: int | None = None
    """Only so many first bytes of the file."""

    def argv(self, engine: Path) -> list[str]:
        """The command."""
        argv = [str(engine), "codings", "--payload", str(self.payload), "--json"]
        argv += ["--rounds", str(self.rounds), "--budget-s", f"{self.budget_s:g}"]
        argv += ["--codings", ",".join(self.codings)] if self.codings else []
        argv += ["--levels", self.levels] if self.levels else []
        return argv + (["--size", str(self.size)] if self.size is not None else [])


def measure(
    engine: Path, asked: Asked, stop: StopFlag, progress: Callable[[float, float | None], None] | None = None
) -> Measured:
    """Measures a payload.

    Args:
        engine: the native binary.
        asked: what to measure.
        stop: looked at between the engine's lines.
        progress: called with the share done and the seconds left.

    Raises:
        Interrupted: the stop flag was set.
        InputError, EnvironmentError_: the engine refused or failed, or its lines make no sense.
    """
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(asked.argv(engine), stdout=subprocess.PIPE, stderr=errors)
        except OSError as error:
            raise EnvironmentError_(f"{engine}: can't be started ({error.strerror}); run `make build`") from error
        try:
            lines = _lines(process, stop, progress)
            code = process.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired as error:
            raise EnvironmentError_(
                "the engine closed its output and did not end; rebuild it, or report this"
            ) from error
        finally:
            _end(process)
        if code != 0:
            stop.check()
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().removeprefix("photofinish: ")
            kind = InputError if code == InputError.exit_code else EnvironmentError_
            raise kind(said or f"the engine ended with status {code}")
    return parse(lines)


def _lines(
    process: subprocess.Popen[bytes], stop: StopFlag, progress: Callable[[float, float | None], None] | None
) -> list[dict[str, Any]]:
    output: IO[bytes] | None = process.stdout
    found: list[dict[str, Any]] = []
    for line in output or ():
        try:
            stop.check()
        except Interrupted:
            process.terminate()
            raise
        try:
            event = json.loads(line)
        except ValueError as error:
            raise EnvironmentError_(
                "the engine wrote something that is no JSON; rebuild it with `make build`"
            ) from error
        if event.get("event") == "progress":
            if progress is not None:
                progress(event.get("done", 0.0), event.get("eta_s"))
        else:
            found.append(event)
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=GRACE_S)
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def parse(lines: Sequence[Mapping[str, Any]]) -> Measured:
    """Reads the engine's lines.

    Raises:
        EnvironmentError_: they are of another version, or cut off.
    """
    first = lines[0] if lines else {}
    if first.get("schema") != SCHEMA:
        raise EnvironmentError_("the engine speaks another version; rebuild it with `make build`")
    if lines[-1].get("event") != "end":
        raise EnvironmentError_("the engine's lines are cut off; run it again, or report this")
    fields = ("id", "coding", "level", "bytes", "library", "twin_of")
    return Measured(
        payload_bytes=first["payload"]["bytes"],
        sha256=first["payload"]["sha256"],
        candidates=tuple(Candidate(**{name: cell.get(name) for name in fields}) for cell in first["cells"]),
        rounds=tuple(
            {cell["id"]: (float(cell["encode_ns"]), float(cell["decode_ns"])) for cell in line["cells"]}
            for line in lines
            if line.get("event") == "round"
        ),
        left_out={line["id"]: line["why"] for line in lines if line.get("event") == "left-out"},
    )
