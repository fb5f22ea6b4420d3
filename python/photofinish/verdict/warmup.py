"""Is a contestant steady while it is measured? Change points over a series of window costs.

The rule, fixed beforehand:

1. Lone outliers are replaced by the median of their seven neighbours (Hampel's rule at four scaled MADs).
2. The series is split so that Σ(xᵢ − mean of its segment)²/σ² + penalty·(number of changes) is least, by optimal
   partitioning (Jackson et al., IEEE Signal Processing Letters 12 (2005) 105–108; PELT without pruning finds the same).
   σ comes from the median absolute first difference, and is never less than a tenth of the tolerance; the penalty is
   ``PENALTY``·ln n; a segment has at least ``SHORTEST`` windows.
3. A segment equals the last one if their medians differ by at most ``TOLERANCE``; the steady end is the last run of equal
   segments.

Then (after Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017, arXiv:1602.00602): *flat* if the steady
end is the whole series; *no-steady-state* if it is shorter than a quarter of it, or if both dearer and cheaper stretches
come before; *warming-up* if what came before was dearer, *slowing-down* if it was cheaper.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from photofinish.verdict.effects import Floats

PENALTY = 8.0
SHORTEST = 3
TOLERANCE = 0.02
"""Share by which two stretches may differ and still be called equal."""
STEADY_SHARE = 0.25
FEWEST = 4 * SHORTEST
"""Shorter series are not judged."""

Label = Literal["flat", "warming-up", "slowing-down", "no-steady-state", "too-short"]


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What the series of one entry in one round looks like."""

    label: Label
    steady_from: int | None
    """Index of the first window of the steady end; None if there is none."""
    changes: tuple[int, ...]
    """Index of the first window of each segment but the first."""
    levels: tuple[float, ...]
    """Median cost of each segment, in the series' unit."""


def steadiness(series: Sequence[float]) -> Steadiness:
    """Label a series of costs (lower is better), one a window or cycle, in the order of time.

    Raises:
        ValueError: a cost is not finite or not positive; leave out windows that don't count.
    """
    costs = np.asarray(series, dtype=np.float64)
    if not (np.isfinite(costs).all() and (costs > 0).all()):
        raise ValueError("every cost has to be finite and above zero; leave out windows that don't count")
    if len(costs) < FEWEST:
        return Steadiness("too-short", None, (), (float(np.median(costs)),) if len(costs) else ())
    starts = change_points(_without_outliers(np.log(costs)))
    bounds = [0, *starts, len(costs)]
    pieces = list(pairwise(bounds))
    levels = tuple(float(np.median(costs[low:high])) for low, high in pieces)
    gaps = [math.log(level / levels[-1]) for level in levels]
    equal = [abs(gap) <= math.log1p(TOLERANCE) for gap in gaps]
    steady = len(levels) - 1
    while steady > 0 and equal[steady - 1]:
        steady -= 1
    before = [gap for gap, same in zip(gaps, equal, strict=True) if not same]
    label: Label
    if not before:
        label = "flat"
    elif bounds[-1] - bounds[steady] < STEADY_SHARE * len(costs) or min(before) < 0 < max(before):
        label = "no-steady-state"
    else:
        label = "warming-up" if before[0] > 0 else "slowing-down"
    return Steadiness(label, None if label == "no-steady-state" else bounds[steady], tuple(starts), levels)


def change_points(series: Floats) -> list[int]:
    """First indices of all segments but the first, by optimal partitioning; O(n²) time for n values."""
    n = len(series)
    scale = float(np.median(np.abs(np.diff(series)))) / (0.6745 * math.sqrt(2))
    variance = max(scale, math.log1p(TOLERANCE) / 10) ** 2
    penalty = PENALTY * math.log(n)
    sums = np.concatenate(([0.0], np.cumsum(series)))
    squares = np.concatenate(([0.0], np.cumsum(series**2)))
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    previous = np.zeros(n + 1, dtype=np.intp)
    for end in range(SHORTEST, n + 1):
        begins = np.arange(end - SHORTEST + 1)
        within = squares[end] - squares[begins] - (sums[end] - sums[begins]) ** 2 / (end - begins)
        total = best[begins] + within / variance + penalty
        previous[end] = int(np.argmin(total))
        best[end] = total[previous[end]]
    starts: list[int] = []
    at = int(previous[n])
    while at > 0:
        starts.append(at)
        at = int(previous[at])
    return starts[::-1]


def _without_outliers(series: Floats) -> Floats:
    half = 3
    neighbours = np.lib.stride_tricks.sliding_window_view(np.pad(series, half, mode="reflect"), 2 * half + 1)
    middle = np.median(neighbours, axis=1)
    spread = 1.4826 * np.median(np.abs(neighbours - middle[:, None]), axis=1)
    cleaned: Floats = np.where(np.abs(series - middle) > 4 * spread, middle, series)
    return cleaned
