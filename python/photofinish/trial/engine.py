"""Runs the engine's drivers: a document on standard input, JSON lines on standard output (docs/engine-protocol.md)."""

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from photofinish.errors import EnvironmentError_, InputError
from photofinish.testbed.processes import Resident
from photofinish.testbed.stop import Interrupted, StopFlag

POLL_S = 0.25
PIPE_BYTES = 1 << 20
"""Holds all lines of some hundred cycles, so that reading seldom is soon enough."""
TERMINATE_GRACE_S = 2.0


@dataclass(frozen=True, slots=True)
class Said:
    """What a driver of the engine said from its start to its end."""

    text: bytes
    wall_s: float
    laboratory_cpu_share: float
    """Share of one core that this process used while the engine ran."""


@dataclass(frozen=True)
class Told:
    """What a driver of the engine told, parsed."""

    cycles: list[dict[str, Any]]
    """All ``cycle`` events, in their order."""
    targets: dict[int, dict[str, Any]]
    """Index of the target → its ``target`` event."""
    end: dict[str, Any]
    wall_s: float
    laboratory_cpu_share: float
    """Share of one core that this process used while the engine ran."""

    @cached_property
    def windows(self) -> Mapping[int, list[dict[str, Any]]]:
        """Index of the target → its windows in their order, each with its ``phase`` and ``cycle``."""
        found: dict[int, list[dict[str, Any]]] = {}
        for cycle in self.cycles:
            for window in cycle["windows"]:
                placed = {**window, "phase": cycle["phase"], "cycle": cycle["cycle"]}
                found.setdefault(window["target"], []).append(placed)
        return found


def parse(said: Said, what: str, mend: Callable[[str], str]) -> Told:
    """Reads a driver's lines.

    Args:
        said: what it said.
        what: the driver's work, for messages: ``visit``, ``turns``.
        mend: from the reason for which it gave up to what mends that.

    Raises:
        EnvironmentError_: the lines are cut off, or the engine gave up.
    """
    try:
        events = [json.loads(line) for line in said.text.splitlines()]
    except ValueError as error:
        raise EnvironmentError_(f"the engine's lines are cut off ({error}); rebuild it, or report this") from error
    end = next((event for event in events if event.get("event") == "end"), None)
    if end is None:
        raise EnvironmentError_("the engine ended without its last line; rebuild it, or report this")
    reason = end.get("aborted")
    if reason is not None:
        raise EnvironmentError_(f"the engine gave up its {what} ({reason}); {mend(reason)}")
    cycles = [event for event in events if event.get("event") == "cycle"]
    targets = {event["target"]: event for event in events if event.get("event") == "target"}
    return Told(cycles, targets, end, said.wall_s, said.laboratory_cpu_share)


def cpu_source(resident: Resident) -> dict[str, Any]:
    """Where the engine reads a contestant's CPU: nanoseconds of cgroup v1 before microseconds of v2 before threads."""
    if resident.cpuacct is not None:
        return {"kind": "cgroup-v1", "path": resident.cpuacct}
    if resident.cgroup_v2 is not None and Path(resident.cgroup_v2, "cpu.stat").exists():
        return {"kind": "cgroup-v2", "path": resident.cgroup_v2}
    return {"kind": "processes", "root_pid": resident.pid}


def run(engine: Path, subcommand: str, order: dict[str, Any], stop: StopFlag) -> Said:
    """Runs a driver to its end; reads seldom and parses nothing, so that the laboratory is quiet meanwhile.

    Args:
        engine: the native binary.
        subcommand: ``visit`` or ``turns``.
        order: its document; ``deadline_ms`` bounds the run.
        stop: looked at while it runs.

    Raises:
        Interrupted: the stop flag was set.
        InputError, EnvironmentError_: the engine refused, failed or did not end in time.
    """
    deadline_s = order["deadline_ms"] / 1000 + 10
    began, cpu_began = time.monotonic(), time.process_time()
    process = subprocess.Popen(
        [str(engine), subcommand], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        output = _send(process, order)
        text = _read_seldom(output, stop, began + deadline_s)
        used = time.process_time() - cpu_began
        wall = time.monotonic() - began
        code = process.wait(timeout=TERMINATE_GRACE_S)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentError_("the engine closed its output and did not end; rebuild it, or report this") from error
    finally:
        errors = _end(process, urgent=stop.urgent)
    if code != 0:
        kind = InputError if code == InputError.exit_code else EnvironmentError_
        raise kind(f"the engine's {subcommand} failed: {errors or f'status {code}, and no message'}")
    return Said(text, wall, used / wall)


def _send(process: subprocess.Popen[bytes], order: dict[str, Any]) -> IO[bytes]:
    if process.stdin is None or process.stdout is None:
        raise EnvironmentError_("no pipes to the engine; free file descriptors")
    with suppress(OSError):  # beyond this user's allowance: then the engine may wait for us, between windows
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.set_blocking(process.stdout.fileno(), False)
    with suppress(BrokenPipeError):  # it refused early and says why on standard error
        process.stdin.write(json.dumps(order).encode())
        process.stdin.close()
    return process.stdout


def _read_seldom(output: IO[bytes], stop: StopFlag, deadline: float) -> bytes:
    chunks: list[bytes] = []
    while True:
        if stop.wait(POLL_S):
            raise Interrupted
        if time.monotonic() > deadline:
            raise EnvironmentError_("the engine missed its own deadline; rebuild it, or report this")
        while True:
            try:
                chunk = os.read(output.fileno(), PIPE_BYTES)
            except BlockingIOError:
                break
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)


def _end(process: subprocess.Popen[bytes], *, urgent: bool) -> str:
    """Ends the engine if it still runs; answers what it wrote to standard error."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=0.1 if urgent else TERMINATE_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    errors = process.stderr.read().decode(errors="replace").strip() if process.stderr is not None else ""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None and not stream.closed:
            stream.close()
    return errors
