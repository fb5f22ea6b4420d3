"""One round of turns: an origin, and for each cell fresh contestants that are proven, take turns, and are ended."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from photofinish.contest.order import orders
from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell
from photofinish.store.records import Round, Trial
from photofinish.trial.driver import Report, RoundTask
from photofinish.trial.turns.drive import Target, document, drive
from photofinish.trial.turns.field import Field, Runner
from photofinish.trial.turns.instrumented import figures
from photofinish.trial.turns.origin import Origin
from photofinish.trial.turns.parameters import check, parameters_of
from photofinish.trial.turns.trials import Turned, trials_of
from photofinish.trial.watch import Watch, no_collections, round_void, with_its_end


class TurnsDriver:
    """Lets resident clients and uploaders take turns."""

    needs_engine = True

    def check(self, plan: Plan) -> None:
        """See ``Driver.check``."""
        check(plan)

    def expected_s(self, plan: Plan) -> float:
        """See ``Driver.expected_s``."""
        return sum(parameters_of(cell).expected_s(len(plan.entries)) for cell in plan.cells)

    def run_round(self, task: RoundTask, report: Report) -> Round:
        """See ``Driver.run_round``."""
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        began = time.monotonic()
        trials: list[Trial] = []
        facts: dict[str, Any] = {"cells": {}, "start_order": {}}
        with no_collections():
            origin = _origin(task)
            try:
                for cell in task.plan.cells:
                    trials += _cell(task, cell, origin, facts, report)
            finally:
                origin.stop(urgent=task.bench.stop.urgent)
        duration_s = time.monotonic() - began
        return Round(
            task.index,
            task.seed,
            started_at,
            duration_s,
            tuple(trials),
            facts,
            void=round_void(facts["cells"], {cell.id: parameters_of(cell).noise_bounds() for cell in task.plan.cells}),
        )


def _origin(task: RoundTask) -> Origin:
    """The round's, with a second port where a cell needs one."""
    cells = [parameters_of(cell) for cell in task.plan.cells]
    secure = any(parameters.secure for parameters in cells)
    return Origin(task, task.chance("padding/origin"), spins=cells[0].origin_spins, secure=secure)


def _cell(task: RoundTask, cell: Cell, origin: Origin, facts: dict[str, Any], report: Report) -> list[Trial]:
    """Everything of one cell; nothing of it is left running."""
    report("start", cell.id)
    field = Field(task, cell, origin)
    trials: list[Trial] = []
    try:
        field.start()
        if field.ready() and field.payload_void() is None:
            report("turns", cell.id)
            trials = _take_turns(task, field, facts)
    finally:
        stopped = field.stop(urgent=task.bench.stop.urgent)
    if task.counted == 0 and field.parameters.instruments and field.payload_void() is None:
        report("instruments", cell.id)
        trials = _with_instruments(task, field, trials)
    facts["start_order"][cell.id] = [runner.entry.id for runner in field.runners]
    known = {trial.entry for trial in trials}
    others = [
        Trial(cell.id, runner.entry.id, runner.slot, void=runner.void)
        for runner in field.runners
        if runner.entry.id not in known
    ]
    if (changed := field.payload_void()) is not None:  # whatever else was seen may come of that
        trials, others = ([replace(trial, void=changed) for trial in some] for some in (trials, others))
    unable = [Trial(cell.id, entry, -1, void=void) for entry, void in field.unable.items()]
    return [with_its_end(trial, stopped.get(trial.entry)) for trial in (*trials, *others, *unable)]


def _take_turns(task: RoundTask, field: Field, facts: dict[str, Any]) -> list[Trial]:
    parameters, cell, bench = field.parameters, field.cell, task.bench
    runners = [runner for runner in field.ready() if runner.resident is not None and runner.proof is not None]
    targets = [
        Target(runner.entry.id, runner.trial, runner.resident, runner.pipes)
        for runner in runners
        if runner.resident is not None
    ]
    chance = task.chance(f"orders/{cell.id}")
    order = document(
        parameters,
        targets,
        orders(len(targets), parameters.warmup_cycles, chance.getrandbits(53)),
        orders(len(targets), parameters.cycles, chance.getrandbits(53)),
        origin=field.origin,
        payload=field.payload if parameters.direction == "upload" else None,
        cpus=bench.cores.engine,
        alone=not bench.cores.shared and bench.cores.origin != bench.cores.engine,
    )
    watch = Watch([*(target.resident for target in targets), field.origin.resident])
    turns = drive(bench.need_engine(), order, bench.stop)
    facts["cells"][cell.id] = watch.facts(turns.end, turns.wall_s, turns.laboratory_cpu_share)
    turned = [
        Turned(
            entry=runner.entry.id,
            slot=runner.slot,
            index=index,
            proof=runner.proof,
            after=target.resident.footprint(),
            end=_end(runner),
            constants=_constants(task, runner),
        )
        for index, (runner, target) in enumerate(zip(runners, targets, strict=True))
        if runner.proof is not None
    ]
    return trials_of(cell, parameters, turns, turned, shared_core=bench.cores.shared)


def _with_instruments(task: RoundTask, field: Field, trials: list[Trial]) -> list[Trial]:
    """Adds what is counted to the trials that count; it hardly varies, so that one round that counts has it."""
    wanted = set(field.cell.metrics)
    entries = {entry.id: entry for entry in task.plan.entries}
    counted = []
    for trial in trials:
        if trial.void is None and entries[trial.entry].twin_of is None:
            found = figures(field, entries[trial.entry])
            shown = {name: value for name, value in found.items() if not wanted or name in wanted}
            trial = replace(trial, figures={**trial.figures, **shown})  # noqa: PLW2901
        counted.append(trial)
    return counted


def _end(runner: Runner) -> str | None:
    resident = runner.resident
    if resident is None or resident.end is None:
        return None
    return f"it {resident.end}; its last line: {resident.last_words()}"


def _constants(task: RoundTask, runner: Runner) -> dict[str, float | None]:
    built = task.bench.builds.get(runner.entry.contestant)
    return {
        "startup_s": runner.startup_s,
        "first_request_s": runner.first_request_s,
        "build_s": built.build_s if built else None,
        "binary_bytes": built.binary_bytes if built else None,
    }
