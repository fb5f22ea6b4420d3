"""A race as one HTML file: no scripts, no network, light and dark, for the eye, the keyboard, the printer, the reader."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from photofinish.report.answer import answers, labels
from photofinish.report.contrast import ContrastTable, contrast_tables, control_line, versus
from photofinish.report.curves import SHARES, curves, percentile_rows
from photofinish.report.facts import flat
from photofinish.report.figures import aligned, duration
from photofinish.report.plot.difference import difference_plot
from photofinish.report.plot.front import front_plot
from photofinish.report.plot.interval import interval_plot
from photofinish.report.plot.latency import latency_plot
from photofinish.report.tables import CellTable, PairRow, cell_tables, facts_line, losses, pair_rows, twin_lines
from photofinish.report.words import STANDINGS, explained
from photofinish.store.records import Race
from photofinish.verdict.model import MetricVerdict, RaceVerdict

CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Latency:
    """Curves of one cell and their table."""

    histogram: str
    plot: Markup
    unit: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, list[str]]]


@dataclass(frozen=True, slots=True)
class Part:
    """One combination of the axes beside the contrast's own."""

    title: str
    tables: Sequence[ContrastTable]
    fronts: Sequence[Markup]
    """A plot a contestant that has one."""


@dataclass(frozen=True, slots=True)
class Section:
    """One cell of the page."""

    table: CellTable
    plot: Markup
    finish: Markup
    """Paired differences of those near the leader; empty if nobody is."""
    latency: Latency | None
    pairs: Sequence[tuple[MetricVerdict, list[PairRow]]]
    figures: Sequence[str]
    """Headline figures of the rows, padded to one decimal point."""


def render(verdict: RaceVerdict, race: Race | None = None) -> str:
    """The page.

    Args:
        verdict: what the race came to.
        race: its rounds, for the latency curves; without them the page has none.
    """
    sections = [_section(verdict, race, table, place) for place, table in enumerate(cell_tables(verdict))]
    standings = dict.fromkeys(row.standing for section in sections for row in section.table.rows)
    codes = dict.fromkeys(label for section in sections for row in section.table.rows for label in row.labels)
    page = _environment().get_template("race.html.j2")
    return page.render(
        race=verdict,
        policy=CONTENT_SECURITY_POLICY,
        style=Markup(_template("race.css")),  # noqa: S704 - our own file
        answers=answers(verdict) if verdict.contrast is None else (),
        axis=verdict.contrast.axis if verdict.contrast is not None else "",
        parts=_parts(verdict),
        versus=versus(verdict) if verdict.contrast is not None else (),
        sections=sections,
        twins=twin_lines(verdict) if verdict.contrast is None else [control_line(verdict)],
        losses=losses(verdict),
        facts=facts_line(verdict),
        took=duration(verdict.duration_s),
        names=labels(verdict),
        environment=flat(verdict.environment),
        standings=[(word, STANDINGS.get(word, word)) for word in standings],
        codes=[(code, explained(code)) for code in codes],
    )


def _parts(verdict: RaceVerdict) -> list[Part]:
    if verdict.contrast is None:
        return []
    by_title: dict[str, list[ContrastTable]] = {}
    for table in contrast_tables(verdict):
        by_title.setdefault(table.title, []).append(table)
    plots: dict[str, list[Markup]] = {title: [] for title in by_title}
    for place, group in enumerate(verdict.contrast.groups):
        title = next((title for title in by_title if group.title.endswith(title)), None)
        drawn = front_plot(group, verdict.contrast.front_of, f"front-{place}")
        if title is not None and drawn:
            plots[title].append(drawn)
    return [Part(title, tables, plots[title]) for title, tables in by_title.items()]


def _section(verdict: RaceVerdict, race: Race | None, table: CellTable, place: int) -> Section:
    cell = next(one for one in verdict.cells if one.cell == table.cell)
    pairs = [(metric, rows) for metric in cell.metrics if (rows := pair_rows(verdict, metric))]
    latency = None if race is None else _latency(verdict, race, table, place)
    figures = aligned([row.headline.text for row in table.rows], proportional=True)
    return Section(
        table,
        interval_plot(table, f"figures-{place}"),
        difference_plot(table, f"finish-{place}"),
        latency,
        pairs,
        figures,
    )


def _latency(verdict: RaceVerdict, race: Race, table: CellTable, place: int) -> Latency | None:
    histogram, drawn = curves(race, table.cell, labels(verdict))
    if not drawn:
        return None
    unit, rows = percentile_rows(drawn)
    heads = ("requests", *(f"{share * 100:g} %" for share in SHARES), "worst")
    plot = latency_plot(drawn, f"{table.title}: {histogram.removesuffix('_ns')} time", f"latency-{place}")
    return Latency(histogram.removesuffix("_ns").replace("_", " "), plot, unit, heads, rows)


def _template(name: str) -> str:
    return (resources.files("photofinish.report") / "templates" / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
