"""Axes: from values to places, and where to put the ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from photofinish.report.figures import number


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear or logarithmic axis from ``low`` at ``start`` to ``high`` at ``end``."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Where a value stands; values beyond the ends stand at the ends."""
        bounded = min(max(value, self.low), self.high)
        low, high, here = (math.log(one) if self.logarithmic else one for one in (self.low, self.high, bounded))
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values within the axis."""
        return _log_ticks(self.low, self.high) if self.logarithmic else _linear_ticks(self.low, self.high)


_LOG_FROM = 8.0
_ZOOM_BELOW = 1.6


def axis_for(values: Sequence[float], start: float, end: float) -> Axis:
    """The axis of a dot plot.

    Logarithmic where the largest is more than eight times the smallest; else from zero, but zoomed in where all lie so
    close together that their intervals would vanish.
    """
    low, high = min(values), max(values)
    if low > 0 and high / low > _LOG_FROM:
        return Axis(low / 1.15, high * 1.15, start, end, logarithmic=True)
    if low > 0 and high / low < _ZOOM_BELOW:
        margin = (high - low) * 0.1 or high * 0.05
        return Axis(low - margin, high + margin, start, end)
    return Axis(min(0.0, low), high * 1.05 or 1.0, start, end)


def tick_text(value: float) -> str:
    """A tick's label: as many decimals as it needs."""
    for decimals in range(7):
        if math.isclose(round(value, decimals), value, rel_tol=1e-9, abs_tol=1e-12):
            return number(value, decimals)
    return f"{value:g}"


def _linear_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if high / low < 1e4 else (1,)
    ticks = [factor * 10.0**decade for decade in decades for factor in factors]
    return [round(tick, 12) for tick in ticks if low <= tick <= high]
