"""Ratios with their intervals, and goals that are held against them. Nothing here measures."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from benches.readme import table

from photofinish.verdict.effects import effect

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure, and its interval at 95 % where there are rounds enough for one."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of_logs(cls, logs: Sequence[float]) -> Self | None:
        """The Hodges–Lehmann estimate of log ratios, one a round, with the exact interval; None without any round."""
        if len(logs) == 0:
            return None
        found = effect(logs, ALPHA)
        if found.low is None or found.high is None:
            return cls(math.exp(found.estimate))
        return cls(math.exp(found.estimate), math.exp(found.low), math.exp(found.high))

    @classmethod
    def of_pairs(cls, figures: Sequence[float], base: Sequence[float]) -> Self | None:
        """How many times ``base`` the figures are, paired by round.

        Raises:
            ValueError: the two aren't of the same rounds.
        """
        return cls.of_logs([math.log(one / other) for one, other in zip(figures, base, strict=True)])

    def __str__(self) -> str:
        ends = "" if self.low is None or self.high is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{ends}"


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound that a figure is to keep to."""

    what: str
    bound: float
    measured: Measured | None
    at_least: bool = False
    """True: the bound is the least, else the most."""
    below: bool = False
    """True: the bound itself misses the goal."""
    digits: int = 2

    @property
    def sign(self) -> str:
        """How the bound is written."""
        return "≥" if self.at_least else "<" if self.below else "≤"

    def keeps(self, value: float) -> bool:
        """Is a value within the bound?"""
        if self.at_least:
            return value >= self.bound
        return value < self.bound if self.below else value <= self.bound

    def outcome(self) -> str:
        """Met or missed by the estimate; an interval that holds the bound is said beside it."""
        if self.measured is None:
            return "not measured"
        found = self.measured
        word = "met" if self.keeps(found.value) else "**missed**"
        if found.low is None or found.high is None or self.keeps(found.low) == self.keeps(found.high):
            return word
        return f"{word}, but the interval holds the bound"


def goals_table(goals: Iterable[Goal]) -> str:
    """Goals, what was measured, and whether they are met."""
    head = ["goal", "bound", "measured [95 % interval]", "outcome"]
    return table(
        head,
        [
            [
                goal.what,
                f"{goal.sign} {goal.bound:,.{goal.digits}f}",
                "–" if goal.measured is None else _shown(goal.measured, goal.digits),
                goal.outcome(),
            ]
            for goal in goals
        ],
    )


def _shown(measured: Measured, digits: int) -> str:
    return str(measured) if digits else f"{measured.value:,.0f}"
