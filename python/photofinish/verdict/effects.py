"""The effect of one pair: Hodges–Lehmann estimate, exact Wilcoxon signed-rank test and its interval.

With d₁ … dₙ the log ratios of n rounds, the Walsh averages are (dᵢ + dⱼ)/2 for i ≤ j; there are M = n(n+1)/2 of them.

* estimate: θ̂ = median of the Walsh averages
* test of θ = 0: T⁺ = sum of the ranks of |dᵢ| over dᵢ > 0; P(T⁺ = t) = c(t)/2ⁿ, where c(t) counts the subsets of the
  ranks that sum to t. Zeros are dropped and tied |dᵢ| share their mean rank; the counts are then taken over the ranks
  as they are, so the test stays exact given the ties.
* interval: [W₍ₖ₎, W₍M+1−k₎] with k the largest integer for which P(T⁺ ≤ k − 1) ≤ α/2. Below 2^(1−n) ≤ α there is none.

Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3rd ed. (2014), 3.1–3.3; Hodges & Lehmann, Annals of
Mathematical Statistics 34 (1963) 598–611.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from photofinish.verdict.distributions import midranks, upper_quantile, upper_tail

EXACT_UP_TO = 60
"""Largest number of rounds with the exact null distribution; beyond, its normal approximation."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one pair on the log scale: positive means that b's figure is larger than a's."""

    estimate: float
    low: float | None
    high: float | None
    """Interval at 1 − alpha; None where so few rounds can't attain it."""
    p: float
    """Two-sided."""
    rounds: int
    spread: float | None
    """Standard deviation of the log ratios over rounds; None with fewer than two."""


@lru_cache(maxsize=8)
def _upper_triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n)


def walsh_averages(differences: ArrayLike) -> Floats:
    """(dᵢ + dⱼ)/2 for i ≤ j along the last axis: shape (…, n) → (…, n(n+1)/2), unordered."""
    d = np.asarray(differences, dtype=np.float64)
    i, j = _upper_triangle(d.shape[-1])
    averages: Floats = (d[..., i] + d[..., j]) / 2
    return averages


def hodges_lehmann(differences: ArrayLike) -> Floats:
    """Median of the Walsh averages along the last axis: shape (…, n) → (…)."""
    return np.asarray(np.median(walsh_averages(differences), axis=-1), dtype=np.float64)


@lru_cache(maxsize=4096)
def _null_distribution(doubled_ranks: tuple[int, ...]) -> Floats:
    """P(2T⁺ = t) for t = 0 … Σ doubled ranks. Doubling makes mean ranks of ties whole numbers."""
    distribution = np.zeros(sum(doubled_ranks) + 1)
    distribution[0] = 1.0
    for rank in doubled_ranks:
        shifted = np.zeros_like(distribution)
        shifted[rank:] = distribution[:-rank]
        distribution = (distribution + shifted) / 2
    return distribution


def signed_rank_p(differences: ArrayLike) -> float:
    """Two-sided p of Wilcoxon's signed-rank test that the differences are symmetric about zero.

    Exact for up to ``EXACT_UP_TO`` non-zero differences, with or without ties; 1.0 if all are zero.
    """
    d = np.asarray(differences, dtype=np.float64)
    d = d[d != 0]
    n = len(d)
    if n == 0:
        return 1.0
    ranks = midranks(np.abs(d))
    positive = float(ranks[d > 0].sum())
    if n > EXACT_UP_TO:
        mean = n * (n + 1) / 4
        spread = math.sqrt(float((ranks**2).sum()) / 4)
        z = max(abs(positive - mean) - 0.5, 0.0) / spread
        return min(1.0, 2 * upper_tail(z))
    distribution = _null_distribution(tuple(int(rank) for rank in np.sort(np.rint(2 * ranks))))
    observed = round(2 * positive)
    tail = min(float(distribution[: observed + 1].sum()), float(distribution[observed:].sum()))
    return min(1.0, 2 * tail)


@lru_cache(maxsize=4096)
def interval_rank(n: int, alpha: float) -> int:
    """The k of [W₍ₖ₎, W₍M+1−k₎] at 1 − alpha for n rounds; 0 where n rounds can't attain it."""
    if n < 1 or 2.0 ** (1 - n) > alpha:
        return 0
    if n > EXACT_UP_TO:
        z = upper_quantile(alpha / 2)
        return max(1, math.floor(n * (n + 1) / 4 - z * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))
    below = np.cumsum(_null_distribution(tuple(2 * rank for rank in range(1, n + 1)))[::2])
    return int(np.searchsorted(below, alpha / 2 * (1 + 1e-12), side="right"))


def effect(differences: Sequence[float] | Floats, alpha: float) -> Effect:
    """Estimate, interval at 1 − alpha and exact p of at least one log ratio.

    Raises:
        ValueError: there is no difference at all, or one that is not finite.
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or len(d) == 0 or not np.isfinite(d).all():
        raise ValueError("an effect needs at least one round, and a finite log ratio from each")
    walsh = np.sort(walsh_averages(d))
    k = interval_rank(len(d), alpha)
    return Effect(
        estimate=float(np.median(walsh)),
        low=float(walsh[k - 1]) if k else None,
        high=float(walsh[-k]) if k else None,
        p=signed_rank_p(d),
        rounds=len(d),
        spread=float(d.std(ddof=1)) if len(d) > 1 else None,
    )
