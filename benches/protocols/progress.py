"""How far a bench is, and how long it will still take."""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Progress:
    """Parts with the seconds that each is expected to take; what was slower or faster so far corrects the rest."""

    expected_s: Mapping[str, float]
    began: float = field(default_factory=time.monotonic)
    _done_s: float = 0.0
    _part: str = ""

    def begin(self, part: str) -> None:
        """A part begins; those before it are over."""
        names = list(self.expected_s)
        self._part = part
        self._done_s = sum(self.expected_s[name] for name in names[: names.index(part)])
        self.say(0.0)

    def say(self, share: float) -> None:
        """One line to standard error: ``share`` of the part is done."""
        print(self.line(share, time.monotonic() - self.began), file=sys.stderr, flush=True)

    def line(self, share: float, elapsed_s: float) -> str:
        """``http2: 50 % · all: 31 % · 6 min 10 s left``."""
        total = sum(self.expected_s.values())
        done = self._done_s + share * self.expected_s[self._part]
        pace = elapsed_s / done if done > 0 else 1.0
        left = duration((total - done) * max(pace, 0.5))
        return f"{self._part}: {100 * share:.0f} % · all: {100 * done / total:.0f} % · {left} left"


def duration(seconds: float) -> str:
    """``6 min 10 s``; from ten minutes on whole minutes."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole >= 600 else f"{whole // 60} min {whole % 60} s"
