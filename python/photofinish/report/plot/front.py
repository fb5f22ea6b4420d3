"""The front of two metrics: every value a point, less of both being better; those on the front are joined."""

from dataclasses import dataclass

from markupsafe import Markup

from photofinish.report.figures import column_scale
from photofinish.report.plot.axis import Axis, axis_for, tick_text
from photofinish.report.plot.svg import Drawing
from photofinish.verdict.model import ContrastGroup, MetricVerdict

_WIDTH, _HEIGHT = 960.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 92.0, 860.0, 24.0, 320.0


@dataclass(frozen=True, slots=True)
class _Point:
    value: str
    across: float
    up: float
    is_on_front: bool


def front_plot(group: ContrastGroup, front_of: tuple[str, str] | None, name: str) -> Markup:
    """The second metric across, the first one up; empty where fewer than three values have both figures."""
    metrics = {metric.metric: metric for metric in group.metrics}
    if front_of is None or any(metric not in metrics for metric in front_of):
        return Markup()
    up, across = (metrics[metric] for metric in front_of)
    points = _points(group, across, up)
    if len(points) < 3:
        return Markup()
    x, y = axis_for([p.across for p in points], _LEFT, _RIGHT), axis_for([p.up for p in points], _BOTTOM, _TOP)
    front = sorted((point for point in points if point.is_on_front), key=lambda point: point.across)
    told = ", ".join(point.value for point in front)
    title = f"{group.title}: {up.title} against {across.title}"
    drawing = Drawing(_WIDTH, _HEIGHT, title, f"On the front: {told}.", name)
    _grid(drawing, x, y, (_label(across), _label(up)))
    if len(front) > 1:
        drawing.path([(x.place(p.across), y.place(p.up)) for p in front], "curve c0", f"front: {told}")
    for point in points:
        style = "s-win" if point.is_on_front else "s-beaten"
        here = x.place(point.across), y.place(point.up)
        drawing.dot(*here, 4.5, f"dot {style}", f"{point.value}: {_told(across, point.across)}, {_told(up, point.up)}")
        drawing.text(here[0] + 8, here[1] - 6, point.value, f"name {style}")
    return drawing.markup()


def _points(group: ContrastGroup, across: MetricVerdict, up: MetricVerdict) -> list[_Point]:
    along = {estimate.entry: estimate.value for estimate in across.estimates}
    return [
        _Point(estimate.entry, wide, estimate.value, estimate.entry in group.front)
        for estimate in up.estimates
        if "~" not in estimate.entry and estimate.value is not None and (wide := along.get(estimate.entry)) is not None
    ]


def _grid(drawing: Drawing, x: Axis, y: Axis, labels: tuple[str, str]) -> None:
    for tick in x.ticks():
        drawing.line(x.place(tick), _TOP, x.place(tick), _BOTTOM, "grid")
        drawing.text(x.place(tick), _BOTTOM + 17, tick_text(tick), "tick", "middle")
    for tick in y.ticks():
        drawing.line(_LEFT, y.place(tick), _RIGHT, y.place(tick), "grid")
        drawing.text(_LEFT - 8, y.place(tick) + 4, tick_text(tick), "tick", "end")
    drawing.text((_LEFT + _RIGHT) / 2, _BOTTOM + 38, labels[0], "axis", "middle")
    drawing.text(_LEFT, _TOP - 10, labels[1], "axis")


def _label(metric: MetricVerdict) -> str:
    return f"{metric.title}{f', {metric.unit}' if metric.unit else ''}"


def _told(metric: MetricVerdict, value: float) -> str:
    return column_scale(metric.unit, [(value, None, None)], metric.digits).full(value, None, None)
