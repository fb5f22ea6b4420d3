"""A race as tables of texts: what the terminal, Markdown and HTML show alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from photofinish.report.answer import all_tied, headline, labels, leader, metric_scale, pair_against, ranked
from photofinish.report.figures import MISSING, Scale, percent, probability, ratio_as_percent
from photofinish.report.words import explained
from photofinish.verdict.model import CellVerdict, EntryInfo, Estimate, MetricVerdict, RaceVerdict

MARKS = {
    "win": "●",
    "tie": "●",
    "undecided": "◐",
    "beaten": "○",
    "noise-limited": "≈",
    "limit": "┆",
    "twin": "=",
    "void": "×",
}
"""Standing → mark; the word always stands beside it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one entry."""

    text: str
    interval: str
    reasons: tuple[str, ...] = ()
    """Codes of what took rounds away, ``code ×n``."""


@dataclass(frozen=True, slots=True)
class Column:
    """One metric besides the headline."""

    metric: str
    title: str
    unit: str
    judged: bool
    top: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One entry on one cell."""

    entry: str
    name: str
    language: str
    version: str
    kind: str
    """``contestant``, ``reference`` or ``twin``."""
    standing: str
    mark: str
    headline: Figure
    against: str
    """Difference from the leader, paired, with its interval."""
    share: str
    """Share of the limit."""
    rounds: int
    labels: tuple[str, ...]
    others: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class CellTable:
    """One cell."""

    cell: str
    title: str
    metric: MetricVerdict
    scale: Scale
    leader: str
    """Name of the entry that the others are shown against; empty if there is none."""
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    aside: str
    """Who stands aside, and why, in one sentence; empty if nobody does."""

    @property
    def heading(self) -> str:
        """Title of the headline metric with its unit and its direction."""
        unit = f", {self.scale.unit}" if self.scale.unit else ""
        return f"{self.metric.title}{unit} ({'less' if self.metric.better == 'lower' else 'more'} is better)"


def _aside(cell: CellVerdict, names: Mapping[str, str]) -> str:
    by_reason: dict[str, list[str]] = {}
    for each in cell.aside:
        by_reason.setdefault(each.reason, []).append(names[each.entry])
    told = [f"{', '.join(entries)} ({reason})" for reason, entries in by_reason.items()]
    return f"Not in this cell: {'; '.join(told)}." if told else ""


def cell_tables(race: RaceVerdict) -> list[CellTable]:
    """One table a cell that yields the headline metric, rows best first."""
    return [table for cell in race.cells if (table := _cell_table(race, cell)) is not None]


def _cell_table(race: RaceVerdict, cell: CellVerdict) -> CellTable | None:
    main = headline(cell.metrics)
    if main is None:
        return None
    infos = {entry.entry: entry for entry in race.entries}
    names = labels(race)
    others = [metric for metric in cell.metrics if not metric.headline and _has_something_to_say(metric)]
    scales = {metric.metric: metric_scale(metric) for metric in cell.metrics}
    first = leader(main)
    rows = tuple(
        _row(
            estimate,
            infos[estimate.entry],
            names,
            main,
            first=first,
            others=[(other, scales[other.metric]) for other in others],
        )
        for estimate in _in_order(main, infos)
    )
    columns = tuple(
        Column(other.metric, other.title, scales[other.metric].unit, other.judged, other.top_set) for other in others
    )
    return CellTable(
        cell.cell, cell.title, main, scales[main.metric], names.get(first or "", ""), rows, columns, _aside(cell, names)
    )


def _has_something_to_say(metric: MetricVerdict) -> bool:
    """A column of nothing but figures that no trial yielded is left out; one whose figures were voided is not."""
    return any(one.value is not None or set(one.voids) - {"no-figure"} for one in metric.estimates)


def _in_order(metric: MetricVerdict, infos: Mapping[str, EntryInfo]) -> list[Estimate]:
    """Best first; a twin stands right below its contestant, so that nobody takes it for another one."""
    order = ranked(metric)
    twins = [estimate for estimate in order if infos[estimate.entry].twin_of is not None]
    ordered = [estimate for estimate in order if infos[estimate.entry].twin_of is None]
    for twin in twins:
        place = next((at for at, one in enumerate(ordered) if one.entry == infos[twin.entry].twin_of), len(ordered) - 1)
        ordered.insert(place + 1, twin)
    return ordered


def _row(
    estimate: Estimate,
    info: EntryInfo,
    names: Mapping[str, str],
    main: MetricVerdict,
    *,
    first: str | None,
    others: Sequence[tuple[MetricVerdict, Scale]],
) -> Row:
    standing = standing_of(estimate, info, main)
    pair = pair_against(main, first, estimate.entry) if first is not None else None
    return Row(
        entry=estimate.entry,
        name=names[estimate.entry],
        language=info.language,
        version=info.version,
        kind="reference" if info.is_reference else "twin" if info.twin_of is not None else "contestant",
        standing=standing,
        mark=MARKS.get(standing, " "),
        headline=_figure(estimate, metric_scale(main)),
        against="" if pair is None else ratio_as_percent(pair.ratio, pair.low, pair.high),
        share=percent(estimate.share_of_reference, 0),
        rounds=estimate.rounds,
        labels=estimate.labels,
        others=tuple(_figure(_of(metric, estimate.entry), scale) for metric, scale in others),
    )


def standing_of(estimate: Estimate, info: EntryInfo, metric: MetricVerdict) -> str:
    """The word for an entry's place; see :data:`photofinish.report.words.STANDINGS`."""
    word = "beaten"
    if estimate.value is None:
        word = "void"
    elif info.is_reference:
        word = "limit"
    elif info.twin_of is not None:
        word = "twin"
    elif not metric.judged:
        word = "shown"
    elif metric.noise_limited:
        word = "noise-limited"
    elif estimate.entry in metric.top_set:
        word = "win" if len(metric.top_set) == 1 else "tie" if all_tied(metric) else "undecided"
    return word


def _of(metric: MetricVerdict, entry: str) -> Estimate | None:
    return next((estimate for estimate in metric.estimates if estimate.entry == entry), None)


def _figure(estimate: Estimate | None, scale: Scale) -> Figure:
    if estimate is None:
        return Figure(MISSING, "")
    reasons = tuple(f"{code} ×{count}" for code, count in sorted(estimate.voids.items()))
    values = (estimate.value, estimate.low, estimate.high)
    return Figure(scale.figure(*values), "" if estimate.low == estimate.high else scale.interval(*values), reasons)


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two entries compared on one metric; the one with the better figure stands first."""

    better: str
    other: str
    difference: str
    p_adjusted: str
    detectable: str
    rounds: int
    outcome: str
    is_twin: bool


def pair_rows(race: RaceVerdict, metric: MetricVerdict) -> list[PairRow]:
    """All pairs of a metric, in the order of the entries' figures."""
    names = labels(race)
    order = [estimate.entry for estimate in ranked(metric)]
    rows = []
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            pair = pair_against(metric, one, other)
            if pair is None:
                continue
            rows.append(
                PairRow(
                    better=names[one],
                    other=names[other],
                    difference=ratio_as_percent(pair.ratio, pair.low, pair.high),
                    p_adjusted=probability(pair.p_adjusted),
                    detectable=percent(pair.minimum_detectable_effect),
                    rounds=pair.rounds,
                    outcome=_outcome(pair.outcome, names[one], names[other]),
                    is_twin=pair.is_twin,
                )
            )
    return rows


def _outcome(outcome: str, one: str, other: str) -> str:
    return {"a-wins": f"{one} wins", "b-wins": f"{other} wins", "no-data": "no data"}.get(outcome, outcome)


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that did not count, or did not race."""

    who: str
    where: str
    count: str
    code: str
    meaning: str
    example: str


def losses(race: RaceVerdict) -> list[Loss]:
    """Voids in the verdict's order, then absences."""
    names = labels(race)
    cells = {cell.cell: cell.title for cell in race.cells}
    found = [
        Loss(
            who="whole round" if void.entry is None else names.get(void.entry, void.entry),
            where="all cells" if void.cell is None else cells.get(void.cell, void.cell),
            count=f"{void.count} {'round' if void.count == 1 else 'rounds'}",
            code=void.code,
            meaning=explained(void.code),
            example=void.example,
        )
        for void in race.voids
    ]
    for absence in race.absent:
        code = absence.get("code", "")
        found.append(
            Loss(
                absence.get("contestant", ""), "absent", "whole race", code, explained(code), absence.get("detail", "")
            )
        )
    return found


def twin_lines(race: RaceVerdict) -> list[str]:
    """One sentence a twin on the headline metric: the floor, and whether the control held."""
    names = labels(race)
    floors = {(cell.cell, metric.metric): metric for cell in race.cells for metric in cell.metrics}
    lines = []
    for twin in race.twins:
        metric = floors.get((twin.cell, twin.metric))
        if metric is None or not metric.headline:
            continue
        where = f"{twin.cell}: " if len(race.cells) > 1 else ""
        seen = ratio_as_percent(twin.ratio, twin.low, twin.high)
        held = "the control saw a difference where there is none" if twin.rejected else "the control held"
        lines.append(
            f"{where}noise floor {percent(metric.floor, 2)} ({names.get(twin.a, twin.a)} against its twin: {seen}; {held});"
            f" differences below {percent(metric.delta)} don't count."
        )
    return lines


def facts_line(race: RaceVerdict) -> str:
    """Run, suite, rounds and certainty in one line."""
    rounds = f"{race.rounds_counted} of {race.rounds_planned} rounds count"
    status = "" if race.status == "finished" else f" · {race.status}"
    return f"{race.run} · {race.suite}/{race.profile} · {rounds} · {percent(1 - race.alpha, 0)} intervals · seed {race.seed}{status}"
