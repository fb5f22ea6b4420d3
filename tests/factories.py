"""Synthetic plans, rounds, races and verdicts: seeded, so that the same call gives the same data everywhere.

Values are made up to look like those of a server race; nothing here measures or judges.
"""

import base64
import math
import random
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from photofinish.contest.manifest import Manifest, Start
from photofinish.contest.plan import Absence, Entry, Plan
from photofinish.contest.suite import Cell, Metric, Profile, Suite
from photofinish.store.records import Race, Round, Run, Trial, Void, Window

CREATED_AT = "2026-03-04T05:06:07Z"
COSTS_US = {"limit": 3.92, "origin": 4.31, "nginx": 7.12, "h2o": 7.16, "hyper": 8.04, "fasthttp": 10.7, "node": 61.3}
"""True cost of each synthetic contestant, µs a request."""
LANGUAGES = {
    "limit": "Rust",
    "origin": "Rust",
    "nginx": "C",
    "h2o": "C",
    "hyper": "Rust",
    "fasthttp": "Go",
    "node": "JavaScript",
}

METRICS = (
    Metric(
        name="cpu_us_per_request",
        title="server CPU per request",
        unit="µs",
        source="windows",
        numerator="cpu_ns",
        denominator="requests",
        scale=1e-3,
        headline=True,
    ),
    Metric(
        name="requests_per_s",
        title="capacity (screening)",
        unit="1/s",
        better="higher",
        source="windows",
        numerator="requests",
        denominator="wall_ns",
        scale=1e9,
        judged=False,
        digits=0,
    ),
    Metric(name="latency_p99_ns", title="response time, 99 %", unit="ns"),
    Metric(name="rss_peak_bytes", title="peak RSS", unit="B", judged=False, digits=0),
)
CELLS = (
    Cell(
        id="saturated",
        title="100 connections, each asking again as soon as it is answered",
        metrics=("cpu_us_per_request", "requests_per_s", "rss_peak_bytes"),
    ),
    Cell(
        id="rate-10000",
        title="10,000 requests a second over 100 connections",
        metrics=("cpu_us_per_request", "latency_p99_ns"),
    ),
)


def manifest(contestant: str, **changes: Any) -> Manifest:
    """A contestant's manifest that does nothing."""
    document = {
        "schema": 1,
        "id": contestant,
        "title": contestant,
        "suite": "servers",
        "language": LANGUAGES.get(contestant, "C"),
        "version": "1.2.3",
        "tuning": "limit" if contestant == "limit" else "default",
        "start": Start(argv=("true",)),
    }
    return Manifest.model_validate(document | changes)


def entry(contestant: str, *, twin: bool = False) -> Entry:
    """One entry; ``twin``: the second one of that contestant."""
    return Entry(
        id=f"{contestant}~twin" if twin else contestant,
        contestant=contestant,
        title=contestant,
        folder=f"/contestants/servers/{contestant}",
        manifest=manifest(contestant),
        twin_of=contestant if twin else None,
        is_reference=contestant == "limit",
    )


def suite(**changes: Any) -> Suite:
    """The suite of all synthetic races."""
    document = {
        "schema": 1,
        "name": "servers",
        "title": "HTTP server frameworks",
        "question": "What does a server spend on one small response?",
        "driver": "visit",
        "reference": "limit",
        "twins": ("origin",),
        "cells": CELLS,
        "metrics": METRICS,
        "profiles": {"quick": Profile()},
    }
    return Suite.model_validate(document | changes)


def plan(
    contestants: Iterable[str] = tuple(COSTS_US),
    *,
    rounds: int = 12,
    twins: Iterable[str] = ("origin",),
    **changes: Any,
) -> Plan:
    """A plan with a twin of every contestant in ``twins``."""
    entries = tuple(entry(name) for name in contestants) + tuple(entry(name, twin=True) for name in twins)
    values: dict[str, Any] = {
        "suite": suite(),
        "profile": "quick",
        "seed": 7,
        "entries": entries,
        "absent": (Absence(contestant="vertx", code="missing-tool", detail="mvn is not on PATH"),),
        "cells": CELLS,
        "metrics": METRICS,
        "rounds": rounds,
    }
    return Plan(**(values | changes))


def run(**changes: Any) -> Run:
    """A finished run; keyword arguments replace its fields."""
    values: dict[str, Any] = {
        "id": "20260304-0506-k3f",
        "created_at": CREATED_AT,
        "plan": plan(),
        "environment": {
            "kernel": "6.18.0",
            "cpus": 2,
            "cpu": "Example CPU @ 2.10GHz",
            "virtual": True,
            "mitigations": None,
        },
        "status": "finished",
        "version": "0.1.0",
    }
    return Run(**(values | changes))


def windows(cost_us: float, chance: random.Random, *, cycles: int = 40, position: int = 0) -> tuple[Window, ...]:
    """Windows of 15 ms on a core that the contestant fills to about 90 %."""
    made = []
    for cycle in range(cycles):
        wall_ns = 15_000_000 + chance.randrange(40_000)
        requests = max(1, round(0.9 * wall_ns / (cost_us * 1000) * chance.gauss(1, 0.02)))
        values: dict[str, float | None] = {
            "start_ns": cycle * 180_000_000 + chance.randrange(10_000),
            "wall_ns": wall_ns,
            "drain_ns": chance.randrange(200_000, 900_000),
            "cpu_ns": round(requests * cost_us * 1000 * chance.gauss(1, 0.01)),
            "requests": requests,
            "body_bytes": requests * 12,
            "wire_bytes": requests * 156,
            "censored": 0,
            "connects": 0,
            "rest_cpu_ns": chance.randrange(20_000),
            "rest_wall_ns": 165_000_000 + chance.randrange(90_000),
            "offered": None,
            "engine_cpu_ns": chance.randrange(7_000_000, 9_000_000),
            "engine_busy_ns": chance.randrange(8_000_000, 10_000_000),
            "latency_sum_ns": requests * chance.randrange(90_000, 140_000),
            "settle_requests": requests // 8,
        }
        made.append(Window(cycle=cycle, position=position, values=values))
    return tuple(made)


def trial(entry_id: str, cell: str, cost_us: float, chance: random.Random, *, slot: int = 0, cycles: int = 40) -> Trial:
    """A trial that counts."""
    histograms = {}
    figures: dict[str, float | None] = {"rss_peak_bytes": float(round(cost_us * 2_000_000))}
    if cell.startswith("rate"):
        samples = [round(chance.lognormvariate(math.log(cost_us * 9_000), 0.45)) for _ in range(2000)]
        histograms = {"response_ns": encode_histogram(samples)}
        figures["latency_p99_ns"] = float(sorted(samples)[int(0.99 * len(samples))])
    return Trial(
        cell=cell,
        entry=entry_id,
        slot=slot,
        figures=figures,
        windows=windows(cost_us, chance, cycles=cycles, position=slot),
        evidence={"status": 200, "body_bytes": 12, "body_xxh3": "d05f4751b40ef35c", "wire_bytes": 156},
        histograms=histograms,
        labels=("warming-up",) if entry_id == "node" else (),
    )


def round_of(
    decided: Plan, index: int, chance: random.Random, *, costs_us: Mapping[str, float] = COSTS_US, cycles: int = 40
) -> Round:
    """A round of fresh processes: each entry's true cost shifts by 0.5 % (sd), and the machine's drifts for all alike."""
    drift = chance.gauss(1, 0.03)
    trials: list[Trial] = []
    for slot, one in enumerate(decided.entries):
        cost_us = costs_us[one.contestant] * drift * chance.gauss(1, 0.005)
        trials.extend(trial(one.id, cell.id, cost_us, chance, slot=slot, cycles=cycles) for cell in decided.cells)
    return Round(
        index=index,
        seed=chance.getrandbits(64),
        started_at=f"2026-03-04T05:{6 + index % 50:02}:07Z",
        duration_s=11.25,
        trials=tuple(trials),
        facts={"steal_share": 0.001},
    )


def race(
    *, seed: int = 1, rounds: int = 4, costs_us: Mapping[str, float] = COSTS_US, cycles: int = 40, **changes: Any
) -> Race:
    """A whole race; its second round is void, and in its first one trial is."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    decided = plan(tuple(costs_us), rounds=rounds)
    made = [round_of(decided, index, chance, costs_us=costs_us, cycles=cycles) for index in range(rounds)]
    if rounds > 1:
        made[1] = _replaced(
            made[1], void=Void("interference", "6.2 % of CPU time was stolen, more than the 5 % allowed")
        )
    last = made[0].trials[-1]
    broken = Trial(
        cell=last.cell,
        entry=last.entry,
        slot=last.slot,
        void=Void("wrong-status", "12 of 57000 requests: it answered 503"),
    )
    made[0] = _replaced(made[0], trials=(*made[0].trials[:-1], broken))
    return Race(run(plan=decided, **changes), tuple(made))


def _replaced(one: Round, **changes: Any) -> Round:
    values = {name: getattr(one, name) for name in Round.__dataclass_fields__}
    return Round(**(values | changes))


def encode_histogram(samples: Iterable[int], *, digits: int = 3, highest: int = 60_000_000_000) -> str:
    """HdrHistogram V2, compressed, base64: values from 1, ``digits`` significant digits."""
    half_bits = (2 * 10**digits - 1).bit_length() - 1
    counts = Counter(_index(value, half_bits) for value in samples)
    payload = bytearray()
    after = 0
    for index in sorted(counts):
        if index > after:
            payload += _zigzag(after - index)
        payload += _zigzag(counts[index])
        after = index + 1
    inner = struct.pack(">iiiiqqd", 0x1C849313, len(payload), 0, digits, 1, highest, 1.0) + payload
    packed = zlib.compress(inner)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed).decode()


def _index(value: int, half_bits: int) -> int:
    bucket = max(0, value.bit_length() - 1 - half_bits)
    return (bucket << half_bits) + (value >> bucket)


def _zigzag(number: int) -> bytes:
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)
