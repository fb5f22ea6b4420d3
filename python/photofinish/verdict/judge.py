"""From a race's raw rounds to its verdict. A pure function: the same race gives the same verdict, byte for byte."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from photofinish.contest.plan import Entry, Plan
from photofinish.contest.suite import Cell
from photofinish.store.records import Race, Round, Trial
from photofinish.verdict.effects import Floats
from photofinish.verdict.equivalence import base_delta
from photofinish.verdict.estimates import median_interval, share_of_reference
from photofinish.verdict.floor import allowed_rejections, noise_floor
from photofinish.verdict.front import pareto_front
from photofinish.verdict.model import (
    Aside,
    CellVerdict,
    ContrastGroup,
    ContrastVerdict,
    EntryInfo,
    Estimate,
    MetricVerdict,
    PairVerdict,
    RaceVerdict,
    TrialEvidence,
    TwinVerdict,
    VoidCount,
)
from photofinish.verdict.notes import note
from photofinish.verdict.pairs import Compared, Rules, compared, pair_verdicts, top_set, twin_verdict, twins_of
from photofinish.verdict.pivot import pivot
from photofinish.verdict.readings import Readings, metrics_of, read, sheets
from photofinish.verdict.stages import Stage, judged_entries, judged_pairs, stage

STANDS_ASIDE = "not-capable"
"""Reason code of trials that were not made because the cell asks for what the contestant does not claim to do."""


def judge(race: Race) -> RaceVerdict:
    """Everything that a race came to, from its rounds alone.

    Pairs, intervals and the floor use the rounds and the share of α of the race's stage (``stages.py``); voids are counted
    over all rounds.
    """
    plan = race.run.plan
    current = stage(race)
    cells, twins = _cells(plan, current, bootstrap=True)
    return RaceVerdict(
        run=race.run.id,
        created_at=race.run.created_at,
        version=race.run.version,
        status=race.run.status,
        suite=plan.suite.name,
        title=plan.suite.title,
        question=plan.suite.question,
        profile=plan.profile,
        seed=plan.seed,
        alpha=plan.alpha,
        rounds_planned=plan.rounds,
        rounds_counted=len(current.rounds),
        duration_s=sum(r.duration_s for r in race.rounds),
        environment=race.run.environment,
        entries=tuple(_entry_info(entry, current.rounds, race.run.environment) for entry in plan.entries),
        absent=tuple({"contestant": a.contestant, "code": a.code, "detail": a.detail} for a in plan.absent),
        cells=cells,
        voids=_void_counts(plan, race.rounds),
        twins=twins,
        trials=_trials(race.rounds),
        contrast=_contrast(race),
        decided=_decided(cells),
    )


def headline_is_decided(race: Race) -> bool:
    """Whether every judged pair of the headline metric is won or tied: ``judge(race).decided`` without the rest."""
    plan = race.run.plan
    cells, _ = _cells(plan, stage(race), bootstrap=False)
    return _decided(cells)


def _contrast(race: Race) -> ContrastVerdict | None:
    """The values of the suite's contrast compared, contestant by contestant; None if there is nothing to compare."""
    suite = race.run.plan.suite
    turned = pivot(race, suite.contrast) if suite.contrast is not None else None
    if turned is None:
        return None
    cells, _ = _cells(turned.race.run.plan, stage(turned.race), bootstrap=False)
    groups = tuple(
        ContrastGroup(
            contestant=group.contestant,
            axes=dict(group.axes),
            title=group.title,
            metrics=cell.metrics,
            aside=cell.aside,
            front=pareto_front(cell, suite.front),
        )
        for group, cell in zip(turned.groups, cells, strict=True)
        if _values_with_figures(cell) > 1
    )
    return ContrastVerdict(axis=suite.contrast or "", values=turned.values, front_of=suite.front, groups=groups)


def _values_with_figures(cell: CellVerdict) -> int:
    return len(
        {
            each.entry
            for metric in cell.metrics
            for each in metric.estimates
            if each.value is not None and "~" not in each.entry
        }
    )


def _decided(cells: Iterable[CellVerdict]) -> bool:
    pairs = [pair for cell in cells for metric in cell.metrics if metric.headline for pair in metric.pairs]
    return bool(pairs) and all(pair.outcome in {"a-wins", "b-wins", "tie"} for pair in pairs)


def _cells(plan: Plan, current: Stage, *, bootstrap: bool) -> tuple[tuple[CellVerdict, ...], tuple[TwinVerdict, ...]]:
    """Twins first, over the whole race: whether it is noise-limited decides about every pair."""
    base = base_delta(alternating=plan.suite.alternating)
    level = plan.alpha * current.share
    of = sheets(current.rounds)
    gathered = [
        (cell, [read(plan, current.rounds, cell, metric, of) for metric in metrics_of(plan, cell)])
        for cell in plan.cells
    ]
    asides = {cell.id: _asides(plan, of.get(cell.id, ())) for cell in plan.cells}
    controls = {
        (cell.id, readings.metric.name): [
            compared(readings, a, b, level) for a, b in twins_of(_without(plan, asides[cell.id]))
        ]
        for cell, of_cell in gathered
        for readings in of_cell
    }
    rules = Rules(plan.alpha, current.share, base, base, noise_limited=False, seed=plan.seed)
    twins = tuple(
        twin_verdict(cell.id, readings.metric.name, control, rules)
        for cell, of_cell in gathered
        for readings in of_cell
        if readings.metric.judged
        for control in controls[cell.id, readings.metric.name]
    )
    tested = sum(twin.p is not None for twin in twins)
    noisy = level > 0 and sum(twin.rejected for twin in twins) > allowed_rejections(tested, level)
    floors = _floors(plan, gathered, controls)
    cells = tuple(
        CellVerdict(
            cell=cell.id,
            title=cell.title,
            aside=asides[cell.id],
            metrics=tuple(
                _metric_verdict(
                    _without(plan, asides[cell.id]),
                    readings,
                    floors[cell.id, readings.metric.name],
                    Rules(
                        plan.alpha,
                        current.share,
                        base,
                        max(base, floors[cell.id, readings.metric.name] or 0.0),
                        noise_limited=noisy and readings.metric.judged,
                        seed=plan.seed,
                    ),
                    bootstrap=bootstrap and readings.metric.headline,
                )
                for readings in of_cell
            ),
        )
        for cell, of_cell in gathered
    )
    return cells, twins


def _asides(plan: Plan, of_cell: Sequence[Mapping[str, Trial]]) -> tuple[Aside, ...]:
    """Entries that the cell is not for, by all their trials on it."""
    found = []
    for entry in plan.entries:
        voids = [trials[entry.id].void for trials in of_cell if entry.id in trials]
        if voids and all(void is not None and void.code == STANDS_ASIDE for void in voids):
            found.append(Aside(entry=entry.id, reason=voids[0].detail if voids[0] else ""))
    return tuple(found)


def _without(plan: Plan, aside: tuple[Aside, ...]) -> Plan:
    """The plan as it stands for a cell."""
    if not aside:
        return plan
    absent = {each.entry for each in aside}
    return plan.model_copy(update={"entries": tuple(entry for entry in plan.entries if entry.id not in absent)})


def _floors(
    plan: Plan,
    gathered: list[tuple[Cell, list[Readings]]],
    controls: dict[tuple[str, str], list[Compared]],
) -> dict[tuple[str, str], float | None]:
    """Floor of each cell and metric: from the metric's twins on all cells if they are enough, else on this cell."""
    floors: dict[tuple[str, str], float | None] = {}
    for cell, of_cell in gathered:
        for readings in of_cell:
            name = readings.metric.name
            everywhere = [control for other in plan.cells for control in controls.get((other.id, name), [])]
            floors[cell.id, name] = noise_floor(
                _differences(controls[cell.id, name]), everywhere=_differences(everywhere)
            )
    return floors


def _differences(controls: list[Compared]) -> list[Floats]:
    return [control.differences for control in controls if control.differences is not None]


def _metric_verdict(
    plan: Plan, readings: Readings, floor: float | None, rules: Rules, *, bootstrap: bool
) -> MetricVerdict:
    metric = readings.metric
    estimates = _estimates(plan, readings, rules.level or rules.alpha)
    pairs: tuple[PairVerdict, ...] = ()
    top: tuple[str, ...] = ()
    text = None
    if metric.judged:
        asked = [(a.id, b.id) for a, b in judged_pairs(plan)]
        pairs = pair_verdicts(readings, asked, rules, bootstrap=bootstrap)
        top = top_set(
            [entry.id for entry in judged_entries(plan)], pairs, {e.entry for e in estimates if e.value is not None}
        )
        spreads = [
            found.spread
            for pair in pairs
            if pair.a in top and pair.b in top
            and (found := compared(readings, pair.a, pair.b, rules.level).effect) is not None
            and found.spread is not None
        ]  # fmt: skip
        text = note(pairs, spreads, top, rules)
    return MetricVerdict(
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        better=metric.better,
        headline=metric.headline,
        judged=metric.judged,
        digits=metric.digits,
        floor=floor,
        delta=rules.delta,
        noise_limited=rules.noise_limited,
        top_set=top,
        estimates=estimates,
        pairs=pairs,
        note=text,
    )


def _estimates(plan: Plan, readings: Readings, level: float) -> tuple[Estimate, ...]:
    medians = {entry.id: median_interval(readings.figures(entry.id), level) for entry in plan.entries}
    reference = next((medians[entry.id] for entry in plan.entries if entry.is_reference), None)
    estimates = []
    for entry in plan.entries:
        median = medians[entry.id]
        estimates.append(
            Estimate(
                entry=entry.id,
                value=median.value if median else None,
                low=median.low if median else None,
                high=median.high if median else None,
                attained=median.attained if median else None,
                rounds=median.rounds if median else 0,
                share_of_reference=share_of_reference(
                    median.value if median else None, reference.value if reference else None, readings.metric.better
                ),
                labels=readings.labels[entry.id],
                voids=dict(sorted(readings.voids[entry.id].items())),
            )
        )
    return tuple(estimates)


def _entry_info(entry: Entry, rounds: tuple[Round, ...], environment: Mapping[str, Any]) -> EntryInfo:
    """Who raced, with the evidence of its first trial that counts and what its build left in the environment."""
    first = next((t for r in rounds for t in r.trials if t.entry == entry.id and t.void is None), None)
    builds = environment.get("builds") or {}
    return EntryInfo(
        entry=entry.id,
        contestant=entry.contestant,
        title=entry.title,
        language=entry.manifest.language,
        version=entry.manifest.version,
        tuning=entry.manifest.tuning,
        twin_of=entry.twin_of,
        is_reference=entry.is_reference,
        evidence=dict(first.evidence) if first else {},
        facts=dict(builds.get(entry.contestant) or {}),
    )


def _trials(rounds: tuple[Round, ...]) -> tuple[TrialEvidence, ...]:
    return tuple(
        TrialEvidence(
            round=each.index,
            cell=trial.cell,
            entry=trial.entry,
            void=void.code if void else None,
            evidence=trial.evidence,
        )
        for each in sorted(rounds, key=lambda one: one.index)
        for trial in each.trials
        for void in [each.void or trial.void]
    )


def _void_counts(plan: Plan, rounds: tuple[Round, ...]) -> tuple[VoidCount, ...]:
    """Void rounds, trials and figures, each with one example; windows count only within their trial.

    A figure that its cell does not show is not missed by anybody.
    """
    shown = {cell.id: {metric.name for metric in metrics_of(plan, cell)} for cell in plan.cells}
    counts: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], str] = {}
    for one_round in rounds:
        if one_round.void is not None:
            key = ("", "", one_round.void.code)
            counts[key] += 1
            examples.setdefault(key, one_round.void.detail)
            continue
        for trial in one_round.trials:
            if trial.void is not None and trial.void.code == STANDS_ASIDE:
                continue
            found = [(trial.void.code, trial.void.detail)] if trial.void is not None else []
            if not found:
                found = [
                    (code, f"figure {name}")
                    for name, code in sorted(trial.voided_figures.items())
                    if name in shown.get(trial.cell, ())
                ]
            for code, detail in found:
                counts[trial.entry, trial.cell, code] += 1
                examples.setdefault((trial.entry, trial.cell, code), detail)
    return tuple(
        VoidCount(entry=key[0] or None, cell=key[1] or None, code=key[2], count=count, example=examples[key])
        for key, count in sorted(counts.items())
    )
