"""Two samples that are not paired: Hodges–Lehmann shift with the exact Mann–Whitney interval.

The shift is the median of all m·n differences yⱼ − xᵢ; the interval is [D₍ₖ₎, D₍mn+1−k₎] with k the largest integer for
which P(U ≤ k − 1) ≤ α/2 under the null. Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3rd ed. (2014),
4.2–4.3.
"""

import math
from functools import lru_cache

import numpy as np

from photofinish.verdict.distributions import upper_quantile
from photofinish.verdict.effects import EXACT_UP_TO, Floats


@lru_cache(maxsize=256)
def _null_distribution(m: int, n: int) -> Floats:
    """P(U = u) for u = 0 … m·n: the Gaussian binomial coefficients over their sum, built factor by factor."""
    weights = np.zeros(m * n + 1)
    weights[0] = 1.0
    for i in range(1, m + 1):
        above = weights.copy()
        above[n + i :] -= weights[: len(weights) - n - i] if n + i < len(weights) else 0.0
        for u in range(i, len(above)):
            above[u] += above[u - i]
        weights = above / above.sum()
    return weights


@lru_cache(maxsize=256)
def _interval_rank(m: int, n: int, alpha: float) -> int:
    """The k of the interval; 0 where so few rounds can't attain 1 − alpha."""
    if max(m, n) > EXACT_UP_TO:
        return max(0, math.floor(m * n / 2 - upper_quantile(alpha / 2) * math.sqrt(m * n * (m + n + 1) / 12)))
    below = np.cumsum(_null_distribution(m, n))
    return int(np.searchsorted(below, alpha / 2 * (1 + 1e-12), side="right"))


def shift(x: Floats, y: Floats, alpha: float) -> tuple[float, float | None, float | None]:
    """Estimate and interval at 1 − alpha of how much larger y is than x; ends None where they can't be attained.

    Raises:
        ValueError: one of the samples is empty.
    """
    if len(x) == 0 or len(y) == 0:
        raise ValueError("both samples need at least one round")
    differences = np.sort((np.asarray(y)[:, None] - np.asarray(x)[None, :]).ravel())
    k = _interval_rank(min(len(x), len(y)), max(len(x), len(y)), alpha)
    estimate = float(np.median(differences))
    if k == 0:
        return estimate, None, None
    return estimate, float(differences[k - 1]), float(differences[-k])
