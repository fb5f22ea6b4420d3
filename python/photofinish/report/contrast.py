"""The values of one axis compared, as tables of texts: one table a combination of the other axes, a column a contestant."""

from collections.abc import Sequence
from dataclasses import dataclass

from photofinish.report.answer import answers, headline, joined, labels, sentence
from photofinish.report.figures import MISSING, column_scale, percent
from photofinish.verdict.model import ContrastGroup, ContrastVerdict, Estimate, MetricVerdict, RaceVerdict

UNBEATEN = "●"
ON_FRONT = "◆"


@dataclass(frozen=True, slots=True)
class ContrastRow:
    """One value of the axis."""

    value: str
    cells: tuple[str, ...]
    """One figure a contestant; ``●`` before it: no other value beats it there."""


@dataclass(frozen=True, slots=True)
class ContrastTable:
    """One metric on one combination of the other axes."""

    title: str
    metric: str
    """The metric's title, with its unit and its direction."""
    is_headline: bool
    judged: bool
    contestants: tuple[str, ...]
    rows: tuple[ContrastRow, ...]
    told: tuple[str, ...]
    """Below the headline's table, one sentence a contestant: the answer, and what lies on the front."""


@dataclass(frozen=True, slots=True)
class Versus:
    """What one cell came to between the contestants, in a line."""

    cell: str
    sentence: str
    named: bool


def contrast_tables(race: RaceVerdict) -> list[ContrastTable]:
    """For each combination the headline's table first, then those of the front's metrics and of others that are judged."""
    contrast = race.contrast
    if contrast is None:
        return []
    combined: dict[tuple[str, ...], list[ContrastGroup]] = {}
    for group in contrast.groups:
        combined.setdefault(tuple(group.axes.values()), []).append(group)
    made: list[ContrastTable] = []
    for groups in combined.values():
        first = groups[0]
        title = first.title.removeprefix(f"{_title(race, first.contestant)}, ")
        made += [
            _table(race, contrast, groups, metric, title)
            for metric in first.metrics
            if metric.headline or metric.judged or metric.metric in (contrast.front_of or ())
        ]
    return made


def _title(race: RaceVerdict, entry: str) -> str:
    return next((info.title for info in race.entries if info.entry == entry), entry)


def _table(
    race: RaceVerdict, contrast: ContrastVerdict, groups: Sequence[ContrastGroup], metric: MetricVerdict, title: str
) -> ContrastTable:
    names = labels(race)
    found = {group.contestant: next((m for m in group.metrics if m.metric == metric.metric), None) for group in groups}
    columns = [(entry, of) for entry, of in found.items() if of is not None]
    estimates = {entry: {each.entry: each for each in of.estimates} for entry, of in columns}
    everything = [(e.value, None, None) for by_value in estimates.values() for e in by_value.values()]
    scale = column_scale(metric.unit, everything, metric.digits)

    def cell(entry: str, of: MetricVerdict, value: str) -> str:
        estimate: Estimate | None = estimates[entry].get(value)
        if estimate is None or estimate.value is None:
            return MISSING
        mark = f"{UNBEATEN} " if of.judged and not of.noise_limited and value in of.top_set else ""
        # No interval stands beside it that its digits would have to agree with.
        return mark + scale.figure(estimate.value)

    rows = tuple(
        ContrastRow(value, tuple(cell(entry, of, value) for entry, of in columns))
        for value in contrast.values
        if any(value in of and of[value].value is not None for of in estimates.values())
    )
    unit = f", {scale.unit}" if scale.unit else ""
    heading = f"{metric.title}{unit} ({'less' if metric.better == 'lower' else 'more'} is better)"
    return ContrastTable(
        title=title,
        metric=heading,
        is_headline=metric.headline,
        judged=metric.judged,
        contestants=tuple(names[entry] for entry, _ in columns),
        rows=rows,
        told=tuple(_told(race, contrast, group) for group in groups) if metric.headline else (),
    )


def _told(race: RaceVerdict, contrast: ContrastVerdict, group: ContrastGroup) -> str:
    """The answer for one contestant, and what lies on the front."""
    main = headline(group.metrics)
    values = {value: value for value in contrast.values}
    told = "" if main is None else sentence(main, values, set(values))[0]
    name = labels(race)[group.contestant]
    if group.front and contrast.front_of is not None:
        titles = {metric.metric: metric.title for metric in group.metrics}
        one, other = (titles[metric] for metric in contrast.front_of)
        told += f" Front of {one} against {other}: {joined(group.front)}."
    return f"{name}: {told}"


def versus(race: RaceVerdict) -> list[Versus]:
    """The contestants compared, a line a cell; cells with fewer than two of them say nothing."""
    several = {
        cell.cell
        for cell in race.cells
        if (main := headline(cell.metrics)) is not None
        and sum(one.value is not None for one in main.estimates if one.entry in _judged(race)) > 1
    }
    return [Versus(each.cell, each.sentence, each.named) for each in answers(race) if each.cell in several]


def _judged(race: RaceVerdict) -> set[str]:
    return {entry.entry for entry in race.entries if not entry.is_reference and entry.twin_of is None}


def control_line(race: RaceVerdict) -> str:
    """All twins of the headline metric in one sentence; empty without any."""
    floors = {(cell.cell, metric.metric): metric for cell in race.cells for metric in cell.metrics if metric.headline}
    twins = [twin for twin in race.twins if (twin.cell, twin.metric) in floors and twin.ratio is not None]
    known = sorted(floor for metric in floors.values() if (floor := metric.floor) is not None)
    if not twins or not known:
        return ""
    held = sum(not twin.rejected for twin in twins)
    middle, worst = known[len(known) // 2], known[-1]
    return (
        f"The control held on {held} of {len(twins)} cells; noise floor {percent(middle, 1)} on a middling cell,"
        f" {percent(worst, 1)} on the worst: each cell's own decides which differences count there."
    )
