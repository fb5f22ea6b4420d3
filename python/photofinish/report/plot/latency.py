"""Percentile curves from the raw histograms: x is the percentile on a scale of log(1/(1 − q)), y the time on a log scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from photofinish.report.figures import scale_for
from photofinish.report.plot.axis import Axis, tick_text
from photofinish.report.plot.svg import Drawing
from photofinish.store.histogram import Histogram

_WIDTH, _HEIGHT = 960.0, 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 800.0, 16.0, 366.0
_PALETTE = 8
_LABEL_GAP = 15.0
_NEAR = 0.8
"""Points nearer than this to the one before are left out: less than the width of the line."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One entry's records of all rounds that count."""

    name: str
    histogram: Histogram
    is_reference: bool = False


def latency_plot(curves: Sequence[Curve], title: str, name: str) -> Markup:
    """One line an entry, labelled at its end; empty markup without records."""
    drawn = [curve for curve in curves if curve.histogram.total > 0]
    if not drawn:
        return Markup()
    most = max(curve.histogram.total for curve in drawn)
    middles = [curve.histogram.percentile(0.5) for curve in drawn]
    scale = scale_for("ns", [float(value) for value in middles if value is not None])
    lows = [curve.histogram.slots[0].high / scale.factor for curve in drawn]
    highs = [curve.histogram.slots[-1].high / scale.factor for curve in drawn]
    across = Axis(0.0, max(1.0, math.log10(most)), _LEFT, _RIGHT)
    upward = Axis(min(lows) / 1.1, max(highs) * 1.1, _BOTTOM, _TOP, logarithmic=True)
    told = "; ".join(f"{curve.name} median {_time(curve, 0.5)}, 99 % {_time(curve, 0.99)}" for curve in drawn)
    drawing = Drawing(_WIDTH, _HEIGHT, title, f"Percentile curves. {told}.", name)
    _grid(drawing, across, upward, scale.unit)
    ends = []
    for place, curve in enumerate(drawn):
        points = _points(curve.histogram, across, upward, scale.factor)
        style = "curve reference" if curve.is_reference else f"curve c{place % _PALETTE} d{place // _PALETTE % 3}"
        drawing.path(points, style, curve.name)
        ends.append((points[-1][1], place, curve, points[-1][0], style))
    _labels(drawing, ends)
    return drawing.markup()


def _time(curve: Curve, share: float) -> str:
    value = curve.histogram.percentile(share)
    return scale_for("ns", [value]).full(value)


def nines(share: float) -> float:
    """log10(1/(1 − q)): 90 % is 1, 99 % is 2, 99.9 % is 3."""
    return -math.log10(1 - share)


def _points(histogram: Histogram, across: Axis, upward: Axis, factor: float) -> list[tuple[float, float]]:
    """The curve, without its last step: 100 % has no place on this axis."""
    points = [(across.start, upward.place(histogram.slots[0].high / factor))]
    for share, value in histogram.steps()[:-1]:
        here = (across.place(nines(share)), upward.place(value / factor))
        if math.dist(here, points[-1]) >= _NEAR:
            points.append(here)
    return points


def _grid(drawing: Drawing, across: Axis, upward: Axis, unit: str) -> None:
    for place in range(math.floor(across.high) + 1):
        x = across.place(float(place))
        drawing.line(x, _TOP, x, _BOTTOM, "grid")
        share = 100 * (1 - 10.0**-place)
        drawing.text(x, _BOTTOM + 18, f"{share:.{max(0, place - 2)}f} %", "tick", "middle")
    middle = across.place(math.log10(2))
    drawing.line(middle, _TOP, middle, _BOTTOM, "grid")
    drawing.text(middle, _BOTTOM + 18, "50 %", "tick", "middle")
    for tick in upward.ticks():
        y = upward.place(tick)
        drawing.line(_LEFT, y, _RIGHT, y, "grid")
        drawing.text(_LEFT - 8, y + 4, tick_text(tick), "tick", "end")
    drawing.text(
        (_LEFT + _RIGHT) / 2,
        _BOTTOM + 42,
        f"share of requests answered within … {unit} (both axes logarithmic)",
        "axis",
        "middle",
    )
    drawing.text(_LEFT - 8, _TOP - 4, unit, "axis", "end")


def _labels(drawing: Drawing, ends: list[tuple[float, int, Curve, float, str]]) -> None:
    """Names at the ends of their lines, moved apart where they would overlap."""
    ordered = sorted(ends, key=lambda end: (end[0], end[1]))
    places: list[float] = []
    for y, *_ in ordered:
        places.append(max(y, places[-1] + _LABEL_GAP) if places else max(y, _TOP + 4))
    surplus = max(0.0, places[-1] - _BOTTOM)
    for end, moved in zip(ordered, _lifted(places, surplus), strict=True):
        y, _, curve, x, style = end
        drawing.line(x, y, _RIGHT + 14, moved, f"leader {style.partition(' ')[2]}")
        drawing.text(_RIGHT + 18, moved + 4, curve.name, f"label {style.partition(' ')[2]}")


def _lifted(places: list[float], surplus: float) -> list[float]:
    """Moves labels up so that the last stays within the frame, keeping the gaps."""
    lifted = list(places)
    lifted[-1] -= surplus
    for place in range(len(lifted) - 2, -1, -1):
        lifted[place] = min(lifted[place], lifted[place + 1] - _LABEL_GAP)
    return lifted
