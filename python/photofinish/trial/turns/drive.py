"""Runs ``photofinish turns`` over the contestants of one cell; the protocol is ``docs/engine-protocol.md``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photofinish.testbed.processes import Resident
from photofinish.testbed.stop import StopFlag
from photofinish.trial.engine import Said, Told, cpu_source, parse, run
from photofinish.trial.turns.lines import Pipes
from photofinish.trial.turns.origin import Origin
from photofinish.trial.turns.parameters import TurnsParameters

DEADLINE_FACTOR = 10
"""Slow contestants may take so many times what was guessed for them; beside that, each may stall once."""
DEADLINE_EXTRA_S = 60
MENDS = {
    "deadline": "use a quieter machine, fewer cells or fewer cycles",
    "origin-gone": "see origin~.log in the run's folder below --work; free memory, then `photofinish resume`",
}
MEND = "go on with `photofinish resume`"
NAP_US = 30
Orders = list[list[int]]


@dataclass(frozen=True, slots=True)
class Target:
    """A contestant that repeats on command."""

    id: str
    trial: str
    resident: Resident
    pipes: Pipes


def document(
    parameters: TurnsParameters,
    targets: Sequence[Target],
    warmup: Orders,
    measure: Orders,
    *,
    origin: Origin,
    payload: Path | None,
    cpus: Sequence[int],
    alone: bool,
) -> dict[str, Any]:
    """The engine's input, ``photofinish.turns/1``.

    Args:
        parameters: the cell's.
        targets: who takes turns.
        warmup: orders of the cycles that don't count.
        measure: orders of those that do.
        origin: where their repetitions go.
        payload: the file that is sent; its pages are dropped before each repetition of a cold cell.
        cpus: the engine's.
        alone: nobody else works on them, so that the engine may poll without a pause.
    """
    cycles = len(warmup) + len(measure)
    stalls_s = len(targets) * parameters.repetition_timeout_s
    expected_s = cycles * len(targets) * parameters.window_s()
    return {
        "schema": "photofinish.turns/1",
        "deadline_ms": round(1000 * (DEADLINE_FACTOR * expected_s + stalls_s + DEADLINE_EXTRA_S)),
        "cpus": list(cpus),
        "origin": f"{origin.address[0]}:{origin.address[1]}",
        "origin_cpu": None if origin.spins else cpu_source(origin.resident),
        "window_ms": parameters.window_ms,
        "most_repetitions": parameters.most_repetitions,
        "repetition_timeout_ms": round(1000 * parameters.repetition_timeout_s),
        "settle": parameters.settle,
        "nap_us": 0 if alone else NAP_US,
        "cold": str(payload) if payload is not None and parameters.cache == "cold" else None,
        "targets": [
            {
                "id": target.id,
                "trial": target.trial,
                "pid": target.resident.pid,
                "commands": str(target.pipes.commands),
                "answers": str(target.pipes.answers),
                "cpu": cpu_source(target.resident),
            }
            for target in targets
        ],
        "phases": [{"name": "warmup", "order": warmup}, {"name": "measure", "order": measure}],
    }


def drive(engine: Path, order: dict[str, Any], stop: StopFlag) -> Told:
    """Lets them take their turns to the end.

    Raises:
        Interrupted: the stop flag was set.
        InputError, EnvironmentError_: the engine refused, failed or did not end in time.
    """
    return read(run(engine, "turns", order, stop))


def read(said: Said) -> Told:
    """Reads the engine's lines.

    Raises:
        EnvironmentError_: they are cut off, or the engine gave up.
    """
    return parse(said, "turns", lambda reason: MENDS.get(reason, MEND))
