"""Runs ``photofinish visit`` over the targets of one tour; the protocol is ``docs/engine-protocol.md``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photofinish.testbed.certificates import SERVER_NAME
from photofinish.testbed.processes import Resident
from photofinish.testbed.stop import StopFlag
from photofinish.trial.engine import Said, Told, cpu_source, parse, run
from photofinish.trial.visit.parameters import Open, VisitParameters

DEADLINE_FACTOR = 3
DEADLINE_EXTRA_S = 30
Orders = list[list[int]]


@dataclass(frozen=True, slots=True)
class Target:
    """A contestant to be visited, on one cell."""

    id: str
    address: tuple[str, int]
    resident: Resident
    parameters: VisitParameters
    query: str = ""
    """The contestant's own."""


def document(
    targets: Sequence[Target],
    warmup: Orders,
    measure: Orders,
    *,
    cpus: Sequence[int],
    spin: bool | None = None,
    seed: int,
    ca: Path | None = None,
) -> dict[str, Any]:
    """The engine's input, ``photofinish.visit/1``; the schedule of windows is that of the first target, as of all.

    Args:
        targets: at least one.
        warmup: orders of indices into ``targets``, a cycle each, that don't count.
        measure: those that do.
        cpus: the engine's.
        spin: whether it polls; None lets it choose.
        seed: of arrivals.
        ca: the certificate that servers are trusted by.
    """
    parameters = targets[0].parameters
    load: dict[str, Any] = parameters.load.model_dump()
    if isinstance(parameters.load, Open):
        load["seed"] = seed
    phases = [{"name": "warmup", "order": warmup}] if warmup else []
    cycles = len(warmup) + len(measure)
    expected_s = cycles * parameters.cycle_s(len(targets))
    draining_s = cycles * len(targets) * 2 * parameters.drain_ms / 1000  # if all of them stall all the time
    secure = {"ca": str(ca) if ca else None, "server_name": SERVER_NAME, "resume": parameters.resume}
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
        **({"tls": secure} if any(target.parameters.is_secure() for target in targets) else {}),
        "targets": [_target(target) for target in targets],
        "phases": [*phases, {"name": "measure", "order": measure}],
    }


def _target(target: Target) -> dict[str, Any]:
    asked, expect = target.parameters, target.parameters.expect.model_dump()
    if asked.coding is not None:
        expect["coding"] = asked.coding
    return {
        "id": target.id,
        "address": f"{target.address[0]}:{target.address[1]}",
        "cpu": cpu_source(target.resident),
        "protocol": asked.protocol,
        "request": {"method": asked.request.method, "path": asked.path(target.query), "headers": asked.headers()},
        "expect": expect,
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
