"""From an effect to an outcome: the decision table.

With δ the smallest difference that counts, and all limits on the log scale (a ratio lies inside ±δ if it lies in
[1/(1+δ), 1+δ], so that exchanging a and b exchanges the outcome and changes nothing else):

| Holm p ≤ α | interval at 1 − α    | outcome |
| ---------- | -------------------- | ------- |
| yes        | wholly outside ±δ    | win; ``noise-limited`` if the twins rejected too often |
| yes        | outside ±base only   | noise-limited: it would have won, had the twins' floor not raised δ above its base |
| any        | wholly inside ±δ     | tie |
| any        | anything else        | undecided |

The tie is two one-sided tests (TOST; Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15 (1987) 657–680). The usual
TOST at α looks at the 1 − 2α interval; here it is the same 1 − α interval that is shown and that a win needs, which is a
TOST at α/2: stricter, and every outcome can be read off one interval.
"""

import math
from typing import Literal

from photofinish.verdict.effects import Effect
from photofinish.verdict.model import Outcome

BASE_DELTA_ALTERNATING = 0.01
BASE_DELTA_WHOLE_PROCESSES = 0.02

Better = Literal["lower", "higher"]


def base_delta(*, alternating: bool) -> float:
    """The smallest difference judged before the twins are heard, as a share."""
    return BASE_DELTA_ALTERNATING if alternating else BASE_DELTA_WHOLE_PROCESSES


def outside(effect: Effect, delta: float) -> bool:
    """Whether the whole interval lies beyond +δ or beyond −δ."""
    if effect.low is None or effect.high is None:
        return False
    return effect.low > math.log1p(delta) or effect.high < -math.log1p(delta)


def inside(effect: Effect, delta: float) -> bool:
    """Whether the whole interval lies within ±δ."""
    if effect.low is None or effect.high is None:
        return False
    return -math.log1p(delta) <= effect.low and effect.high <= math.log1p(delta)


def outcome(
    effect: Effect,
    p_adjusted: float,
    *,
    alpha: float,
    base: float,
    delta: float,
    better: Better,
    noise_limited: bool,
) -> Outcome:
    """The decision table above.

    Args:
        effect: of b's figure over a's; its interval is at 1 − ``alpha`` (or stricter).
        p_adjusted: Holm's, over all pairs of the cell and metric.
        alpha: of the race.
        base: smallest difference judged whatever the twins say, as a share.
        delta: ``max(base, floor)``, as a share.
        better: which direction of the figure wins.
        noise_limited: the twins rejected more often than chance allows, so no winner can be named.
    """
    significant = p_adjusted <= alpha
    if significant and outside(effect, delta):
        if noise_limited:
            return "noise-limited"
        b_is_larger = effect.estimate > 0
        return "b-wins" if b_is_larger == (better == "higher") else "a-wins"
    if significant and outside(effect, base):
        return "noise-limited"
    if inside(effect, delta):
        return "tie"
    return "undecided"
