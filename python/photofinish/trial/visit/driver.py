"""One round of visits: start all, visit all in each cell, gate, end all."""

import time
from datetime import UTC, datetime
from typing import Any

from photofinish.contest.order import orders
from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell
from photofinish.store.records import Round, Trial
from photofinish.testbed.processes import Stopped
from photofinish.trial.driver import Report, RoundTask
from photofinish.trial.visit.drive import Target, document, drive
from photofinish.trial.visit.field import Field, Runner
from photofinish.trial.visit.parameters import check, parameters_of
from photofinish.trial.visit.trials import Visited, trials_of
from photofinish.trial.watch import Watch, no_collections, round_void, with_its_end

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
        with no_collections():
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
            trials=tuple(with_its_end(trial, stopped.get(trial.entry)) for trial in trials),
            facts=facts,
            void=round_void(facts["cells"], {cell.id: parameters_of(cell).noise_bounds() for cell in task.plan.cells}),
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
    watch = Watch([target.resident for target in targets])
    visit = drive(task.bench.need_engine(), order, task.bench.stop)
    facts["cells"][cell.id] = watch.facts(visit.end, visit.wall_s, visit.laboratory_cpu_share)
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
