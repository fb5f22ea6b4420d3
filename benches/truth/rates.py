"""Rates that were asked for against those that the server saw, and known capacities against what is said of them."""

from dataclasses import dataclass
from pathlib import Path

from benches.truth.percentiles import show
from benches.truth.server import Scripted, load

RATES = (1_000, 10_000, 50_000, 100_000, 150_000)
CAPACITY = 5_000
"""Of the server that serves one request after the other, requests a second."""
OVERLOADS = (4_500, 5_500, 10_000)
QUEUES = (0.5, 0.8, 0.9)
"""Shares of the capacity at which the queue is compared with theory."""


@dataclass(frozen=True, slots=True)
class Rated:
    """One rate."""

    asked: float
    seen: float
    """By the server: requests less one, over the time from the first to the last."""
    bound: str

    @property
    def error(self) -> float:
        """Share by which what was seen differs."""
        return self.seen / self.asked - 1


def rated(engine: Path, rate: int, seconds: float, *script: str) -> Rated:
    """An open loop against a server that answers at once, or as ``script`` says."""
    with Scripted(engine, *script) as server:
        report = load(engine, server.url, "--rate", str(rate), "-c", "200", "-d", f"{seconds:g}", "--timeout", "60s")
        truth = server.truth()
    span = truth["last_response_ns"] - truth["first_request_ns"]
    return Rated(rate, (truth["requests"] - 1) * 1e9 / span, report["verdict"]["bound"])


def rate_rows(engine: Path, seconds: float) -> list[list[str]]:
    """Rates below capacity: asked, seen, error, verdict."""
    results = [rated(engine, rate, seconds) for rate in RATES]
    return [[f"{one.asked:,.0f}", f"{one.seen:,.1f}", f"{one.error:+.4%}", said(one)] for one in results]


def said(one: Rated) -> str:
    """What the report makes of a rate."""
    return "reached" if one.bound == "schedule-bound" else f"not reached: {one.bound}"


def overload_rows(engine: Path, seconds: float) -> list[list[str]]:
    """Rates around a known capacity: asked, true capacity, accepted a second while sending, verdict."""
    lines = []
    for rate in OVERLOADS:
        with Scripted(engine, "--max-rate", str(CAPACITY)) as server:
            report = load(
                engine, server.url, "--rate", str(rate), "-c", "100", "-d", f"{seconds:g}", "--timeout", "60s"
            )
        accepted = report["throughput"]["accepted_per_s"]
        true = min(rate, CAPACITY)
        lines.append(
            [f"{rate:,}", f"{true:,}", f"{accepted:,.1f}", f"{accepted / true - 1:+.3%}", report["verdict"]["bound"]]
        )
    return lines


def queue_rows(engine: Path, seconds: float) -> list[list[str]]:
    """Arrivals by chance at a server with a fixed service time: an M/D/1 queue.

    Its mean response time is S + ρS / 2(1 − ρ) (Pollaczek and Khinchine, for a service time without variance).
    """
    lines = []
    service = 1e9 / CAPACITY
    for share in QUEUES:
        with Scripted(engine, "--max-rate", str(CAPACITY)) as server:
            asked = ["--rate", str(share * CAPACITY), "--arrivals", "poisson", "-c", "500", "-d", f"{seconds:g}"]
            report = load(engine, server.url, *asked)
            truth = server.truth()
        theory = service + share * service / (2 * (1 - share))
        seen, own = report["latency"]["response"]["mean_ns"], truth["delay"]["mean_ns"]
        spread = report["latency"]["response"]["stdev_ns"]
        lines.append([f"{share:.0%}", show(theory), show(own), show(seen), show(spread)])
    return lines
