"""The noise floor: what the design reads between two entries of one and the same contestant.

The floor of a metric is the 95th percentile of |ratio − 1| over A/A cells. With at least ``ENOUGH_CELLS`` A/A cells it is
just that. With fewer it is estimated from the rounds: twins are exchangeable, so under the null each round's log ratio
could as well have had the other sign. The 95th percentile of |HL| over the 2ⁿ assignments of signs (all of them up to
2^``ALL_SIGNS``, else ``SOME_SIGNS`` drawn with a fixed seed) is the randomisation estimate of the same percentile; it is as
robust as HL itself, so that one bad round does not set it. The floor is never below an observed |ratio − 1|, so a twin
that is off by a constant amount raises it too. (The outer end of the twins' 95 % interval, the other candidate, reads
about twice the percentile: it adds the estimate's own error to its interval.)

A twin is *rejected* if the race's own rule would name a winner between its two entries: p ≤ α and the interval wholly
outside ±base δ. A sound design does so at a rate of at most α, so more than the 1 − α quantile of Binomial(m, α) marks the
whole race as noise-limited. Differences inside ±δ don't count as rejections, however sure: no verdict rests on them.
"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from photofinish.verdict.distributions import binomial_cdf
from photofinish.verdict.effects import Effect, Floats, hodges_lehmann
from photofinish.verdict.equivalence import outside

ENOUGH_CELLS = 20
ALL_SIGNS = 9
SOME_SIGNS = 512
_PERCENTILE = 0.95
_SEED = 6


def noise_floor(here: Sequence[Floats], everywhere: Sequence[Floats] = ()) -> float | None:
    """Noise floor of one metric on one cell as a share; None if no twin anywhere has two rounds.

    Args:
        here: log ratios over rounds of the twins of this cell and metric, one array a twin.
        everywhere: those of the same metric on all cells; they set the floor if they are ``ENOUGH_CELLS``, or if there are
            none on this cell: then the worst of them does.
    """
    heard = [np.asarray(twin, dtype=np.float64) for twin in here if len(twin) > 1]
    elsewhere = [np.asarray(twin, dtype=np.float64) for twin in everywhere if len(twin) > 1]
    heard = heard or elsewhere
    if not heard:
        return None
    abroad = [_distance(float(hodges_lehmann(twin))) for twin in elsewhere]
    if len(abroad) >= ENOUGH_CELLS:
        return float(np.quantile(abroad, _PERCENTILE))
    observed = [_distance(float(hodges_lehmann(twin))) for twin in heard]
    return max(*observed, *(_distance(_sign_flip_percentile(twin)) for twin in heard))


def rejected(effect: Effect, alpha: float, base: float) -> bool:
    """Whether the design saw a difference that counts where there is none."""
    return effect.p <= alpha and outside(effect, base)


def allowed_rejections(tests: int, alpha: float) -> int:
    """The most rejections among so many A/A tests that chance explains: the 1 − alpha quantile of Binomial(tests, alpha)."""
    allowed = 0
    while 1 - binomial_cdf(allowed, tests, alpha) > alpha * (1 + 1e-9):
        allowed += 1
    return allowed


def _distance(log_ratio: float) -> float:
    return math.expm1(abs(log_ratio))


def _sign_flip_percentile(differences: Floats) -> float:
    n = len(differences)
    if n <= ALL_SIGNS:
        signs = np.array(list(product((1.0, -1.0), repeat=n)))
    else:
        signs = np.random.default_rng(_SEED).choice((1.0, -1.0), size=(SOME_SIGNS, n))
    return float(np.quantile(np.abs(hodges_lehmann(signs * differences)), _PERCENTILE))
