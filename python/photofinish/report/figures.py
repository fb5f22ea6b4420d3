"""Numbers for people: one rule for scaled units and sensible digits, wherever a figure is shown.

- Durations step ns → µs → ms → s, sizes B → KiB → MiB → GiB; other units stay as they are, with thousands separated.
- One unit a column: that of its median, so that figures can be compared down the column.
- Figures of one magnitude share their decimals within a column.
- As many decimals as show the half-width of the interval with one significant digit, or two if the first is a 1; but
  never more than four significant digits of the figure, and without an interval three. Counts stay whole.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

_LADDERS: tuple[tuple[tuple[str, float], ...], ...] = (
    (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)),
    (("B", 1.0), ("KiB", 1024.0), ("MiB", 1024.0**2), ("GiB", 1024.0**3)),
)
_MOST_DIGITS = 4
_PLAIN_DIGITS = 3
MISSING = "–"
"""Stands wherever there is no figure."""
FIGURE_SPACE = "\u2007"
"""As wide as a digit."""
POINT_SPACE = "\u2008"
"""As wide as a decimal point."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How a column's figures are shown: ``value / factor`` in ``unit``."""

    unit: str
    factor: float
    digits: int | None = None
    """Most decimals; None: no bound. Holds for the metric's own unit only."""
    shared: Mapping[int, int] = field(default_factory=dict)
    """Magnitude (power of ten) → decimals that all figures of that magnitude have in this column."""

    def figure(self, value: float | None, low: float | None = None, high: float | None = None) -> str:
        """The figure alone, without its unit."""
        if value is None:
            return MISSING
        return self._text(value, self.decimals(value, low, high))

    def interval(self, value: float | None, low: float | None, high: float | None) -> str:
        """``[low, high]`` with the decimals of the figure; empty without an interval."""
        if value is None or low is None or high is None:
            return ""
        decimals = self.decimals(value, low, high)
        return f"[{self._text(low, decimals)}, {self._text(high, decimals)}]"

    def full(self, value: float | None, low: float | None = None, high: float | None = None) -> str:
        """Figure, unit and interval in one text: ``7.12 µs [7.09, 7.15]``."""
        if value is None:
            return MISSING
        parts = (self.figure(value, low, high), self.unit, self.interval(value, low, high))
        return " ".join(part for part in parts if part)

    def decimals(self, value: float, low: float | None = None, high: float | None = None) -> int:
        """Places after the point; negative rounds to tens or hundreds."""
        magnitude = self.magnitude(value)
        if magnitude in self.shared:
            return self.shared[magnitude]
        half = abs(high - low) / self.factor / 2 if low is not None and high is not None else 0.0
        if half > 0:
            places = max(min(_places(half), _MOST_DIGITS - 1 - magnitude), -magnitude)
        else:
            places = max(0, _PLAIN_DIGITS - 1 - magnitude)
        return places if self.digits is None else min(places, self.digits)

    def magnitude(self, value: float) -> int:
        """Power of ten of the figure as it is shown."""
        shown = abs(value / self.factor)
        return math.floor(math.log10(shown)) if shown > 0 else 0

    def _text(self, value: float, decimals: int) -> str:
        return number(value / self.factor, decimals)


def _places(half: float) -> int:
    return -math.floor(math.log10(half / 2))


def number(value: float, decimals: int) -> str:
    """A number with thousands separated, rounded to ``decimals`` places (negative: before the point)."""
    rounded = round(value, decimals)
    return f"{rounded + 0.0:,.{max(0, decimals)}f}".replace("-", "\u2212")


def column_scale(
    unit: str, column: Sequence[tuple[float | None, float | None, float | None]], digits: int | None = None
) -> Scale:
    """The scale of a column.

    Args:
        unit: the metric's unit: a duration, a size, or anything else.
        column: figures with the bounds of their intervals, in that unit; None where there is none.
        digits: most decimals to show in the metric's own unit.
    """
    plain = scale_for(unit, [value for value, _, _ in column], digits)
    shared: dict[int, int] = {}
    for value, low, high in column:
        if value is not None:
            places = plain.decimals(value, low, high)
            magnitude = plain.magnitude(value)
            shared[magnitude] = min(places, shared.get(magnitude, places))
    return Scale(plain.unit, plain.factor, plain.digits, shared)


def scale_for(unit: str, values: Iterable[float | None], digits: int | None = None) -> Scale:
    """The scale of some figures, each of which keeps its own decimals."""
    known = [abs(value) for value in values if value]
    for ladder in _LADDERS:
        sizes = dict(ladder)
        if unit not in sizes:
            continue
        own = sizes[unit]
        middle = median(known) * own if known else own
        chosen, size = max((step for step in ladder if step[1] <= middle), key=lambda step: step[1], default=ladder[0])
        return Scale(chosen, size / own, digits if chosen == unit and not digits else None)
    return Scale(unit, 1.0, digits)


def percent(share: float | None, decimals: int = 1, *, signed: bool = False) -> str:
    """``0.045`` → ``4.5 %``; ``signed`` writes the plus."""
    if share is None:
        return MISSING
    text = number(share * 100, decimals)
    zero = not text.strip("0.\u2212")
    text = text.lstrip("\u2212") if zero else text
    return f"{'+' if signed and share > 0 and not zero else ''}{text} %"


def ratio_as_percent(ratio: float | None, low: float | None = None, high: float | None = None) -> str:
    """A ratio with its interval as a difference, ``+4.5 % [+4.1, +4.9]``; from double or half on ``2.48× [2.46, 2.50]``."""
    if ratio is None:
        return MISSING
    spread = abs(high - low) / 2 if low is not None and high is not None else abs(ratio - 1) / 20
    bounds = () if low is None or high is None else (low, high)
    if not 0.5 < ratio < 2:
        decimals = max(0, min(3, _places(spread))) if spread > 0 else 2
        shown = [number(one, decimals) for one in (ratio, *bounds)]
        text = f"{shown[0]}×"
    else:
        decimals = max(0, min(2, _places(spread * 100))) if spread > 0 else 1
        shown = [percent(one - 1, decimals, signed=True) for one in (ratio, *bounds)]
        text = shown[0]
    return text if not bounds else f"{text} [{shown[1].removesuffix(' %')}, {shown[2].removesuffix(' %')}]"


def probability(p: float | None) -> str:
    """Three decimals; below that ``< 0.001``."""
    if p is None:
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def duration(seconds: float | None) -> str:
    """``4 min 5 s``, ``2 h 3 min``, ``12.5 s``."""
    if seconds is None:
        return MISSING
    if seconds < 60:
        return f"{number(seconds, 1)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"


def aligned(figures: Sequence[str], *, proportional: bool = False) -> list[str]:
    """Pads on the right so that right-aligned figures stand on one decimal point.

    Args:
        figures: texts of a column.
        proportional: pad with spaces as wide as digits and points, for type that is not monospaced.
    """
    point, digit = (POINT_SPACE, FIGURE_SPACE) if proportional else (" ", " ")
    tails = [len(text) - text.rfind(".") - 1 if "." in text else -1 for text in figures]
    widest = max(tails, default=-1)
    padded = []
    for text, tail in zip(figures, tails, strict=True):
        missing = point * (tail < 0 <= widest) + digit * (widest - max(tail, 0))
        padded.append(text if text == MISSING or widest < 0 else text + missing)
    return padded
