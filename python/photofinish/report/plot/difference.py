"""The close finish: paired differences from the leader, with the band of differences too small to count."""

from markupsafe import Markup

from photofinish.report.answer import leader, pair_against
from photofinish.report.figures import percent
from photofinish.report.plot.axis import Axis, tick_text
from photofinish.report.plot.svg import Drawing
from photofinish.report.tables import CellTable, Row
from photofinish.verdict.model import PairVerdict

_WIDTH = 960.0
_LEFT, _RIGHT = 168.0, 676.0
_ROW, _TOP = 30.0, 34.0
_DIFFERENCES, _OUTCOMES = 856.0, 956.0
_NEAR = 0.12
"""Share up to which an entry is near enough to the leader to be drawn; the others are plainly apart in the first plot."""
_CAPS_FROM = 14.0


def difference_plot(table: CellTable, name: str) -> Markup:
    """One row an entry near the leader; empty markup where nobody is near."""
    rows = _near(table)
    if not rows:
        return Markup()
    delta = table.metric.delta
    bounds = [bound - 1 for _, pair in rows for bound in (pair.ratio, pair.low, pair.high) if bound is not None]
    margin = (max(*bounds, delta) - min(*bounds, -delta)) * 0.06
    axis = Axis(100 * (min(*bounds, -delta) - margin), 100 * (max(*bounds, delta) + margin), _LEFT, _RIGHT)
    bottom = _TOP + _ROW * len(rows)
    told = "; ".join(f"{row.name} {row.against}, {_outcome(pair, row)}" for row, pair in rows)
    title = f"{table.title}: difference from {table.leader}"
    drawing = Drawing(_WIDTH, bottom + 44, title, f"Paired differences. {told}.", name)
    low, high = axis.place(-100 * delta), axis.place(100 * delta)
    drawing.band(low, _TOP, high - low, bottom - _TOP, "band")
    for tick in axis.ticks():
        x = axis.place(tick)
        drawing.line(x, _TOP, x, bottom, "grid")
        drawing.text(x, bottom + 17, f"{'+' if tick > 0 else ''}{tick_text(tick)} %", "tick", "middle")
    zero = axis.place(0.0)
    drawing.line(zero, _TOP - 8, zero, bottom, "zero")
    drawing.text(zero, _TOP - 14, table.leader, "head", "middle")
    label = f"{table.metric.title}, difference from {table.leader}, paired by round · shaded: too small to count"
    drawing.text((_LEFT + _RIGHT) / 2, bottom + 36, label, "axis", "middle")
    drawing.text(_DIFFERENCES, _TOP - 14, "difference [interval]", "head", "end")
    drawing.text(_OUTCOMES, _TOP - 14, "verdict", "head", "end")
    for place, (row, pair) in enumerate(rows):
        _draw(drawing, axis, _TOP + _ROW * (place + 0.5), row, pair)
    return drawing.markup()


def _near(table: CellTable) -> list[tuple[Row, PairVerdict]]:
    first = leader(table.metric)
    if first is None:
        return []
    pairs = [(row, pair_against(table.metric, first, row.entry)) for row in table.rows if row.entry != first]
    return [
        (row, pair)
        for row, pair in pairs
        if pair is not None and pair.ratio is not None and abs(pair.ratio - 1) <= _NEAR and pair.low and pair.high
    ]


def _outcome(pair: PairVerdict, row: Row) -> str:
    if row.kind == "twin":
        return "twin"
    return {"a-wins": "beaten", "b-wins": "ahead", "no-data": "no data"}.get(pair.outcome, pair.outcome)


def _draw(drawing: Drawing, axis: Axis, y: float, row: Row, pair: PairVerdict) -> None:
    outcome = _outcome(pair, row)
    style = f"s-{outcome}"
    drawing.line(0, y + _ROW / 2, _WIDTH, y + _ROW / 2, "rule")
    drawing.text(_LEFT - 18, y + 4.5, row.name, f"name {style}", "end")
    if pair.ratio is None or pair.low is None or pair.high is None:
        return
    x, low, high = (axis.place(100 * (ratio - 1)) for ratio in (pair.ratio, pair.low, pair.high))
    drawing.line(low, y, high, y, f"whisker {style}")
    for end in (low, high) if high - low > _CAPS_FROM else ():
        drawing.line(end, y - 6.5, end, y + 6.5, f"whisker {style}")
    drawing.dot(
        x,
        y,
        4.0,
        f"dot {style}",
        f"{row.name}: {row.against}, {outcome}; detectable {percent(pair.minimum_detectable_effect)}",
    )
    drawing.text(_DIFFERENCES, y + 4.5, row.against, f"figure {style}", "end")
    drawing.text(_OUTCOMES, y + 4.5, outcome, f"figure {style}", "end")
