"""Runs ``photofinish visit`` over the targets of one cell; the protocol is ``docs/engine-protocol.md``."""

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from photofinish.errors import EnvironmentError_, InputError
from photofinish.testbed.processes import Resident
from photofinish.testbed.stop import Interrupted, StopFlag
from photofinish.trial.visit.parameters import Open, VisitParameters

POLL_S = 0.25
PIPE_BYTES = 1 << 20
"""Holds all lines of some hundred cycles, so that reading seldom is soon enough."""
TERMINATE_GRACE_S = 2.0
DEADLINE_FACTOR = 3
DEADLINE_EXTRA_S = 30
Orders = list[list[int]]


@dataclass(frozen=True, slots=True)
class Target:
    """A contestant to be visited."""

    id: str
    address: tuple[str, int]
    resident: Resident


@dataclass(frozen=True, slots=True)
class Visit:
    """What the engine said, parsed."""

    cycles: list[dict[str, Any]]
    """All ``cycle`` events, in their order."""
    targets: dict[int, dict[str, Any]]
    """Index of the target → its ``target`` event."""
    end: dict[str, Any]
    wall_s: float
    laboratory_cpu_share: float
    """Share of one core that this process used while the engine ran."""


def document(
    parameters: VisitParameters,
    targets: Sequence[Target],
    warmup: Orders,
    measure: Orders,
    *,
    cpus: Sequence[int],
    spin: bool | None = None,
    seed: int,
) -> dict[str, Any]:
    """The engine's input, ``photofinish.visit/1``."""
    load: dict[str, Any] = parameters.load.model_dump()
    if isinstance(parameters.load, Open):
        load["seed"] = seed
    phases = [{"name": "warmup", "order": warmup}] if warmup else []
    cycles = len(warmup) + len(measure)
    expected_s = cycles * parameters.cycle_s(len(targets))
    draining_s = cycles * len(targets) * 2 * parameters.drain_ms / 1000  # if all of them stall all the time
    return {
        "schema": "photofinish.visit/1",
        "deadline_ms": round(1000 * (DEADLINE_FACTOR * expected_s + draining_s + DEADLINE_EXTRA_S)),
        "backend": parameters.backend,
        "threads": 1,
        "cpus": list(cpus),
        "spin": spin,
        "window_ms": parameters.window_ms,
        "settle_ms": parameters.settle_ms,
        "drain_ms": parameters.drain_ms,
        "reconnect": parameters.reconnect,
        "load": load,
        "request": parameters.request.model_dump(),
        "expect": parameters.expect.model_dump(),
        "targets": [
            {
                "id": target.id,
                "address": f"{target.address[0]}:{target.address[1]}",
                "cpu": cpu_source(target.resident),
            }
            for target in targets
        ],
        "phases": [*phases, {"name": "measure", "order": measure}],
    }


def cpu_source(resident: Resident) -> dict[str, Any]:
    """Where the engine reads a contestant's CPU: nanoseconds of cgroup v1 before microseconds of v2 before threads."""
    if resident.cpuacct is not None:
        return {"kind": "cgroup-v1", "path": resident.cpuacct}
    if resident.cgroup_v2 is not None and Path(resident.cgroup_v2, "cpu.stat").exists():
        return {"kind": "cgroup-v2", "path": resident.cgroup_v2}
    return {"kind": "processes", "root_pid": resident.pid}


def drive(engine: Path, order: dict[str, Any], stop: StopFlag) -> Visit:
    """Runs a visit to its end; reads seldom and parses afterwards, so that the laboratory is quiet meanwhile.

    Raises:
        Interrupted: the stop flag was set.
        InputError, EnvironmentError_: the engine refused, failed or did not end in time.
    """
    deadline_s = order["deadline_ms"] / 1000 + 10
    began, cpu_began = time.monotonic(), time.process_time()
    process = subprocess.Popen(
        [str(engine), "visit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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
        raise kind(f"the engine's visit failed: {errors or f'status {code}, and no message'}")
    return parse(text, wall, used / wall)


def parse(text: bytes, wall_s: float, laboratory_cpu_share: float) -> Visit:
    """Reads the engine's lines.

    Raises:
        EnvironmentError_: they are cut off, or the visit was aborted.
    """
    cycles: list[dict[str, Any]] = []
    targets: dict[int, dict[str, Any]] = {}
    end: dict[str, Any] | None = None
    for line in text.splitlines():
        event = json.loads(line)
        match event.get("event"):
            case "cycle":
                cycles.append(event)
            case "target":
                targets[event["target"]] = event
            case "end":
                end = event
    if end is None:
        raise EnvironmentError_("the engine ended without its last line; rebuild it, or report this")
    if end.get("aborted") is not None:
        raise EnvironmentError_(
            f"the engine gave up its visit ({end['aborted']}); use a quieter machine or fewer cells"
        )
    return Visit(cycles, targets, end, wall_s, laboratory_cpu_share)


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
