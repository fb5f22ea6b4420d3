"""Two runs side by side, and what a gate says: what improved, what regressed, what can't be said."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from photofinish.report.figures import Scale, percent, ratio_as_percent, scale_for
from photofinish.report.terminal import Harmless, plain_table
from photofinish.verdict.compare import Comparison, Difference, Regression

_STYLES = {"improved": "green", "regressed": "bold red", "unproven": "dim", "no-data": "yellow"}


def comparison(found: Comparison) -> RenderableType:
    """The differences, those that are proven first, and the caveat that belongs to every such comparison."""
    counts = {change: sum(one.change == change for one in found.differences) for change in _STYLES}
    told = f"{counts['improved']} improved, {counts['regressed']} regressed, {counts['unproven']} unproven"
    told += f", {counts['no-data']} without data" if counts["no-data"] else ""
    parts: list[RenderableType] = [Text(f"{found.before} → {found.after}: {told}.", style="bold"), Text()]
    if found.differences:
        parts += [_table(found.differences), Text()]
    for where, entries in (("before", found.only_before), ("after", found.only_after)):
        if entries:
            parts.append(Text(f"Only {where}: {', '.join(entries)}."))
    parts.append(Text(found.caveat, style="dim"))
    return Harmless(Group(*parts))


def comparison_json(found: Comparison) -> dict[str, Any]:
    """``photofinish.comparison/1``."""
    return {"schema": "photofinish.comparison/1"} | asdict(found)


def gate(regressions: Sequence[Regression], *, baseline: str, run: str, max_regression: float) -> RenderableType:
    """The outcome of a gate: passed, or each proven regression beyond the bound."""
    bound = percent(max_regression)
    if not regressions:
        return Text(
            f"passed: in {run} nothing is proven to be more than {bound} worse than in {baseline}.", style="bold green"
        )
    many = "1 figure is" if len(regressions) == 1 else f"{len(regressions)} figures are"
    told = Text(f"failed: in {run} {many} proven to be more than {bound} worse than in {baseline}.", style="bold red")
    lines = [
        Text(f"{one.difference.entry} on {one.difference.cell}: at least {percent(one.least_worsening)} worse")
        for one in regressions
    ]
    return Group(told, *lines, Text(), _table([one.difference for one in regressions]))


def gate_json(regressions: Sequence[Regression], *, baseline: str, run: str, max_regression: float) -> dict[str, Any]:
    """``photofinish.gate/1``."""
    return {
        "schema": "photofinish.gate/1",
        "baseline": baseline,
        "run": run,
        "max_regression": max_regression,
        "passed": not regressions,
        "regressions": [asdict(one) for one in regressions],
    }


def _table(differences: Sequence[Difference]) -> RenderableType:
    table = plain_table("")
    table.add_column("entry", overflow="fold")
    table.add_column("cell", overflow="fold")
    table.add_column("figure", overflow="fold")
    table.add_column("before", justify="right", no_wrap=True)
    table.add_column("after", justify="right", no_wrap=True)
    table.add_column("change [interval]", no_wrap=True)
    table.add_column("verdict")
    order = list(_STYLES)
    ranks = {"regressed": -1} | {change: place for place, change in enumerate(order) if change != "regressed"}
    for one in sorted(differences, key=lambda one: ranks[one.change]):
        scale = _scale(one)
        basis = f"{one.title}, of limit" if one.basis == "share-of-reference" else one.title
        table.add_row(
            Text(one.entry),
            Text(one.cell),
            Text(basis),
            scale.full(one.before),
            scale.full(one.after),
            ratio_as_percent(one.ratio, one.low, one.high),
            Text(one.change, style=_STYLES[one.change]),
        )
    return table


def _scale(one: Difference) -> Scale:
    return scale_for(one.unit, [one.before, one.after])
