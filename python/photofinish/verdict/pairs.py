"""The pairs and the twins of one metric on one cell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from photofinish.contest.plan import Plan
from photofinish.verdict.bootstrap import bca_interval
from photofinish.verdict.effects import Effect, Floats, effect
from photofinish.verdict.equivalence import outcome
from photofinish.verdict.floor import rejected
from photofinish.verdict.model import Outcome, PairVerdict, TwinVerdict
from photofinish.verdict.multiplicity import holm
from photofinish.verdict.power import minimum_detectable_effect
from photofinish.verdict.readings import Readings


@dataclass(frozen=True, slots=True)
class Rules:
    """What all pairs of one metric and cell are decided by."""

    alpha: float
    """Of the whole race."""
    share: float
    """Of α, at this look; 0: nothing may be decided yet."""
    base: float
    delta: float
    noise_limited: bool
    seed: int

    @property
    def level(self) -> float:
        """α of this look."""
        return self.alpha * self.share


@dataclass(frozen=True, slots=True)
class Compared:
    """A pair and its log ratios."""

    a: str
    b: str
    differences: Floats | None
    effect: Effect | None


def compared(readings: Readings, a: str, b: str, level: float) -> Compared:
    """The effect of b over a, None without a round in which both count."""
    differences = readings.effects(a, b)
    if differences is None or len(differences) == 0:
        return Compared(a, b, differences, None)
    return Compared(a, b, differences, effect(differences, level))


def twins_of(plan: Plan) -> list[tuple[str, str]]:
    """First and second entry of each twin in the race."""
    entered = {entry.id for entry in plan.entries}
    return [(e.twin_of, e.id) for e in plan.entries if e.twin_of is not None and e.twin_of in entered]


def twin_verdict(cell: str, metric: str, twin: Compared, rules: Rules) -> TwinVerdict:
    """The A/A control of one metric on one cell."""
    found = twin.effect
    return TwinVerdict(
        cell=cell,
        metric=metric,
        a=twin.a,
        b=twin.b,
        ratio=_ratio(found.estimate if found else None),
        low=_ratio(found.low if found else None),
        high=_ratio(found.high if found else None),
        p=found.p if found else None,
        rejected=found is not None and rejected(found, rules.level, rules.base),
        spread=found.spread if found else None,
    )


def pair_verdicts(
    readings: Readings, pairs: Sequence[tuple[str, str]], rules: Rules, *, bootstrap: bool
) -> tuple[PairVerdict, ...]:
    """All pairs of judged entries, with Holm over those that have data."""
    found = [compared(readings, a, b, rules.level) for a, b in pairs]
    with_data = [pair for pair in found if pair.effect is not None]
    adjusted = iter(holm([pair.effect.p for pair in with_data if pair.effect is not None]))
    return tuple(
        _verdict(
            readings,
            pair,
            next(adjusted) if pair.effect is not None else 1.0,
            len(with_data),
            rules,
            bootstrap=bootstrap,
        )
        for pair in found
    )


def _verdict(
    readings: Readings, pair: Compared, holm_p: float, pairs: int, rules: Rules, *, bootstrap: bool
) -> PairVerdict:
    found = pair.effect
    if found is None or pair.differences is None:
        return PairVerdict(
            a=pair.a, b=pair.b, ratio=None, low=None, high=None, p=None, p_adjusted=None,
            minimum_detectable_effect=None, rounds=0, outcome="no-data",
        )  # fmt: skip
    p_adjusted = min(1.0, holm_p / rules.share) if rules.share > 0 else 1.0
    result: Outcome = outcome(
        found,
        p_adjusted,
        alpha=rules.alpha,
        base=rules.base,
        delta=rules.delta,
        better=readings.metric.better,
        noise_limited=rules.noise_limited,
    )
    detectable = None
    if found.spread is not None and rules.level > 0:
        detectable = minimum_detectable_effect(
            found.spread, found.rounds, delta=rules.delta, pairs=pairs, alpha=rules.level
        )
    resampled = bca_interval(pair.differences, rules.level, rules.seed) if bootstrap and rules.level > 0 else None
    return PairVerdict(
        a=pair.a,
        b=pair.b,
        ratio=_ratio(found.estimate),
        low=_ratio(found.low),
        high=_ratio(found.high),
        p=found.p,
        p_adjusted=p_adjusted,
        minimum_detectable_effect=detectable,
        rounds=found.rounds,
        bootstrap_low=_ratio(resampled[0] if resampled else None),
        bootstrap_high=_ratio(resampled[1] if resampled else None),
        outcome=result,
    )


def _ratio(log_ratio: float | None) -> float | None:
    return None if log_ratio is None else math.exp(log_ratio)


def top_set(entries: Sequence[str], pairs: Sequence[PairVerdict], with_data: set[str]) -> tuple[str, ...]:
    """Judged entries with data that no other entry beats."""
    beaten = {pair.b for pair in pairs if pair.outcome == "a-wins"} | {
        pair.a for pair in pairs if pair.outcome == "b-wins"
    }
    return tuple(entry for entry in entries if entry in with_data and entry not in beaten)
