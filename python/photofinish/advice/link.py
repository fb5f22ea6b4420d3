"""What a link does to a body: the time from its first byte sent to its last received."""

import math
import re
from dataclasses import dataclass

from photofinish.errors import InputError

# A capital B would be bytes.
_RATE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([kKmMgG]?)(bit|bps|b/s|bit/s)\s*$")
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
INITIAL_WINDOW_BYTES = 14_600
"""Ten segments of 1,460 bytes (RFC 6928)."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of constant rate that belongs to the response alone."""

    bits_per_s: float
    rtt_s: float = 0.0
    """Round trip; 0: the sender never waits for acknowledgements."""

    def seconds(self, size: int) -> float:
        """Time for ``size`` bytes of body.

        max over the two things that hold a sender back would be optimistic, their sum pessimistic where they overlap; TCP's
        slow start (RFC 5681, RFC 6928) waits for a round trip whenever the window of 10, 20, 40 … segments is spent before
        the acknowledgements of its first segment are back:
        t = 8·bytes/rate + Σ max(0, rtt − 8·window/rate) over the windows that are spent before the last one.
        """
        sending = 8 * size / self.bits_per_s
        waiting, window, left = 0.0, INITIAL_WINDOW_BYTES, size - INITIAL_WINDOW_BYTES
        while left > 0 and self.rtt_s > 0:
            waiting += max(0.0, self.rtt_s - 8 * window / self.bits_per_s)
            window *= 2
            left -= window
        return sending + waiting


def link_rate(text: str) -> float:
    """``20mbit``, ``1.5 Gbit/s``, ``256kbit`` → bits a second.

    Raises:
        InputError: it is no rate, or not above 0.
    """
    match = _RATE.match(text)
    rate = float(match[1]) * _FACTORS[match[2].lower()] if match else 0.0
    if not rate or not math.isfinite(rate):
        raise InputError(f"--link: {text!r} is no rate; write it like 20mbit, 1gbit or 256kbit")
    return rate
