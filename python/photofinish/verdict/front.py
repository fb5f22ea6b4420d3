"""The Pareto front of two metrics: what is beaten in both by nothing.

A value is off the front if another one is better in one metric and not worse in the other. "Better" in a judged metric is
what its verdict proves, "not worse" is better or a proven tie; in a metric that is not judged, because it does not vary from
round to round (bytes on the wire), the medians decide. A difference that is not proven takes nothing off the front.
"""

from collections.abc import Callable
from typing import Literal

from photofinish.verdict.model import CellVerdict, MetricVerdict

Relation = Literal["better", "equal", "worse", "unknown"]


def pareto_front(cell: CellVerdict, names: tuple[str, str] | None) -> tuple[str, ...]:
    """Entries on the front, in the order of the estimates; empty without the two metrics. Twins are left out."""
    found = {metric.metric: metric for metric in cell.metrics}
    if names is None or any(name not in found for name in names):
        return ()
    first, second = (found[name] for name in names)
    entries = [
        estimate.entry
        for estimate in first.estimates
        if estimate.value is not None and "~" not in estimate.entry and _value(second, estimate.entry) is not None
    ]
    relations = _relation(first), _relation(second)
    return tuple(each for each in entries if not any(_beats(other, each, relations) for other in entries))


def _beats(a: str, b: str, relations: tuple[Callable[[str, str], Relation], Callable[[str, str], Relation]]) -> bool:
    if a == b:
        return False
    seen = {relation(a, b) for relation in relations}
    return "better" in seen and seen <= {"better", "equal"}


def _relation(metric: MetricVerdict) -> Callable[[str, str], Relation]:
    """How the first stands to the second."""
    words: dict[str, tuple[Relation, Relation]] = {
        "a-wins": ("better", "worse"),
        "b-wins": ("worse", "better"),
        "tie": ("equal", "equal"),
    }
    judged = {(pair.a, pair.b): words.get(pair.outcome, ("unknown", "unknown")) for pair in metric.pairs}
    sign = 1 if metric.better == "lower" else -1

    def relation(a: str, b: str) -> Relation:
        if metric.judged:
            return judged[a, b][0] if (a, b) in judged else judged[b, a][1] if (b, a) in judged else "unknown"
        one, other = _value(metric, a), _value(metric, b)
        if one is None or other is None:
            return "unknown"
        return "equal" if one == other else "better" if sign * (one - other) < 0 else "worse"

    return relation


def _value(metric: MetricVerdict, entry: str) -> float | None:
    return next((estimate.value for estimate in metric.estimates if estimate.entry == entry), None)
