"""One entry's figure: the median over rounds with its distribution-free interval, and its share of the limit.

[x₍ₖ₎, x₍n+1−k₎] covers the median with probability 1 − 2·P(Binomial(n, ½) ≤ k − 1), whatever the distribution (David &
Nagaraja, Order Statistics, 3rd ed. (2003), 7.1). k is the largest for which that is at least 1 − α; where even the whole
range covers less, the range is given with what it attains.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from photofinish.verdict.distributions import binomial_cdf
from photofinish.verdict.equivalence import Better


@dataclass(frozen=True, slots=True)
class Median:
    """A median over rounds with its interval, in the unit of the figures."""

    value: float
    low: float | None
    high: float | None
    attained: float | None
    rounds: int


def median_interval(figures: Sequence[float], alpha: float) -> Median | None:
    """Median and interval of one figure a round; None without any, no interval from a single round."""
    ordered = np.sort(np.asarray(figures, dtype=np.float64))
    n = len(ordered)
    if n == 0:
        return None
    value = float(np.median(ordered))
    if n == 1:
        return Median(value, None, None, None, 1)
    k = 1
    while 2 * binomial_cdf(k, n, 0.5) <= alpha and 2 * (k + 1) <= n:
        k += 1
    attained = 1 - 2 * binomial_cdf(k - 1, n, 0.5)
    return Median(value, float(ordered[k - 1]), float(ordered[n - k]), attained, n)


def share_of_reference(value: float | None, reference: float | None, better: Better) -> float | None:
    """How near a figure comes to the limit's: 1.0 is the limit itself, 0.5 costs twice as much."""
    if value is None or reference is None:
        return None
    part, whole = (reference, value) if better == "lower" else (value, reference)
    return part / whole if whole > 0 else None
