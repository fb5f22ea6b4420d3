"""The three distributions that verdicts need, from the standard library: importing scipy.stats costs half a second."""

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

NORMAL = NormalDist()
"""Standard normal: ``cdf``, ``inv_cdf``."""


def upper_quantile(p: float) -> float:
    """Z with P(Z > z) = p; by symmetry −Φ⁻¹(p), which is exact where 1 − p would round."""
    return -NORMAL.inv_cdf(p)


def upper_tail(z: float) -> float:
    """P(Z > z)."""
    return NORMAL.cdf(-z)


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X ≤ k) for X ~ Binomial(n, p)."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(min(k, n) + 1))


def midranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ranks from 1, ties sharing the mean of theirs; the shape of ``values``, one-dimensional."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
