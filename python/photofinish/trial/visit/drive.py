"""Runs ``photofinish visit`` over the targets of one cell; the protocol is ``docs/engine-protocol.md``."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photofinish.errors import EnvironmentError_
from photofinish.testbed.processes import Resident
from photofinish.testbed.stop import StopFlag
from photofinish.trial.engine import cpu_source, run
from photofinish.trial.visit.parameters import Open, VisitParameters

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


def drive(engine: Path, order: dict[str, Any], stop: StopFlag) -> Visit:
    """Runs a visit to its end.

    Raises:
        Interrupted: the stop flag was set.
        InputError, EnvironmentError_: the engine refused, failed or did not end in time.
    """
    said = run(engine, "visit", order, stop)
    return parse(said.text, said.wall_s, said.laboratory_cpu_share)


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
