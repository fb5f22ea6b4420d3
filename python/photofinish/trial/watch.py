"""What the machine did while a cell was measured, and what only the end of a round brings to light."""

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from photofinish.store.records import Trial, Void
from photofinish.testbed.counters import read_counters
from photofinish.testbed.proc import cpu_ns
from photofinish.testbed.processes import Resident, Stopped
from photofinish.trial import gates


class Watch:
    """Reads the machine's counters now, and again when asked for the facts."""

    def __init__(self, residents: Sequence[Resident]) -> None:
        self._residents = residents
        self._counters = read_counters()
        self._cpu = self._residents_ns()
        self._own = time.process_time_ns()
        self._began = time.monotonic_ns()

    def _residents_ns(self) -> int:
        return sum(cpu_ns(each.pid, each.cpuacct, each.cgroup_v2) for each in self._residents)

    def facts(self, engine: Mapping[str, Any], wall_s: float, laboratory_cpu_share: float) -> dict[str, Any]:
        """Shares of the time of all CPUs, and the engine's own account, its ``end`` event."""
        now = read_counters()
        passed = max(1, time.monotonic_ns() - self._began)
        all_cpus = passed * now.cpus
        ours = self._residents_ns() - self._cpu + time.process_time_ns() - self._own
        foreign = now.busy_ns - self._counters.busy_ns - ours - (engine.get("engine_cpu_ns") or 0)
        pressure = None
        if now.pressure_ns is not None and self._counters.pressure_ns is not None:
            pressure = (now.pressure_ns - self._counters.pressure_ns) / passed
        return {
            "foreign_share": max(0.0, foreign / all_cpus),
            "steal_share": (now.steal_ns - self._counters.steal_ns) / all_cpus,
            "pressure_share": pressure,
            "laboratory_cpu_share": laboratory_cpu_share,
            "wall_s": wall_s,
            "engine": engine,
        }


def round_void(cells: Mapping[str, Mapping[str, Any]], bounds: Mapping[str, gates.Bounds]) -> Void | None:
    """Why a whole round does not count: the first cell with more interference than its bounds allow takes it.

    Args:
        cells: cell → its facts; a cell that nobody was measured on has none.
        bounds: cell → its bounds, in the plan's order.
    """
    for cell, allowed in bounds.items():
        if (seen := cells.get(cell)) is not None:
            void = gates.interference_void(seen["foreign_share"], seen["steal_share"], allowed)
            if void is not None:
                return Void(void.code, f"{cell}: {void.detail}")
    return None


def with_its_end(trial: Trial, stopped: Stopped | None) -> Trial:
    """What only the end of the round brings to light."""
    if stopped is None:
        return trial
    if stopped.leaked and trial.void is None:
        return replace(trial, void=Void("leaked-children", f"still alive: {', '.join(stopped.leaked)}"))
    return replace(trial, labels=(*trial.labels, "stopped-by-force")) if stopped.forced else trial


@contextmanager
def no_collections() -> Iterator[None]:
    """Python's collector stays quiet during a round."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
