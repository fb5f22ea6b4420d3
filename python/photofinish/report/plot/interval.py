"""Dot-and-interval plot of one metric on one cell: one row an entry, best first, its figure beside it."""

from markupsafe import Markup

from photofinish.report.plot.axis import Axis, axis_for, tick_text
from photofinish.report.plot.svg import Drawing
from photofinish.report.tables import CellTable, Row
from photofinish.verdict.model import Estimate

_WIDTH = 960.0
_LEFT, _RIGHT = 168.0, 676.0
_ROW = 30.0
_TOP = 34.0
_CAPS_FROM = 14.0
"""Narrower intervals hide behind their dot; caps would only smudge it."""
_FIGURES, _DIFFERENCES = 816.0, 956.0


def interval_plot(table: CellTable, name: str) -> Markup:
    """The plot; empty markup if no entry has a figure."""
    estimates = {estimate.entry: estimate for estimate in table.metric.estimates}
    factor = table.scale.factor
    bounds = [
        bound / factor
        for estimate in estimates.values()
        for bound in (estimate.value, estimate.low, estimate.high)
        if bound is not None
    ]
    if not bounds:
        return Markup()
    axis = axis_for(bounds, _LEFT, _RIGHT)
    bottom = _TOP + _ROW * len(table.rows)
    drawing = Drawing(_WIDTH, bottom + 44, f"{table.title}: {table.metric.title}", _description(table), name)
    _grid(drawing, axis, bottom, table, estimates)
    drawing.text(_FIGURES, _TOP - 14, f"{table.scale.unit} [interval]", "head", "end")
    if table.leader:
        drawing.text(_DIFFERENCES, _TOP - 14, f"against {table.leader}", "head", "end")
    stem = axis.place(axis.low) if not axis.logarithmic and axis.low == 0 else _reference_place(table, axis, estimates)
    for place, row in enumerate(table.rows):
        y = _TOP + _ROW * (place + 0.5)
        value = estimates[row.entry].value
        if stem is not None and value is not None and row.kind != "reference":
            drawing.line(stem, y, axis.place(value / factor), y, "stem")
        _row(drawing, axis, y, row, estimate=estimates[row.entry], factor=factor)
    return drawing.markup()


def _reference_place(table: CellTable, axis: Axis, estimates: dict[str, Estimate]) -> float | None:
    """Where stems begin on an axis without zero: at the limit, so that their length is the ratio to it."""
    for row in table.rows:
        value = estimates[row.entry].value
        if row.kind == "reference" and value is not None:
            return axis.place(value / table.scale.factor)
    return None


def _description(table: CellTable) -> str:
    told = [f"{row.name} {row.headline.text} {row.headline.interval}, {row.standing}" for row in table.rows]
    return f"{table.heading}. {'; '.join(told)}."


def _grid(drawing: Drawing, axis: Axis, bottom: float, table: CellTable, estimates: dict[str, Estimate]) -> None:
    last = -1e9
    for tick in axis.ticks():
        x = axis.place(tick)
        drawing.line(x, _TOP - 4, x, bottom, "grid")
        if x - last > 30:
            drawing.text(x, bottom + 17, tick_text(tick), "tick", "middle")
            last = x
    kind = (
        "logarithmic axis" if axis.logarithmic else "axis from zero" if axis.low == 0 else "axis does not start at zero"
    )
    drawing.text((_LEFT + _RIGHT) / 2, bottom + 36, f"{table.heading} · {kind}", "axis", "middle")
    reference = _reference_place(table, axis, estimates)
    if reference is not None:
        drawing.line(reference, _TOP - 4, reference, bottom, "reference")


def _row(drawing: Drawing, axis: Axis, y: float, row: Row, *, estimate: Estimate, factor: float) -> None:
    style = f"s-{row.standing}"
    drawing.line(0, y + _ROW / 2, _WIDTH, y + _ROW / 2, "rule")
    drawing.text(_LEFT - 18, y + 4.5, row.name, f"name {style}", "end")
    drawing.text(
        _LEFT - 12, y + 4.5, row.mark if row.standing in {"win", "tie", "undecided"} else "", f"mark {style}", "start"
    )
    if estimate.value is None:
        drawing.text(_LEFT + 6, y + 4.5, f"{row.standing}: {', '.join(row.headline.reasons) or 'no figures'}", "tick")
        return
    x = axis.place(estimate.value / factor)
    if estimate.low is not None and estimate.high is not None:
        low, high = axis.place(estimate.low / factor), axis.place(estimate.high / factor)
        drawing.line(low, y, high, y, f"whisker {style}")
        for end in (low, high) if high - low > _CAPS_FROM else ():
            drawing.line(end, y - 6.5, end, y + 6.5, f"whisker {style}")
    hint = f"{row.name}: {row.headline.text} {row.headline.interval}, {row.rounds} rounds, {row.standing}"
    drawing.dot(x, y, 4.0, f"dot {style}", hint)
    drawing.text(_FIGURES, y + 4.5, f"{row.headline.text} {row.headline.interval}", f"figure {style}", "end")
    drawing.text(_DIFFERENCES, y + 4.5, row.against.partition(" [")[0], f"figure {style}", "end")
