"""One round of visits: start all, visit all in each cell, gate, end all."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from photofinish.contest.order import orders
from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell
from photofinish.store.records import Round, Trial, Void
from photofinish.testbed.counters import Counters, read_counters
from photofinish.testbed.proc import cpu_ns
from photofinish.testbed.processes import Stopped
from photofinish.trial import gates
from photofinish.trial.driver import Report, RoundTask
from photofinish.trial.visit.drive import Target, Visit, document, drive
from photofinish.trial.visit.field import Field, Runner
from photofinish.trial.visit.parameters import check, parameters_of
from photofinish.trial.visit.trials import Visited, trials_of

START_S = 0.4
"""Guess for the start and the end of one contestant."""


class VisitDriver:
    """Visits resident contestants in windows."""

    needs_engine = True

    def check(self, plan: Plan) -> None:
        """See ``Driver.check``."""
        check(plan)

    def expected_s(self, plan: Plan) -> float:
        """See ``Driver.expected_s``."""
        count = len(plan.entries)
        return START_S * count + sum(parameters_of(cell).expected_s(count) for cell in plan.cells)

    def run_round(self, task: RoundTask, report: Report) -> Round:
        """See ``Driver.run_round``."""
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        began = time.monotonic()
        field = Field(task)
        trials: list[Trial] = []
        facts: dict[str, Any] = {"cells": {}}
        stopped: dict[str, Stopped] = {}
        with _no_collections():
            try:
                report("start", None)
                field.start()
                for cell in task.plan.cells:
                    report("visit", cell.id)
                    trials += _visit_cell(task, field, cell, facts)
                report("stop", None)
            finally:
                stopped = field.stop(urgent=task.bench.stop.urgent)
        facts["start_order"] = [runner.entry.id for runner in field.runners]
        return Round(
            index=task.index,
            seed=task.seed,
            started_at=started_at,
            duration_s=time.monotonic() - began,
            trials=tuple(_with_its_end(trial, stopped.get(trial.entry)) for trial in trials),
            facts=facts,
            void=_round_void(task, facts),
        )


def _visit_cell(task: RoundTask, field: Field, cell: Cell, facts: dict[str, Any]) -> list[Trial]:
    """Visits everybody who can be measured; the others' trials are void for the reason noted."""
    parameters = parameters_of(cell)
    runners = field.ready()
    targets = [Target(each.entry.id, each.address, each.resident) for each in runners if each.resident is not None]
    before = [target.resident.footprint() for target in targets]
    warmup, measure = parameters.warmup_cycles(len(targets)), parameters.cycles
    chance = task.chance(f"orders/{cell.id}")
    order = document(
        parameters,
        targets,
        orders(len(targets), warmup, chance.getrandbits(53)),
        orders(len(targets), measure, chance.getrandbits(53)),
        cpus=task.bench.cores.engine,
        spin=False if task.bench.cores.shared else None,
        seed=chance.getrandbits(53),
    )
    watch = _Watch(targets)
    visit = drive(task.bench.need_engine(), order, task.bench.stop)
    facts["cells"][cell.id] = watch.facts(visit)
    after = [target.resident.footprint() for target in targets]
    deaths = field.note_deaths()
    visited = [
        Visited(
            entry=runner.entry.id,
            slot=runner.slot,
            index=index,
            before=before[index],
            after=after[index],
            end=deaths.get(runner.entry.id),
            constants=_constants(task, runner),
            cores=min(task.plan.workers, len(task.bench.cores.contestants)),
        )
        for index, runner in enumerate(runners)
    ]
    reference = next((entry.id for entry in task.plan.entries if entry.is_reference), None)
    trials = trials_of(
        cell,
        parameters,
        visit,
        visited,
        metrics=task.plan.metrics,
        reference=reference,
        shared_core=task.bench.cores.shared,
    )
    known = {trial.entry for trial in trials}
    return trials + [
        Trial(cell.id, runner.entry.id, runner.slot, void=runner.void)
        for runner in field.runners
        if runner.entry.id not in known
    ]


def _constants(task: RoundTask, runner: Runner) -> dict[str, float | None]:
    built = task.bench.builds.get(runner.entry.contestant)
    return {
        "startup_s": runner.startup_s,
        "build_s": built.build_s if built else None,
        "binary_bytes": built.binary_bytes if built else None,
    }


def _with_its_end(trial: Trial, stopped: Stopped | None) -> Trial:
    """What only the end of the round brings to light."""
    if stopped is None:
        return trial
    if stopped.leaked and trial.void is None:
        return replace(trial, void=Void("leaked-children", f"still alive: {', '.join(stopped.leaked)}"))
    return replace(trial, labels=(*trial.labels, "stopped-by-force")) if stopped.forced else trial


def _round_void(task: RoundTask, facts: dict[str, Any]) -> Void | None:
    """The first cell whose interference is beyond its bounds takes the round."""
    for cell in task.plan.cells:
        seen = facts["cells"][cell.id]
        bounds = parameters_of(cell).noise_bounds()
        void = gates.interference_void(seen["foreign_share"], seen["steal_share"], bounds)
        if void is not None:
            return Void(void.code, f"{cell.id}: {void.detail}")
    return None


class _Watch:
    """What the machine did while a cell was visited."""

    def __init__(self, targets: list[Target]) -> None:
        self._targets = targets
        self._counters = read_counters()
        self._cpu = self._contestants_ns()
        self._own = time.process_time_ns()
        self._began = time.monotonic_ns()

    def _contestants_ns(self) -> int:
        return sum(cpu_ns(t.resident.pid, t.resident.cpuacct, t.resident.cgroup_v2) for t in self._targets)

    def facts(self, visit: Visit) -> dict[str, Any]:
        """Shares of the time of all CPUs, and the engine's own account."""
        now: Counters = read_counters()
        passed = max(1, time.monotonic_ns() - self._began)
        all_cpus = passed * now.cpus
        ours = self._contestants_ns() - self._cpu + time.process_time_ns() - self._own
        foreign = now.busy_ns - self._counters.busy_ns - ours - (visit.end.get("engine_cpu_ns") or 0)
        pressure = None
        if now.pressure_ns is not None and self._counters.pressure_ns is not None:
            pressure = (now.pressure_ns - self._counters.pressure_ns) / passed
        return {
            "foreign_share": max(0.0, foreign / all_cpus),
            "steal_share": (now.steal_ns - self._counters.steal_ns) / all_cpus,
            "pressure_share": pressure,
            "laboratory_cpu_share": visit.laboratory_cpu_share,
            "wall_s": visit.wall_s,
            "engine": visit.end,
        }


@contextmanager
def _no_collections() -> Iterator[None]:
    """Python's collector stays quiet during a round."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
