"""The answer of a race in one sentence a cell: who is the top set, or why nobody can be named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from photofinish.report.figures import Scale, column_scale, percent
from photofinish.verdict.model import Estimate, MetricVerdict, PairVerdict, RaceVerdict


@dataclass(frozen=True, slots=True)
class Answer:
    """What one cell came to."""

    cell: str
    title: str
    sentence: str
    note: str | None
    named: bool
    """False: nobody can be named."""


def answers(race: RaceVerdict) -> list[Answer]:
    """One answer a cell, for the headline metric."""
    names = labels(race)
    judged = {entry.entry for entry in race.entries if not entry.is_reference and entry.twin_of is None}
    found = []
    for cell in race.cells:
        metric = headline(cell.metrics)
        if metric is not None:
            told, named = sentence(metric, names, judged)
            found.append(Answer(cell.cell, cell.title, told, metric.note, named))
    return found


def headline(metrics: Sequence[MetricVerdict]) -> MetricVerdict | None:
    """The metric that decides, if the cell yields it."""
    return next((metric for metric in metrics if metric.headline), None)


def labels(race: RaceVerdict) -> dict[str, str]:
    """Entry → name for people; a title that two contestants share gives way to the id."""
    titles = [entry.title for entry in race.entries if entry.twin_of is None]
    names = {}
    for entry in race.entries:
        name = entry.title if titles.count(entry.title) == 1 else entry.contestant
        names[entry.entry] = f"{name} (twin)" if entry.twin_of is not None else name
    return names


def metric_scale(metric: MetricVerdict) -> Scale:
    """The one scale in which all figures of a metric on a cell are shown."""
    column = [(estimate.value, estimate.low, estimate.high) for estimate in metric.estimates]
    return column_scale(metric.unit, column, metric.digits)


def ranked(metric: MetricVerdict) -> list[Estimate]:
    """Best figure first, those without one last; equal ones by name."""
    sign = 1 if metric.better == "lower" else -1
    return sorted(metric.estimates, key=lambda one: (one.value is None, sign * (one.value or 0.0), one.entry))


def leader(metric: MetricVerdict) -> str | None:
    """Of the top set, the entry with the best figure: what the others are shown against."""
    return next((estimate.entry for estimate in ranked(metric) if estimate.entry in metric.top_set), None)


def pair_against(metric: MetricVerdict, base: str, other: str) -> PairVerdict | None:
    """The verdict on two entries with ``base`` as a: the ratio is other's figure over base's."""
    for pair in metric.pairs:
        if (pair.a, pair.b) == (base, other):
            return pair
        if (pair.a, pair.b) == (other, base):
            return _turned(pair)
    return None


def _turned(pair: PairVerdict) -> PairVerdict:
    turned = {"a-wins": "b-wins", "b-wins": "a-wins"}
    return pair.model_copy(
        update={
            "a": pair.b,
            "b": pair.a,
            "ratio": _inverse(pair.ratio),
            "low": _inverse(pair.high),
            "high": _inverse(pair.low),
            "bootstrap_low": _inverse(pair.bootstrap_high),
            "bootstrap_high": _inverse(pair.bootstrap_low),
            "outcome": turned.get(pair.outcome, pair.outcome),
        }
    )


def _inverse(ratio: float | None) -> float | None:
    return 1 / ratio if ratio else None


def all_tied(metric: MetricVerdict) -> bool:
    """Every pair within the top set is proven equal."""
    among = [pair for pair in metric.pairs if pair.a in metric.top_set and pair.b in metric.top_set]
    expected = len(metric.top_set) * (len(metric.top_set) - 1) // 2
    return len(among) == expected > 0 and all(pair.outcome == "tie" for pair in among)


def joined(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def sentence(metric: MetricVerdict, names: Mapping[str, str], judged: set[str]) -> tuple[str, bool]:
    """The answer on one metric, and whether somebody could be named.

    Args:
        metric: the one that decides.
        names: entry → name for people.
        judged: entries that may win.
    """
    order = [estimate for estimate in ranked(metric) if estimate.value is not None and estimate.entry in judged]
    top = [estimate for estimate in order if estimate.entry in metric.top_set]
    if not order:
        return "Nobody can be named: no entry has figures that count.", False
    if len(order) == 1:
        shown = _shown(metric, order[0])
        return f"{names[order[0].entry]} is the only entry with figures that count: {shown} {metric.title}.", False
    if metric.noise_limited:
        floor = (
            f" (twins of one contestant differ by up to {percent(metric.floor)})" if metric.floor is not None else ""
        )
        return f"Nobody can be named: the race is noise-limited{floor}.", False
    return _top_sentence(metric, names, order, top)


def _top_sentence(
    metric: MetricVerdict, names: Mapping[str, str], order: Sequence[Estimate], top: Sequence[Estimate]
) -> tuple[str, bool]:
    told = joined([names[estimate.entry] for estimate in top]) if top else ""
    if not top:
        return "Nobody can be named: no entry is unbeaten.", False
    if len(top) == 1:
        lead = _lead(metric, names, top[0], order)
        return f"{told} wins with {_shown(metric, top[0])} {metric.title}{lead}.", True
    if all_tied(metric):
        return f"{told} tie at the top: no two of them differ by more than {percent(metric.delta)}.", True
    if len(top) == len(order):
        return f"Nobody can be named: among {told} no difference is proven.", False
    return f"{told} are the top set: nobody beats them, and which of them is ahead is undecided.", True


def _shown(metric: MetricVerdict, estimate: Estimate) -> str:
    return metric_scale(metric).full(estimate.value, estimate.low, estimate.high)


def _lead(metric: MetricVerdict, names: Mapping[str, str], first: Estimate, order: Sequence[Estimate]) -> str:
    """How far the next is behind: the paired effect, not the quotient of two medians."""
    after = next((estimate for estimate in order if estimate.entry != first.entry), None)
    if after is None:
        return ""
    pair = pair_against(metric, after.entry, first.entry)
    if pair is None or pair.ratio is None:
        return ""
    word = "less" if pair.ratio < 1 else "more"
    return f", {percent(abs(pair.ratio - 1))} {word} than {names[after.entry]}, the next"
