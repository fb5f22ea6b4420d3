"""Pseudo-random numbers that are the same on every Python: SplitMix64, as in the engine's payload."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
T = TypeVar("T")
TODAY = date(2026, 1, 1)


class Chance:
    """One stream of chance.

    ``random.Random`` promises a stable ``random()`` only, not stable choices: a corpus that is checked byte for byte
    needs its own.
    """

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def word(self) -> int:
        """The next 64 bits (Steele, Lea & Flood, OOPSLA 2014)."""
        self._state = (self._state + GAMMA) & MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return mixed ^ (mixed >> 31)

    def below(self, bound: int) -> int:
        """A number from 0 up to, not including, ``bound``."""
        return (self.word() * bound) >> 64

    def between(self, least: int, most: int) -> int:
        """A number from ``least`` to ``most``, both included."""
        return least + self.below(most - least + 1)

    def often(self, percent: int) -> bool:
        """True in ``percent`` of 100 cases."""
        return self.below(100) < percent

    def one_of(self, choices: Sequence[T]) -> T:
        """Any of them, each as likely."""
        return choices[self.below(len(choices))]

    def weighted(self, choices: Sequence[tuple[int, T]]) -> T:
        """Any of them, by weight."""
        left = self.below(sum(weight for weight, _ in choices))
        for weight, choice in choices:
            if left < weight:
                return choice
            left -= weight
        raise AssertionError("a weight below its own sum")

    def uuid(self) -> str:
        """A UUID of version 4."""
        bits = (self.word() << 64 | self.word()) & ~(0xF << 76) & ~(0x3 << 62) | 0x4 << 76 | 0x2 << 62
        text = f"{bits:032x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def day(self, years_least: int, years_most: int) -> date:
        """A day so many years before the corpus's own today."""
        return TODAY - timedelta(days=self.between(years_least * 365, years_most * 365))
