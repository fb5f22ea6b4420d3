"""What an engine could have told of a payload: seeded, with a known truth."""

from collections.abc import Mapping

import numpy as np

from photofinish.advice.measuring import Candidate, Measured

TRUTH: Mapping[str, tuple[str, int, int, float, float]] = {
    "gzip-6": ("gzip", 6, 30_000, 2.0e6, 0.4e6),
    "br-4": ("br", 4, 28_000, 1.2e6, 0.5e6),
    "zstd-3": ("zstd", 3, 28_500, 0.4e6, 0.15e6),
    "zstd-19": ("zstd", 19, 24_000, 40.0e6, 0.15e6),
}
"""Id → coding, level, bytes, ns to encode, ns to decode, of 100,000 bytes."""


def measured(*, rounds: int = 14, spread: float = 0.004, size: int = 100_000, seed: int = 2) -> Measured:
    """Costs and bytes in proportion to the size, with 200 bytes and 5 µs on top of each."""
    chance = np.random.default_rng(seed)
    share = size / 100_000
    own = tuple(
        Candidate(each, coding, level, round(200 + bytes_ * share), "library 1.0")
        for each, (coding, level, bytes_, _, _) in TRUTH.items()
    )
    twin = Candidate("br-4~twin", "br", 4, own[1].bytes, "library 1.0", twin_of="br-4")

    def cost(each: str) -> tuple[float, float]:
        _, _, _, encode, decode = TRUTH[each.removesuffix("~twin")]
        noise = np.exp(chance.normal(0, spread, 2))
        return (encode * share + 5_000) * float(noise[0]), (decode * share + 5_000) * float(noise[1])

    made = tuple({each.id: cost(each.id) for each in (*own, twin)} for _ in range(rounds))
    return Measured(size, "0" * 64, (*own, twin), made, {"br-11": "one encoding takes 2.1 s"})
