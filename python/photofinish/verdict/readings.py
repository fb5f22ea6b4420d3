"""What the store says about one metric on one cell: one figure a round and entry, one log ratio a round and pair.

What counts is decided here, without a look at the outcome:

* a void round counts for nobody; a void trial takes its round from its own entry and so from that entry's pairs only;
* of a ``windows`` metric a window counts if it is not void, both readings are known and both are above zero; a round's
  figure is the median over its windows, a pair's effect the median of ln(b/a) over cycles in which both count;
* of a ``trial`` metric the figure counts unless it is null or voided by name. A zero against a zero is a log ratio of
  0; a zero against anything else has no ratio, and then the pair has none at all (leaving out just those rounds would
  not be blind).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell, Metric
from photofinish.store.records import Race, Round, Trial
from photofinish.verdict.effects import Floats

Sheets = Mapping[str, Sequence[Mapping[str, Trial]]]
"""Cell → one dictionary a round: entry → trial."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One entry's share of one round: its figure, and for window metrics the figure of each cycle."""

    figure: float
    cycles: dict[int, float]


@dataclass(frozen=True, slots=True)
class Readings:
    """One metric on one cell over all rounds that count."""

    metric: Metric
    rounds: tuple[dict[str, Reading], ...]
    """One dictionary a counted round: entry → reading; an entry whose trial does not count is missing."""
    voids: dict[str, Counter[str]]
    """Entry → reason code → rounds that it took away."""
    labels: dict[str, tuple[str, ...]]
    """Entry → labels of more than half of the counted rounds; the store keeps each round's own."""

    def figures(self, entry: str) -> list[float]:
        """One figure a round, in the metric's unit."""
        return [by_entry[entry].figure for by_entry in self.rounds if entry in by_entry]

    def effects(self, a: str, b: str) -> Floats | None:
        """ln(b/a), one a round in which both count; None where a ratio does not exist (a zero against a non-zero)."""
        effects: list[float] = []
        for by_entry in self.rounds:
            if a not in by_entry or b not in by_entry:
                continue
            one, other = by_entry[a], by_entry[b]
            if self.metric.source == "windows":
                shared = one.cycles.keys() & other.cycles.keys()
                if shared:
                    effects.append(float(np.median([math.log(other.cycles[c] / one.cycles[c]) for c in shared])))
            elif one.figure > 0 and other.figure > 0:
                effects.append(math.log(other.figure / one.figure))
            elif one.figure == other.figure:
                effects.append(0.0)
            else:
                return None
        return np.asarray(effects, dtype=np.float64)


def counted_rounds(race: Race) -> tuple[Round, ...]:
    """The rounds that are not void, in their order."""
    return tuple(sorted((r for r in race.rounds if r.void is None), key=lambda r: r.index))


def metrics_of(plan: Plan, cell: Cell) -> list[Metric]:
    """The metrics that a cell yields, in the plan's order."""
    return [metric for metric in plan.metrics if not cell.metrics or metric.name in cell.metrics]


def sheets(rounds: tuple[Round, ...]) -> Sheets:
    """The trials of rounds that count, sorted once: a race may have hundreds of cells."""
    found: dict[str, list[dict[str, Trial]]] = {}
    for place, one in enumerate(rounds):
        for trial in one.trials:
            by_round = found.setdefault(trial.cell, [{} for _ in rounds])
            by_round[place][trial.entry] = trial
    return found


def read(plan: Plan, rounds: tuple[Round, ...], cell: Cell, metric: Metric, of: Sheets | None = None) -> Readings:
    """Gather one metric on one cell from rounds that count.

    Args:
        plan: the race's.
        rounds: those that count.
        cell: one of the plan's.
        metric: one of the cell's.
        of: ``sheets(rounds)``, if they are at hand.
    """
    by_place = (sheets(rounds) if of is None else of).get(cell.id, [{} for _ in rounds])
    by_round: list[dict[str, Reading]] = []
    voids: dict[str, Counter[str]] = {entry.id: Counter() for entry in plan.entries}
    labels: dict[str, Counter[str]] = {entry.id: Counter() for entry in plan.entries}
    for trials in by_place:
        by_entry: dict[str, Reading] = {}
        for entry in plan.entries:
            trial = trials.get(entry.id)
            reading = _reading(trial, metric) if trial is not None else "not-run"
            if isinstance(reading, Reading):
                by_entry[entry.id] = reading
            else:
                voids[entry.id][reading] += 1
            if trial is not None:
                labels[entry.id].update(set(trial.labels))
        by_round.append(by_entry)
    usual = {
        entry: tuple(sorted(code for code, count in found.items() if 2 * count > len(rounds)))
        for entry, found in labels.items()
    }
    return Readings(metric, tuple(by_round), voids, usual)


def _reading(trial: Trial, metric: Metric) -> Reading | str:
    """The reading, or the reason code for its absence."""
    if trial.void is not None:
        return trial.void.code
    if metric.name in trial.voided_figures:
        return trial.voided_figures[metric.name]
    if metric.source == "trial":
        figure = trial.figures.get(metric.name)
        if figure is None or not math.isfinite(figure) or figure < 0:
            return "no-figure"
        return Reading(figure, {})
    cycles: dict[int, float] = {}
    reasons: Counter[str] = Counter()
    for window in trial.windows:
        numerator = window.values.get(metric.numerator or "")
        denominator = window.values.get(metric.denominator or "")
        if window.void is not None:
            reasons[window.void] += 1
        elif not numerator or not denominator or numerator < 0 or denominator < 0:
            reasons["no-figure"] += 1
        else:
            cycles[window.cycle] = metric.scale * numerator / denominator
    if not cycles:
        return reasons.most_common(1)[0][0] if reasons else "no-windows"
    return Reading(float(np.median(list(cycles.values()))), cycles)
