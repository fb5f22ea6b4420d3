"""Races of the reference server against itself, made with the laboratory's own plan, driver and verdict."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from photofinish.contest.manifest import Manifest, Start
from photofinish.contest.plan import Entry, Plan
from photofinish.contest.suite import Cell, Metric, Profile, Suite
from photofinish.store.records import Race, Round, Run
from photofinish.testbed.cores import divide_mine, pinned
from photofinish.testbed.engine import engine_path
from photofinish.testbed.environment import package_version
from photofinish.testbed.ports import Ports
from photofinish.testbed.stop import StopFlag
from photofinish.trial.driver import Bench, RoundTask, load_driver
from photofinish.trial.race import MOST_ROUNDS_FACTOR, round_seed

COST = Metric(
    name="cpu_us_per_request",
    title="server CPU per request",
    unit="µs",
    source="windows",
    numerator="cpu_ns",
    denominator="requests",
    scale=1e-3,
    headline=True,
)
CELL = "saturated"


def plan(
    spend_ns: Mapping[str, int],
    *,
    seed: int,
    rounds: int,
    cycles: int,
    window_ms: float,
    warmup_s: float,
    twin_of: str | None = None,
    reconnect: bool = True,
) -> Plan:
    """A plan of one cell whose entries are all the reference server.

    Args:
        spend_ns: entry → CPU that it burns beside each request, 0 for the plain server.
        seed: of orders and rounds.
        rounds: fresh sets of processes.
        cycles: windows of each entry in a round.
        window_ms: length of a window.
        warmup_s: visits before the first window that counts.
        twin_of: an entry that gets a twin as well.
        reconnect: make the connections anew at each visit, as races do.
    """
    entries = [_entry(name, name, spend, None) for name, spend in spend_ns.items()]
    if twin_of is not None:
        entries.append(_entry(f"{twin_of}~twin", twin_of, spend_ns[twin_of], twin_of))
    cell = Cell(
        id=CELL,
        title="100 connections, each asking again as soon as it is answered",
        parameters={
            "load": {"mode": "closed", "connections": 100},
            "expect": {"status": 200, "body_bytes": 12},
            "window_ms": window_ms,
            "reconnect": reconnect,
            "cycles": cycles,
            "warmup_s": warmup_s,
        },
    )
    suite = Suite(
        schema=1,
        name="verdicts",
        title="The reference server against itself",
        question="Does the design see what is there, and nothing else?",
        driver="visit",
        twins=tuple(spend_ns)[:1],
        cells=(cell,),
        metrics=(COST,),
        profiles={"bench": Profile()},
    )
    return Plan(
        suite=suite, profile="bench", seed=seed, entries=tuple(entries), cells=(cell,), metrics=(COST,), rounds=rounds
    )


def _entry(name: str, contestant: str, spend_ns: int, twin_of: str | None) -> Entry:
    argv = ["{engine}", "origin", "--address", "{address}", "--port", "{port}", "--workers", "{workers}"]
    manifest = Manifest(
        schema=1,
        id=contestant,
        title=contestant,
        suite="verdicts",
        language="Rust",
        version=package_version(),
        tuning="reference",
        start=Start(argv=(*argv, "--spend-ns", str(spend_ns))),
    )
    return Entry(id=name, contestant=contestant, title=name, folder=str(Path.cwd()), manifest=manifest, twin_of=twin_of)


@contextmanager
def bench(stop: StopFlag) -> Iterator[Bench]:
    """The engine, the cores and a scratch folder; the calling process stays on the engine's cores."""
    cores = divide_mine(1)
    with tempfile.TemporaryDirectory(prefix="photofinish-verdicts-") as scratch, pinned(cores.engine):
        yield Bench(engine=engine_path(), cores=cores, ports=Ports(), scratch=Path(scratch), builds={}, stop=stop)


def race(decided: Plan, on: Bench) -> Race:
    """Run it; void rounds are made up for, up to the laboratory's own bound."""
    driver = load_driver(decided.suite.driver)
    driver.check(decided)
    rounds: list[Round] = []
    while (
        sum(one.void is None for one in rounds) < decided.rounds and len(rounds) < MOST_ROUNDS_FACTOR * decided.rounds
    ):
        index = len(rounds)
        task = RoundTask(decided, index, round_seed(decided.seed, index), on)
        rounds.append(driver.run_round(task, lambda _phase, _cell: None))
    run = Run(
        id=f"verdicts-{decided.seed}",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        plan=decided,
        environment={},
        status="finished",
        version=package_version(),
    )
    return Race(run, tuple(rounds))


def windows(raced: Race) -> list[dict[str, list[list[int] | None]]]:
    """The raw windows of the rounds that count: entry → [CPU in ns, requests] a cycle, null where it does not count."""
    return [
        {t.entry: [_window(w.values, w.void) for w in t.windows] for t in one.trials if t.void is None}
        for one in raced.rounds
        if one.void is None
    ]


def _window(values: Mapping[str, Any], void: str | None) -> list[int] | None:
    cpu, requests = values.get("cpu_ns"), values.get("requests")
    return None if void is not None or not cpu or not requests else [int(cpu), int(requests)]
