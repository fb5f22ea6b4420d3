"""True against measured percentiles of response times in an open loop.

Without a freeze, and with more connections than are ever busy, the true response time of a request is the server's own
delay (its record: from reading the request to writing the last byte) plus the kernel's way there and back, which is what
the measured value may exceed it by.

With a freeze the truth is calculated. The intended time of arrival i is i/rate. It is sent when one of the connections is
free, read at once, or at the end of the freeze if it comes in one, and answered after its delay, or at the end of the
freeze if that is over in one. Delays are those that the server drew, in an order drawn by chance; percentiles are means
over some such orders.
"""

import heapq
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.truth.server import Scripted, load

from photofinish.store.histogram import Histogram, decode, round_half_up

SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999)
MOST_SHARE, MOST_NS = 0.02, 50_000
"""The pass mark: within 2 % or 50 µs, whichever is more."""
ORDERS = 10


@dataclass(frozen=True, slots=True)
class Case:
    """A script, and the load on it."""

    name: str
    script: tuple[str, ...]
    rate: int
    connections: int


CASES = (
    Case("at once", (), 2000, 50),
    Case("constant 2 ms", ("--delay", "const:2ms"), 2000, 100),
    Case("uniform 1–5 ms", ("--delay", "uniform:1ms..5ms"), 2000, 100),
    Case("exponential, mean 2 ms", ("--delay", "exp:2ms"), 2000, 200),
    Case("log-normal, median 3 ms, σ 0.8", ("--delay", "lognormal:3ms,0.8"), 2000, 400),
    Case("99 % 1 ms, 1 % 50 ms", ("--delay", "steps:1ms*0.99,50ms*0.01"), 2000, 200),
    Case("constant 1 ms, freeze of 300 ms, 20 connections", ("--delay", "const:1ms", "--freeze", "1s+300ms"), 2000, 20),
    Case(
        "exponential 2 ms, 50 ms frozen of every 500", ("--delay", "exp:2ms", "--freeze", "every:500ms,50ms"), 2000, 300
    ),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One percentile of one case, in ns."""

    case: Case
    share: float
    true: float
    measured: float

    @property
    def within(self) -> bool:
        """Whether it passes."""
        return abs(self.measured - self.true) <= max(MOST_SHARE * self.true, MOST_NS)


def simulate(
    rate: float, delays: Sequence[float], freezes: Sequence[tuple[float, float]], connections: int
) -> list[float]:
    """Response times, ascending, of one arrival for each delay; all in ns, freezes from the first arrival on."""

    def thaw(at: float) -> float:
        return next((end for begin, end in freezes if begin <= at < end), at)

    free = [0.0] * connections
    responses = []
    for number, delay in enumerate(delays):
        intended = number * 1e9 / rate
        read = thaw(max(intended, heapq.heappop(free)))
        done = thaw(read + delay)
        heapq.heappush(free, done)
        responses.append(done - intended)
    return sorted(responses)


def ranked(values: Sequence[float], share: float) -> float:
    """The value that ``share`` of the ascending ``values`` do not exceed."""
    return values[max(1, min(len(values), round_half_up(share * len(values)))) - 1]


def truths(case: Case, truth: dict[str, Any]) -> list[float]:
    """The true percentiles at ``SHARES``, in ns."""
    if not truth["freezes"]:
        return [float(decode(truth["delay"]["histogram"]).percentile(share) or 0) for share in SHARES]
    delays = expanded(decode(truth["planned"]["histogram"]))
    freezes = [(float(one["from_first_ns"]), float(one["to_first_ns"])) for one in truth["freezes"]]
    chance = random.Random(1)  # noqa: S311 - orders of delays, reproducible on purpose
    runs = []
    for _ in range(ORDERS):
        chance.shuffle(delays)
        responses = simulate(case.rate, delays, freezes, case.connections)
        runs.append([ranked(responses, share) for share in SHARES])
    return [statistics.mean(column) for column in zip(*runs, strict=True)]


def expanded(histogram: Histogram) -> list[float]:
    """Every record of a histogram as the middle of its slot; what is below 1 ns was 0."""
    return [(slot.low + slot.high) / 2 if slot.high > 1 else 0.0 for slot in histogram.slots for _ in range(slot.count)]


def measure(engine: Path, case: Case, seconds: float, seed: int) -> list[Compared]:
    """One run of one case.

    Raises:
        RuntimeError: a request failed or was lost, so that there is nothing to compare.
    """
    with Scripted(engine, *case.script, "--seed", str(seed)) as server:
        report = load(engine, server.url, "--rate", str(case.rate), "-c", str(case.connections), "-d", f"{seconds:g}")
        truth = server.truth()
    requests = report["requests"]
    if not requests["offered"] == requests["accepted"] == truth["responses"]:
        raise RuntimeError(f"{case.name}: {requests} and {truth['responses']} responses by the server")
    seen = decode(report["latency"]["response"]["histogram"])
    return [
        Compared(case, share, true, float(seen.percentile(share) or 0))
        for share, true in zip(SHARES, truths(case, truth), strict=True)
    ]


def median_of(runs: Sequence[Sequence[Compared]]) -> list[Compared]:
    """Of several runs of one case, each percentile's median truth and median error.

    One pause of the machine in one run, which is neither the server's nor the client's doing, does not decide.
    """
    result = []
    for column in zip(*runs, strict=True):
        true = statistics.median(one.true for one in column)
        error = statistics.median(one.measured - one.true for one in column)
        result.append(Compared(column[0].case, column[0].share, true, true + error))
    return result


def rows(results: Sequence[Sequence[Compared]]) -> list[list[str]]:
    """One row a case: true → measured (and what passed) for each percentile."""
    lines = []
    for compared in results:
        cells = [f"{show(one.true)} → {show(one.measured)}{'' if one.within else ' **beyond**'}" for one in compared]
        lines.append([compared[0].case.name, *cells])
    return lines


def show(nanos: float) -> str:
    """A time with its unit, four digits."""
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if nanos >= scale:
            return f"{nanos / scale:.4g} {unit}"
    return f"{nanos:.0f} ns"
