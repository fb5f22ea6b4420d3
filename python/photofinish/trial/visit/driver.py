"""One round of visits: start all, visit all in each tour of cells, gate, end all."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from photofinish.contest.order import orders
from photofinish.contest.plan import Entry, Plan
from photofinish.contest.suite import Cell
from photofinish.store.records import Round, Trial, Void
from photofinish.testbed.proc import Footprint
from photofinish.testbed.processes import Stopped
from photofinish.trial.driver import Report, RoundTask
from photofinish.trial.engine import Told
from photofinish.trial.launch import certificates_of
from photofinish.trial.visit.drive import Target, document, drive
from photofinish.trial.visit.field import Field, Runner
from photofinish.trial.visit.parameters import check, parameters_of, tours
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
        expected = START_S * len(plan.entries)
        for cells in tours(plan.cells, interleaved=plan.suite.interleaved):
            asked = [parameters_of(cell) for cell in cells]
            able = sum(not cell.unable(entry.manifest) for cell in asked for entry in plan.entries)
            expected += asked[0].expected_s(able)
        return expected

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
                for cells in tours(task.plan.cells, interleaved=task.plan.suite.interleaved):
                    report("visit", cells[0].id if len(cells) == 1 else f"{len(cells)} cells")
                    trials += _Tour(task, field, cells).visit(facts)
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


class _Tour:
    """One visit of everybody who can be measured, on each of some cells."""

    def __init__(self, task: RoundTask, field: Field, cells: Sequence[Cell]) -> None:
        self._task = task
        self._field = field
        self._cells = cells
        self._parameters = {cell.id: parameters_of(cell) for cell in cells}
        self._runners = [runner for runner in field.ready() if runner.resident is not None]
        self._stops = [
            (cell, runner) for cell in cells for runner in self._runners if not self._unable(cell, runner.entry)
        ]

    def _unable(self, cell: Cell, entry: Entry) -> str | None:
        return self._parameters[cell.id].unable(entry.manifest)

    def visit(self, facts: dict[str, Any]) -> list[Trial]:
        """Visits all; answers a trial for each entry and cell, those that were not measured void for the reason noted.

        What the machine did is added to ``facts``.
        """
        trials: list[Trial] = []
        if self._stops:
            before = self._footprints()
            residents = [runner.resident for runner in self._runners if runner.resident is not None]
            watch = Watch(residents)
            visit = drive(self._task.bench.need_engine(), self._document(), self._task.bench.stop)
            seen = watch.facts(visit.end, visit.wall_s, visit.laboratory_cpu_share)
            facts["cells"] |= {cell.id: seen for cell in self._cells}
            trials = self._trials(visit, before, self._footprints(), self._field.note_deaths())
        known = {(trial.cell, trial.entry) for trial in trials}
        return trials + [
            self._not_measured(cell, runner)
            for cell in self._cells
            for runner in self._field.runners
            if (cell.id, runner.entry.id) not in known
        ]

    def _not_measured(self, cell: Cell, runner: Runner) -> Trial:
        if (reason := self._unable(cell, runner.entry)) is not None:
            return Trial(cell.id, runner.entry.id, -1, void=Void("not-capable", reason))
        return Trial(cell.id, runner.entry.id, runner.slot, void=runner.void)

    def _footprints(self) -> dict[str, Footprint]:
        return {runner.entry.id: runner.resident.footprint() for runner in self._runners if runner.resident is not None}

    def _document(self) -> dict[str, Any]:
        bench = self._task.bench
        targets = [self._target(cell, runner) for cell, runner in self._stops]
        first = self._parameters[self._cells[0].id]
        chance = self._task.chance(f"orders/{self._cells[0].id}")
        secure = any(parameters.is_secure() for parameters in self._parameters.values())
        return document(
            targets,
            orders(len(targets), first.warmup_cycles(len(targets)), chance.getrandbits(53)),
            orders(len(targets), first.cycles, chance.getrandbits(53)),
            cpus=bench.cores.engine,
            spin=False if bench.cores.shared else None,
            seed=chance.getrandbits(53),
            ca=certificates_of(bench).ca if secure else None,
        )

    def _target(self, cell: Cell, runner: Runner) -> Target:
        parameters, entry, resident = self._parameters[cell.id], runner.entry, runner.resident
        assert resident is not None  # noqa: S101 - the stops have been chosen so
        where = runner.secure_address if parameters.is_secure() else runner.address
        name = entry.id if len(self._cells) == 1 else f"{entry.id} {cell.id}"
        return Target(name, where, resident, parameters, entry.manifest.query)

    def _trials(
        self,
        visit: Told,
        before: Mapping[str, Footprint],
        after: Mapping[str, Footprint],
        deaths: Mapping[str, str],
    ) -> list[Trial]:
        task, plan = self._task, self._task.plan
        visited: dict[str, list[Visited]] = {}
        for index, (cell, runner) in enumerate(self._stops):
            entry = runner.entry.id
            visited.setdefault(cell.id, []).append(
                Visited(
                    entry=entry,
                    slot=runner.slot,
                    index=index,
                    before=before[entry],
                    after=after[entry],
                    end=deaths.get(entry),
                    constants=_constants(task, runner),
                    cores=min(plan.workers, len(task.bench.cores.contestants)),
                )
            )
        reference = next((entry.id for entry in plan.entries if entry.is_reference), None)
        return [
            trial
            for cell in self._cells
            for trial in trials_of(
                cell,
                self._parameters[cell.id],
                visit,
                visited.get(cell.id, []),
                metrics=plan.metrics,
                reference=reference,
                shared_core=task.bench.cores.shared,
            )
        ]


def _constants(task: RoundTask, runner: Runner) -> dict[str, float | None]:
    built = task.bench.builds.get(runner.entry.contestant)
    return {
        "startup_s": runner.startup_s,
        "build_s": built.build_s if built else None,
        "binary_bytes": built.binary_bytes if built else None,
    }
