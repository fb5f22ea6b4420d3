"""A race as Markdown: for a pull request, a README, an issue."""

from collections.abc import Iterable, Sequence

from photofinish.report.answer import answers
from photofinish.report.contrast import contrast_tables, control_line, versus
from photofinish.report.tables import CellTable, cell_tables, facts_line, losses, twin_lines
from photofinish.verdict.model import RaceVerdict


def render(race: RaceVerdict) -> str:
    """The whole report as GitHub-flavoured Markdown."""
    lines = [f"## {_plain(race.title)}", "", f"_{_plain(race.question)}_", ""]
    lines += _contrast(race)
    for answer in [] if race.contrast is not None else answers(race):
        where = f"{_plain(answer.title)}: " if len(race.cells) > 1 else ""
        note = f" {_plain(answer.note)}" if answer.note else ""
        lines += [f"{where}**{_plain(answer.sentence)}**{note}", ""]
    for cell in [] if race.contrast is not None else cell_tables(race):
        lines += [f"### {_plain(cell.title)}", "", *_cell(cell), ""]
        if cell.aside:
            lines += [_plain(cell.aside), ""]
    twins = twin_lines(race) if race.contrast is None else [control_line(race)]
    lines += [_plain(line) for line in twins] + [""] * bool(twins)
    lost = losses(race)
    if lost:
        rows = [(loss.who, loss.where, loss.count, loss.code, f"{loss.meaning}: {loss.example}") for loss in lost]
        lines += [
            "### What did not count",
            "",
            *table(("what", "where", "how much", "reason", "meaning, example"), rows),
            "",
        ]
    lines.append(f"{_plain(facts_line(race))} · Photofinish {_plain(race.version)}")
    return "\n".join(lines) + "\n"


def _contrast(race: RaceVerdict) -> list[str]:
    """The axis' values first, then the contestants, a line a cell."""
    if race.contrast is None:
        return []
    lines = []
    title = ""
    for each in contrast_tables(race):
        if each.title != title:
            title = each.title
            lines += [f"### {_plain(title)}", ""]
        rows = [(row.value, *row.cells) for row in each.rows]
        right = range(1, 1 + len(each.contestants))
        lines += [
            f"_{_plain(each.metric)}_",
            "",
            *table((race.contrast.axis, *each.contestants), rows, right=right),
            "",
        ]
        lines += [f"- {_plain(line)}" for line in each.told] + [""] * bool(each.told)
    found = versus(race)
    if found:
        lines += [
            "### Between the contestants",
            "",
            *table(("cell", "answer"), [(e.cell, e.sentence) for e in found]),
            "",
        ]
    return lines


def _cell(cell: CellTable) -> list[str]:
    against = (f"against {cell.leader}",) if cell.leader else ()
    others = [f"{column.title}{f', {column.unit}' if column.unit else ''}" for column in cell.columns]
    heads = ("entry", "language", cell.heading, "interval", *against, "of limit", "verdict", *others)
    rows = []
    for row in cell.rows:
        difference = (row.against,) if cell.leader else ()
        verdict = ", ".join([row.standing, *row.labels])
        figures = [figure.text for figure in row.others]
        rows.append(
            (
                row.name,
                row.language,
                row.headline.text,
                row.headline.interval,
                *difference,
                row.share,
                verdict,
                *figures,
            )
        )
    right = {2, 4 + len(against)} | set(range(len(heads) - len(others), len(heads)))
    return table(heads, rows, right=right)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """A Markdown table; ``right``: columns that are aligned to the right."""
    aligned_right = set(right)
    marks = ["---:" if place in aligned_right else "---" for place in range(len(heads))]
    return [_line(heads), _line(marks, escape=False), *(_line(row) for row in rows)]


def _line(cells: Sequence[str], *, escape: bool = True) -> str:
    return f"| {' | '.join(_plain(cell) if escape else cell for cell in cells)} |"


def _plain(text: str) -> str:
    """Text that Markdown leaves alone; a line break would end a table."""
    flat = "".join(sign for sign in " ".join(text.split()) if sign.isprintable() or sign == " ")
    for sign in ("\\", "|", "*", "_", "<", "~~", "`"):
        flat = flat.replace(sign, f"\\{sign}")
    return flat.replace("](", "]\\(")
