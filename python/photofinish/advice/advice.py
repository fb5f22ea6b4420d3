"""From measured rounds to advice: a pure function.

A response's time is the CPU time to encode it, the link's time for its encoded bytes, and the CPU time to decode it; its price is
CPU hours for encoding and gigabytes sent. Each round gives one time and one price a candidate; candidates are compared as
contestants are: Hodges–Lehmann over rounds, the exact Wilcoxon test, Holm over all pairs, ties by the same δ.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from photofinish.advice.link import Link
from photofinish.advice.measuring import Candidate, Measured
from photofinish.contest.suite import Metric
from photofinish.verdict.equivalence import base_delta
from photofinish.verdict.estimates import Median, median_interval
from photofinish.verdict.floor import noise_floor
from photofinish.verdict.model import PairVerdict
from photofinish.verdict.pairs import Rules, compared, pair_verdicts, top_set
from photofinish.verdict.readings import Reading, Readings

IDENTITY = "identity"
ALPHA = 0.05
NS_AN_HOUR = 3.6e12
NEXT_TO_NOTHING = 1e-12
"""Stands for a price of 0, which has no ratio to anything."""
By = Literal["time", "price"]


@dataclass(frozen=True, slots=True)
class Prices:
    """What CPU and traffic cost, in one currency."""

    cpu_hour: float = 0.0
    gigabyte: float = 0.0

    def per_million(self, encode_ns: float, size: int) -> float:
        """Of a million responses."""
        return 1e6 * (self.cpu_hour * encode_ns / NS_AN_HOUR + self.gigabyte * size / 1e9)


@dataclass(frozen=True, slots=True)
class Question:
    """What the advice is for."""

    link: Link
    prices: Prices | None = None
    by: By = "time"
    """What the best one has least of."""


@dataclass(frozen=True, slots=True)
class Option:
    """One candidate with its figures: medians over rounds, with their intervals where they vary."""

    id: str
    coding: str
    level: int | None
    bytes: int
    ratio: float
    """Payload's bytes over encoded bytes."""
    encode_ns: float
    decode_ns: float
    link_ns: float
    time_ns: Median
    price: float | None
    """Of a million responses; None without prices."""
    is_best: bool
    """Nothing beats it."""
    is_screened: bool = False
    """Left behind by the screening: its figures come from there, and it was not compared."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to use, and why."""

    by: By
    options: tuple[Option, ...]
    """Best first."""
    best: tuple[str, ...]
    """Ids that no other beats."""
    choice: str
    """The one to use: the one with the best figure, or what is proven equal to it and has fewer bytes."""
    pairs: tuple[PairVerdict, ...]
    delta: float
    rounds: int


def finalists(screening: Measured, question: Question, most: int) -> list[Candidate]:
    """The candidates with the best figures, best first: the ones that are worth fresh rounds."""
    figures = {each.id: each for each in _options(screening, question)}
    own = [each for each in screening.candidates if each.twin_of is None and each.id in figures]
    return sorted(own, key=lambda each: _figure(figures[each.id], question))[:most]


def advise(measured: Measured, question: Question, screening: Measured | None = None) -> Advice:
    """Compares all candidates and no coding at all.

    Args:
        measured: the rounds that decide.
        question: what for.
        screening: earlier rounds of more candidates; those that are not in ``measured`` are shown, and not compared.
    """
    link, prices, by = question.link, question.prices, question.by
    behind = _options(screening, question) if screening is not None else []
    own = [each for each in measured.candidates if each.twin_of is None]
    twins = [(each.twin_of, each.id) for each in measured.candidates if each.twin_of is not None]
    identity = Candidate(IDENTITY, IDENTITY, 0, measured.payload_bytes, "")
    ids = [IDENTITY, *(each.id for each in own)]
    times = _readings("time", measured, lambda c, e, d: e + d + 1e9 * link.seconds(c.bytes), identity)
    judged = times
    if by == "price" and prices is not None:
        judged = _readings(
            "price", measured, lambda c, e, _: max(NEXT_TO_NOTHING, prices.per_million(e, c.bytes)), identity
        )
    base = base_delta(alternating=True)
    controls = [found for a, b in twins if a and (found := compared(judged, a, b, ALPHA).differences) is not None]
    delta = max(base, noise_floor(controls) or 0.0)
    rules = Rules(ALPHA, 1.0, base, delta, noise_limited=False, seed=0)
    pairs = pair_verdicts(judged, list(combinations(ids, 2)), rules, bootstrap=False)
    best = top_set(ids, pairs, set(ids))
    options = [replace(each, is_best=each.id in best) for each in _options(measured, question)]
    options += [replace(each, is_screened=True) for each in behind if each.id not in ids]
    options.sort(key=lambda one: (_figure(one, question), one.id))
    first = next(one for one in options if one.is_best)
    equal = {first.id} | {pair.b if pair.a == first.id else pair.a for pair in pairs if _ties(pair, first.id)}
    choice = min((one for one in options if one.is_best and one.id in equal), key=lambda one: one.bytes)
    return Advice(by, tuple(options), best, choice.id, pairs, delta, len(measured.rounds))


def _figure(option: Option, question: Question) -> float:
    return option.time_ns.value if question.by == "time" or option.price is None else option.price


def _options(measured: Measured, question: Question) -> list[Option]:
    """Figures of all candidates and of no coding at all."""
    identity = Candidate(IDENTITY, IDENTITY, 0, measured.payload_bytes, "")
    times = _readings("time", measured, lambda c, e, d: e + d + 1e9 * question.link.seconds(c.bytes), identity)
    own = [each for each in measured.candidates if each.twin_of is None]
    return [_option(each, measured, times, question) for each in (identity, *own)]


def _ties(pair: PairVerdict, one: str) -> bool:
    return pair.outcome == "tie" and one in {pair.a, pair.b}


def _readings(
    name: str, measured: Measured, figure: Callable[[Candidate, float, float], float], identity: Candidate
) -> Readings:
    """One figure a round and candidate; no coding at all costs no CPU."""
    metric = Metric(name=name, title=name, unit="", headline=True)
    candidates = [*measured.candidates]
    rounds = tuple(
        {
            IDENTITY: Reading(figure(identity, 0.0, 0.0), {}),
            **{each.id: Reading(figure(each, *one[each.id]), {}) for each in candidates if each.id in one},
        }
        for one in measured.rounds
    )
    ids = [IDENTITY, *(each.id for each in candidates)]
    return Readings(metric, rounds, {each: Counter() for each in ids}, dict.fromkeys(ids, ()))


def _option(candidate: Candidate, measured: Measured, times: Readings, question: Question) -> Option:
    """Its figures; whether it is the best is decided elsewhere."""
    costs = [one[candidate.id] for one in measured.rounds if candidate.id in one]
    encode = median_interval([cost[0] for cost in costs], ALPHA)
    decode = median_interval([cost[1] for cost in costs], ALPHA)
    time = median_interval(times.figures(candidate.id), ALPHA)
    encode_ns = encode.value if encode else 0.0
    return Option(
        id=candidate.id,
        coding=candidate.coding,
        level=None if candidate.id == IDENTITY else candidate.level,
        bytes=candidate.bytes,
        ratio=measured.payload_bytes / candidate.bytes if candidate.bytes else 0.0,
        encode_ns=encode_ns,
        decode_ns=decode.value if decode else 0.0,
        link_ns=1e9 * question.link.seconds(candidate.bytes),
        time_ns=time or Median(0.0, None, None, None, 0),
        price=question.prices.per_million(encode_ns, candidate.bytes) if question.prices else None,
        is_best=False,
    )


def pays_from(advices: Mapping[int, Advice], choice: str) -> int | None:
    """Smallest measured size from which on ``choice`` beats sending the payload as it is, at that size and at all larger ones.

    Args:
        advices: size → advice for so many first bytes of the payload.
        choice: an id that all of them know.
    """
    smallest = None
    for size in sorted(advices, reverse=True):
        if not _beats(advices[size].pairs, choice, IDENTITY):
            break
        smallest = size
    return smallest


def _beats(pairs: Sequence[PairVerdict], one: str, other: str) -> bool:
    return any((pair.a, pair.b, pair.outcome) in {(one, other, "a-wins"), (other, one, "b-wins")} for pair in pairs)
