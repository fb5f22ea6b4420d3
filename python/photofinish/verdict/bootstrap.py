"""Cross-check of an interval: the bias-corrected and accelerated bootstrap over whole rounds.

Efron, Journal of the American Statistical Association 82 (1987) 171–185: with z₀ = Φ⁻¹(share of resampled estimates
below θ̂) and the acceleration a = Σ(θ̄ − θ₍ᵢ₎)³ / (6·(Σ(θ̄ − θ₍ᵢ₎)²)^1.5) of the jackknife, the ends are the quantiles
Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) for z = ±z₁₋α/₂. Rounds are resampled, never windows: the round is the unit. The
bootstrap is too narrow at few rounds and decides nothing; it is shown so that a disagreement can be seen.
"""

import numpy as np

from photofinish.verdict.distributions import NORMAL, upper_quantile
from photofinish.verdict.effects import Floats, hodges_lehmann

RESAMPLES = 999
FEWEST = 5
"""Fewest rounds that are worth resampling."""


def bca_interval(differences: Floats, alpha: float, seed: int) -> tuple[float, float] | None:
    """BCa interval at 1 − alpha of the Hodges–Lehmann estimate; None below ``FEWEST`` rounds.

    The same differences and seed give the same interval.
    """
    d = np.asarray(differences, dtype=np.float64)
    n = len(d)
    if n < FEWEST:
        return None
    random = np.random.default_rng([seed & 0xFFFFFFFFFFFFFFFF, n])
    resampled = np.sort(hodges_lehmann(d[random.integers(0, n, size=(RESAMPLES, n))]))
    estimate = float(hodges_lehmann(d))
    if resampled[0] == resampled[-1]:
        return estimate, estimate
    below = float((resampled < estimate).mean() + 0.5 * (resampled == estimate).mean())
    z0 = NORMAL.inv_cdf(float(np.clip(below, 0.5 / RESAMPLES, 1 - 0.5 / RESAMPLES)))
    left_out = hodges_lehmann(np.stack([np.delete(d, i) for i in range(n)]))
    deviation = left_out.mean() - left_out
    squares = float((deviation**2).sum())
    acceleration = float((deviation**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    ends = []
    for z in (-upper_quantile(alpha / 2), upper_quantile(alpha / 2)):
        shifted = z0 + (z0 + z) / (1 - acceleration * (z0 + z))
        ends.append(float(np.quantile(resampled, NORMAL.cdf(shifted))))
    return min(ends), max(ends)
