"""Runs ``photofinish visit`` over the targets of one cell; the protocol is ``docs/engine-protocol.md``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photofinish.testbed.processes import Resident
from photofinish.testbed.stop import StopFlag
from photofinish.trial.engine import Said, Told, cpu_source, parse, run
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


def drive(engine: Path, order: dict[str, Any], stop: StopFlag) -> Told:
    """Runs a visit to its end.

    Raises:
        Interrupted: the stop flag was set.
        InputError, EnvironmentError_: the engine refused, failed or did not end in time.
    """
    return read(run(engine, "visit", order, stop))


def read(said: Said) -> Told:
    """Reads the engine's lines.

    Raises:
        EnvironmentError_: they are cut off, or the engine gave up.
    """
    return parse(said, "visit", lambda _: "use a quieter machine or fewer cells")
