"""A race for the terminal: the answer first, then one table a cell, then what did not count."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from photofinish.report.answer import answers
from photofinish.report.contrast import UNBEATEN, contrast_tables, control_line, versus
from photofinish.report.figures import aligned
from photofinish.report.tables import CellTable, Loss, Row, cell_tables, facts_line, losses, twin_lines
from photofinish.verdict.model import RaceVerdict

_STYLES = {
    "win": "bold green",
    "tie": "bold green",
    "undecided": "bold yellow",
    "noise-limited": "yellow",
    "void": "red",
}
_QUIET = {"reference": "cyan", "twin": "dim"}
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_COLUMNS_A_TABLE = 4
_WIDE = 100
"""Characters from which the table has room for languages and for the intervals of differences."""


def render(race: RaceVerdict) -> RenderableType:
    """The whole report, to be printed by any Rich console; narrow ones get fewer columns."""
    return Harmless(_Report(race))


@dataclass(frozen=True, slots=True)
class Harmless:
    """Shows control characters as such: texts that contestants sent must not steer anybody's terminal."""

    inner: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self.inner, options):
            if segment.control is None:
                yield Segment(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", segment.text), segment.style)


@dataclass(frozen=True, slots=True)
class _Report:
    race: RaceVerdict

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        race = self.race
        narrow = options.max_width < _WIDE
        yield from (Text(race.question, style="italic"), Text(facts_line(race), style="dim"), Text())
        if race.contrast is not None:
            yield from _contrast(race)
        for answer in [] if race.contrast is not None else answers(race):
            if len(race.cells) > 1:
                yield Text(answer.title, style="dim")
            yield Text(answer.sentence, style="bold" if answer.named else "bold yellow")
            if answer.note:
                yield Text(answer.note)
        for table in [] if race.contrast is not None else cell_tables(race):
            yield from (Text(), _main_table(table, narrow=narrow))
            if table.aside:
                yield Text(table.aside, style="dim")
            yield from _other_tables(table)
        twins = twin_lines(race) if race.contrast is None else [control_line(race)]
        if any(twins):
            yield from (Text(), *(Text(line) for line in twins))
        lost = losses(race)
        if lost:
            yield from (Text(), _loss_table(lost))
        yield from (Text(), Text(_more(race), style="dim"))


def to_text(renderable: RenderableType, *, width: int = 100, color: bool = False) -> str:
    """Renders without a terminal: the same text everywhere."""
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        no_color=not color,
        color_system="truecolor" if color else None,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
        _environ={},
    )
    with console.capture() as captured:
        console.print(renderable)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def plain_table(title: str) -> Table:
    """The look of every table of the laboratory."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        padding=(0, 1),
    )


def _style(row: Row) -> str:
    return _STYLES.get(row.standing) or _QUIET.get(row.kind, "")


def _main_table(cell: CellTable, *, narrow: bool) -> Table:
    table = plain_table(f"{cell.title}\n{cell.heading}")
    table.add_column("entry", overflow="fold")
    if not narrow:
        table.add_column("language")
    table.add_column(cell.scale.unit or "figure", justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    if cell.leader:
        table.add_column(f"against {cell.leader}", no_wrap=not narrow, overflow="fold")
    table.add_column("of limit", justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    figures = aligned([row.headline.text for row in cell.rows])
    for row, figure in zip(cell.rows, figures, strict=True):
        style = _style(row)
        cells = [Text(f"{row.mark} {row.name}", style=style)]
        if not narrow:
            cells.append(Text(row.language))
        cells += [Text(figure, style=style), Text(row.headline.interval)]
        if cell.leader:
            cells.append(Text(row.against.partition(" [")[0] if narrow else row.against))
        cells += [Text(row.share), Text(", ".join([row.standing, *row.labels]), style=style)]
        table.add_row(*cells)
    return table


def _other_tables(cell: CellTable) -> Sequence[RenderableType]:
    """The other metrics, a few columns a table so that 80 characters suffice."""
    made: list[RenderableType] = []
    for start in range(0, len(cell.columns), _COLUMNS_A_TABLE):
        part = range(start, min(start + _COLUMNS_A_TABLE, len(cell.columns)))
        table = plain_table("")
        table.add_column("entry", overflow="fold")
        texts = []
        for place in part:
            column = cell.columns[place]
            unit = f", {column.unit}" if column.unit else ""
            table.add_column(f"{column.title}{unit}", justify="right", overflow="fold")
            texts.append(aligned([row.others[place].text for row in cell.rows]))
        for line, row in enumerate(cell.rows):
            cells = [
                Text(f"{'● ' if row.entry in cell.columns[place].top else ''}{texts[ordinal][line]}", justify="right")
                for ordinal, place in enumerate(part)
            ]
            table.add_row(Text(row.name, style=_style(row)), *cells)
        made += [Text(), table]
    return made


def _contrast(race: RaceVerdict) -> Sequence[RenderableType]:
    """The axis' values first, then the contestants, a line a cell: hundreds of cells would not be read one by one."""
    made: list[RenderableType] = []
    title = ""
    for table in contrast_tables(race):
        if table.title != title:
            title = table.title
            made += [Text(), Text(title, style="bold")]
        drawn = plain_table("")
        drawn.add_column(race.contrast.axis if race.contrast else "", no_wrap=True)
        for name in table.contestants:
            drawn.add_column(name, justify="right", overflow="fold")
        for row in table.rows:
            texts = [Text(text, style="bold green" if text.startswith(UNBEATEN) else "") for text in row.cells]
            drawn.add_row(row.value, *texts)
        made += [Text(), Text(table.metric, style="italic"), drawn, *(Text(line) for line in table.told)]
    lines = versus(race)
    if lines:
        made += [Text(), Text("Between the contestants", style="bold")]
        made += [Text(f"{line.cell}: {line.sentence}", style="" if line.named else "yellow") for line in lines]
    return made


def _loss_table(lost: Sequence[Loss]) -> Table:
    table = plain_table("What did not count")
    for name in ("what", "where", "how much", "reason", "meaning, example"):
        table.add_column(name, overflow="fold")
    for loss in lost:
        example = f"{loss.meaning}: {loss.example}" if loss.example else loss.meaning
        table.add_row(loss.who, loss.where, loss.count, Text(loss.code, style="yellow"), example)
    return table


def _more(race: RaceVerdict) -> str:
    return (
        f"More: photofinish show {race.run} (plan, rounds, environment) · "
        f"photofinish report {race.run} --html FILE (every pair, plot and latency curve)"
    )
