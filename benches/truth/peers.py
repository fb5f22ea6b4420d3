"""One row for each accuracy bug that load generators are known for: the truth, and what each of them says of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.peers.commands import OURS, Job, Said, run
from benches.truth.percentiles import ranked, show, simulate
from benches.truth.server import CLIENT_CPU, Scripted

Truth = dict[str, Any]
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Row:
    """A script, a load, what is asked of both, and whose bug it shows."""

    what: str
    bug: str
    script: tuple[str, ...]
    job: Job
    true: Callable[[Truth, Said], str]
    """From the server's truth; the generator's own word decides only what can't be the same for all (how many requests
    it made)."""
    said: Callable[[Truth, Said], str]
    lengthy: bool = False
    """Takes minutes; left out of a quick run."""


def percentile(share: str) -> Callable[[Truth, Said], str]:
    """What is said of a percentile."""
    return lambda _truth, said: show(said.percentiles[share]) if share in said.percentiles else NOTHING


def true_percentile(name: str) -> Callable[[Truth, Said], str]:
    """A percentile of the server's own delays."""
    return lambda truth, _said: show(truth["delay"][name])


def accounted(truth: Truth, said: Said) -> str:
    """How many of the requests that the server read are accounted for."""
    return NOTHING if said.accounted is None else f"{said.accounted} of {truth['requests']}"


def rate_error(truth: Truth, _said: Said) -> str:
    """By how much the rate that the server saw differs from the one asked for."""
    span = truth["last_response_ns"] - truth["first_request_ns"]
    return f"{(truth['requests'] - 1) * 1e9 / span / RATE - 1:+.3%}"


def frozen_p99(truth: Truth, _said: Said) -> str:
    """The 99th percentile from intended times, calculated."""
    freezes = [(float(one["from_first_ns"]), float(one["to_first_ns"])) for one in truth["freezes"]]
    count = int(FREEZE.rate * FREEZE.seconds) if FREEZE.rate else 0
    responses = simulate(FREEZE.rate or 1, [1e6] * count, freezes, FREEZE.connections)
    return show(ranked(responses, 0.99))


def mean_rate_error(truth: Truth, said: Said) -> str:
    """By how much the mean rate that is said differs from responses over time, by the server."""
    span = truth["last_response_ns"] - truth["first_request_ns"]
    return NOTHING if said.rate is None else f"{said.rate * span / truth['responses'] / 1e9 - 1:+.1%}"


def memory(_truth: Truth, said: Said) -> str:
    """Most memory, and for how many requests."""
    return f"{said.most_rss_kib / 1024:.0f} MiB, {(said.accounted or 0) / 1e3:,.0f}k requests"


def successes(truth: Truth, said: Said) -> str:
    """Responses counted as done well, of those that were."""
    good = truth["requests"] - truth["faults"].get("wrong-status", 0)
    return NOTHING if said.requests is None else f"{said.requests / good:.3f}"


def samples(_truth: Truth, said: Said) -> str:
    """Values in the distribution, of the requests accounted for."""
    return NOTHING if said.samples is None else f"{said.samples:,} of {said.accounted or 0:,}"


def first_byte(_truth: Truth, said: Said) -> str:
    """The time to the first byte that is said."""
    return NOTHING if said.first_byte is None else show(said.first_byte)


def load(connections: int, seconds: float, rate: float | None = None, requests: int | None = None) -> Job:
    """A job whose URL is filled in when the server is up."""
    return Job("", connections, seconds, rate, requests)


RATE = 4_000
FREEZE = load(10, 4, rate=1_000)

ROWS = (
    Row(
        "90th percentile, 2 % of responses slow (100 ms instead of 1)",
        "wrk: invented samples",
        ("--delay", "steps:1ms*0.98,100ms*0.02"),
        load(10, 4),
        true_percentile("p90_ns"),
        percentile("90"),
    ),
    Row(
        "requests accounted for, of those that the server read; each takes 300 ms, 2 s of load",
        "wrk: loses those in flight; oha: loses those that the deadline aborts",
        ("--delay", "const:300ms"),
        load(20, 2),
        lambda _truth, _said: "all",
        accounted,
    ),
    Row(
        "median at 500 requests/s, each takes 300 µs",
        "wrk2: whole milliseconds",
        ("--delay", "const:300us"),
        load(10, 3, rate=500),
        true_percentile("p50_ns"),
        percentile("50"),
    ),
    Row(
        f"rate seen by the server, {RATE:,} requests/s asked for",
        "wrk2: misses its rate",
        ("--delay", "const:500us"),
        load(20, 4, rate=RATE),
        lambda _truth, _said: "±0 %",
        rate_error,
    ),
    Row(
        "memory after 6 s at full rate",
        "oha, k6: keep every request",
        (),
        load(50, 6),
        lambda _truth, _said: "constant",
        memory,
    ),
    Row(
        "99th percentile at 1,000 requests/s, 10 connections, 1 s of 4 frozen",
        "oha: its lateness is missing; all closed loops: coordinated omission",
        ("--delay", "const:1ms", "--freeze", "1s+1s"),
        FREEZE,
        frozen_p99,
        percentile("99"),
    ),
    Row(
        "mean rate that is said, by the server's count of responses; 1.5 s of 4 frozen",
        "bombardier: mean of rates of short spans",
        ("--delay", "const:1ms", *("--freeze", "500ms+500ms", "--freeze", "1500ms+500ms", "--freeze", "2500ms+500ms")),
        load(10, 4),
        lambda _truth, _said: "±0 %",
        mean_rate_error,
    ),
    Row(
        "values in the percentiles, of 1.2 million responses (wrk: of as many as 30 s bring)",
        "hey: the first million only",
        (),
        load(50, 30, requests=1_200_000),
        lambda _truth, _said: "all",
        samples,
        lengthy=True,
    ),
    Row(
        "median of a server that answers at once, one connection",
        "autocannon: 0 below 1 ms",
        (),
        load(1, 2),
        lambda _truth, _said: "> 0",
        percentile("50"),
    ),
    Row(
        "successes said over responses that were, every second one a 400",
        "rewrk: 400s are successes",
        ("--delay", "const:1ms", "--fault", "wrong-status:400:1/2"),
        load(10, 2),
        lambda _truth, _said: "1.000",
        successes,
    ),
    Row(
        "time to the first byte, 1 ms; the first request of each connection waits 500 ms",
        "h2load: once a connection",
        ("--delay", "const:1ms", "--freeze", "0s+500ms"),
        load(10, 3),
        lambda truth, _said: show(truth["first_byte"]["p50_ns"]),
        first_byte,
    ),
)


def measure(engine: Path, row: Row, clients: dict[str, Path]) -> list[str]:
    """One row of the table: what, whose bug, the truth, and what each client says. A server for each client."""
    cells: list[str] = []
    true = NOTHING
    for name, program in clients.items():
        with Scripted(engine, *row.script) as server:
            job = Job(server.url, row.job.connections, row.job.seconds, row.job.rate, row.job.requests)
            if name == "wrk" and job.requests:
                job = Job(server.url, row.job.connections, row.job.seconds)
            said = run(name, program, job, CLIENT_CPU)
            truth = server.truth()
        if said is None:
            cells.append("can't")
            continue
        if name == OURS:
            true = row.true(truth, said)
        cells.append(row.said(truth, said))
    return [row.what, row.bug, true, *cells]
