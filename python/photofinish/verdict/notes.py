"""One sentence for people under a metric: why there is no single winner, and what would be needed."""

import math
from collections.abc import Sequence

from photofinish.verdict.model import PairVerdict
from photofinish.verdict.pairs import Rules
from photofinish.verdict.power import fewest_rounds, rounds_needed


def note(pairs: Sequence[PairVerdict], spreads: Sequence[float], top: Sequence[str], rules: Rules) -> str | None:
    """The sentence, or None where one entry beats all others or there is nothing to compare.

    Args:
        pairs: of the metric and cell.
        spreads: standard deviation over rounds of the log ratio, one a pair that has it.
        top: the top set.
        rules: by which the pairs were decided.
    """
    with_data = [pair for pair in pairs if pair.outcome != "no-data"]
    if not pairs or (len(top) == 1 and with_data and not rules.noise_limited):
        return None
    if not with_data:
        return "No pair has a round in which both sides count; see the voids."
    if rules.noise_limited:
        return (
            "The twins, two entries of one program, differ more often than chance allows, so no winner is named; "
            "find what disturbs this machine and race again."
        )
    return _open(with_data, spreads, top, rules)


def _open(with_data: Sequence[PairVerdict], spreads: Sequence[float], top: Sequence[str], rules: Rules) -> str:
    """Several entries share the top: say which of tie, too few rounds, floor and spread is the reason."""
    level = rules.level or rules.alpha
    rounds = max(pair.rounds for pair in with_data)
    fewest = fewest_rounds(len(with_data), level)
    among = [pair for pair in with_data if pair.a in top and pair.b in top]
    undecided = sum(pair.outcome == "undecided" for pair in among)
    floored = sum(pair.outcome == "noise-limited" for pair in among)
    if undecided and rounds < fewest:
        return f"With {_rounds(rounds)} no winner can be named among {_pairs(len(with_data))}: it takes {fewest}."
    if floored:
        return (
            f"In {_pairs(floored)} the difference is real but lies within the noise floor of the twins "
            f"(±{_percent(rules.delta)}); a quieter machine or more rounds would lower the floor."
        )
    if not undecided:
        return f"Every pair in the top set is tied: the differences lie within ±{_percent(rules.delta)}."
    verb = "is" if undecided == 1 else "are"
    start = f"{_pairs(undecided).capitalize()} in the top set {verb} undecided after {_rounds(rounds)}"
    needed = rounds_needed(max(spreads, default=0.0), math.log1p(rules.delta), pairs=len(with_data), alpha=level)
    if needed > rounds:
        return f"{start}: at the spread seen, about {needed} rounds would tell {_percent(rules.delta)} from none."
    return f"{start}: the differences lie too near to the smallest that counts; more rounds narrow the intervals."


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count} rounds"


def _pairs(count: int) -> str:
    return "one pair" if count == 1 else f"{count} pairs"
