"""Two races at different times: what improved, what regressed, what can't be said.

Such a comparison is weaker than a race, and says so. Rounds of two races are not paired; the machine, its clock and its
neighbours may have changed in between, and no interval from within the races can know by how much. Where both
races have the suite's reference contestant, each entry is therefore compared as a share of it, round by round in its
own race (a ratio of ratios, in which whatever slows everything alike cancels); else plainly, and the basis is named.
The interval is Hodges and Lehmann's shift of the log figures with the exact Mann–Whitney ends, at 1 − α for
each line; with ``pairs`` lines Bonferroni divides α, so that all lines hold together.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell, Metric
from photofinish.store.records import Race
from photofinish.verdict.effects import Floats
from photofinish.verdict.equivalence import Better, base_delta
from photofinish.verdict.ranksum import shift
from photofinish.verdict.readings import Readings, counted_rounds, metrics_of, read

Change = Literal["improved", "regressed", "unproven", "no-data"]
Basis = Literal["share-of-reference", "figure"]

CAVEAT = (
    "The two races ran at different times and are not paired; a change of the machine that hits contestants "
    "unequally would look like a change of theirs. To settle a line, race both versions against each other."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One entry, cell and metric in two races; ``ratio`` is the later figure over the earlier."""

    entry: str
    cell: str
    metric: str
    title: str
    unit: str
    better: Better
    basis: Basis
    before: float | None
    after: float | None
    """Medians of the plain figures over rounds, in the metric's unit, whatever the basis."""
    ratio: float | None
    low: float | None
    high: float | None
    rounds: tuple[int, int]
    change: Change


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that two races share."""

    before: str
    after: str
    differences: tuple[Difference, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    """Entries that the other race lacks."""
    caveat: str = CAVEAT


@dataclass(frozen=True, slots=True)
class Regression:
    """A proven regression: even the mild end of the interval lies beyond the bound."""

    difference: Difference
    least_worsening: float
    """As a share: 0.03 means at least 3 % worse (dearer, or slower where higher is better)."""


def compare(a: Race, b: Race, *, headline_only: bool = False) -> Comparison:
    """Compare race ``b`` with the earlier race ``a``, over the entries, cells and judged metrics that both have.

    A line is ``improved`` or ``regressed`` if its whole interval lies beyond the suite's smallest difference (1 % where
    windows alternate, else 2 %), ``unproven`` otherwise.
    """
    before, after = a.run.plan, b.run.plan
    ours = {entry.id for entry in before.entries}
    theirs = {entry.id for entry in after.entries}
    lines = [
        (cell, metric, other)
        for cell, metric, other in _shared_metrics(before, after)
        if metric.judged and (metric.headline or not headline_only)
    ]
    entries = [entry.id for entry in before.entries if entry.id in theirs and entry.twin_of is None]
    alpha = after.alpha / max(1, len(lines) * len(entries))
    base = base_delta(alternating=before.suite.alternating and after.suite.alternating)
    differences: list[Difference] = []
    reference = _shared_reference(before, after)
    for cell, metric, other in lines:
        earlier = read(before, counted_rounds(a), cell, metric)
        later = read(after, counted_rounds(b), other, metric)
        differences.extend(
            _difference(cell.id, entry, (earlier, later), reference=reference, alpha=alpha, base=base)
            for entry in entries
        )
    return Comparison(
        before=a.run.id,
        after=b.run.id,
        differences=tuple(differences),
        only_before=tuple(entry.id for entry in before.entries if entry.id not in theirs),
        only_after=tuple(entry.id for entry in after.entries if entry.id not in ours),
    )


def regressions(baseline: Race, run: Race, max_regression: float) -> list[Regression]:
    """Entries whose headline figure is proven to be worse than the baseline's by more than ``max_regression``.

    Proven: the whole interval lies beyond the bound, over all headline lines together at the run's α. References are not
    entries under test and never regress.

    Args:
        baseline: the earlier race.
        run: the later race.
        max_regression: as a share, 0.05 for 5 %.
    """
    references = {entry.id for entry in run.run.plan.entries if entry.is_reference}
    found = []
    for difference in compare(baseline, run, headline_only=True).differences:
        if difference.entry in references or difference.low is None or difference.high is None:
            continue
        mild = difference.low if difference.better == "lower" else 1 / difference.high
        if mild - 1 > max_regression:
            found.append(Regression(difference, mild - 1))
    return found


def _shared_metrics(before: Plan, after: Plan) -> Iterator[tuple[Cell, Metric, Cell]]:
    cells = {cell.id: cell for cell in after.cells}
    for cell in before.cells:
        if cell.id in cells:
            names = {metric.name for metric in metrics_of(after, cells[cell.id])}
            for metric in metrics_of(before, cell):
                if metric.name in names:
                    yield cell, metric, cells[cell.id]


def _shared_reference(before: Plan, after: Plan) -> str | None:
    references = {entry.id for entry in before.entries if entry.is_reference}
    return next((entry.id for entry in after.entries if entry.is_reference and entry.id in references), None)


def _difference(
    cell: str,
    entry: str,
    races: tuple[Readings, Readings],
    *,
    reference: str | None,
    alpha: float,
    base: float,
) -> Difference:
    earlier, later = races
    metric = later.metric
    basis: Basis = "figure"
    samples = _logs(earlier, entry), _logs(later, entry)
    if reference is not None and reference != entry:
        shares = earlier.effects(reference, entry), later.effects(reference, entry)
        if shares[0] is not None and shares[1] is not None and len(shares[0]) and len(shares[1]):
            basis, samples = "share-of-reference", (shares[0], shares[1])
    estimate, low, high = (None, None, None)
    if len(samples[0]) and len(samples[1]):
        estimate, low, high = shift(samples[0], samples[1], alpha)
    return Difference(
        entry=entry,
        cell=cell,
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        better=metric.better,
        basis=basis,
        before=_median(earlier.figures(entry)),
        after=_median(later.figures(entry)),
        ratio=None if estimate is None else math.exp(estimate),
        low=None if low is None else math.exp(low),
        high=None if high is None else math.exp(high),
        rounds=(len(samples[0]), len(samples[1])),
        change=_change(estimate, low, high, metric.better, base),
    )


def _change(estimate: float | None, low: float | None, high: float | None, better: Better, base: float) -> Change:
    if estimate is None:
        return "no-data"
    if low is None or high is None or (-math.log1p(base) <= high and low <= math.log1p(base)):
        return "unproven"
    return "improved" if (estimate > 0) == (better == "higher") else "regressed"


def _logs(readings: Readings, entry: str) -> Floats:
    """Log figures, one a round; none at all if one of them is zero, which has no logarithm."""
    figures = np.asarray(readings.figures(entry), dtype=np.float64)
    return np.log(figures) if (figures > 0).all() else np.empty(0)


def _median(figures: list[float]) -> float | None:
    return float(np.median(figures)) if figures else None
