"""A synthetic verdict of the synthetic race: seeded, made without the judge, so that reports are tested alone."""

import math
import random
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from photofinish.verdict.model import (
    CellVerdict,
    EntryInfo,
    Estimate,
    MetricVerdict,
    Outcome,
    PairVerdict,
    RaceVerdict,
    TwinVerdict,
    VoidCount,
)
from tests import factories

ROUNDS = 12
DELTA = 0.01


def verdict(*, costs_us: Mapping[str, float] = factories.COSTS_US, seed: int = 3, **changes: Any) -> RaceVerdict:
    """A verdict on the race of :func:`tests.factories.race`; nginx and h2o are close, node failed in places."""
    chance = random.Random(seed)  # noqa: S311 - reproducible
    decided = factories.plan(tuple(costs_us), rounds=ROUNDS)
    truths = {entry.id: costs_us[entry.contestant] for entry in decided.entries}
    cells = []
    for cell in decided.cells:
        metrics = [
            metric_verdict(metric.name, truths, chance) for metric in decided.metrics if metric.name in cell.metrics
        ]
        cells.append(CellVerdict(cell=cell.id, title=cell.title, metrics=tuple(metrics)))
    values: dict[str, Any] = {
        "run": factories.run().id,
        "created_at": factories.CREATED_AT,
        "version": "0.1.0",
        "status": "finished",
        "suite": "servers",
        "title": decided.suite.title,
        "question": decided.suite.question,
        "profile": "quick",
        "seed": 7,
        "alpha": 0.05,
        "rounds_planned": ROUNDS,
        "rounds_counted": ROUNDS - 1,
        "duration_s": 754.0,
        "environment": factories.run().environment,
        "entries": tuple(entry_info(entry.id, entry.contestant, entry.twin_of) for entry in decided.entries),
        "absent": ({"contestant": "vertx", "code": "missing-tool", "detail": "mvn is not on PATH"},),
        "cells": tuple(cells),
        "voids": (
            VoidCount(entry=None, cell=None, code="interference", count=1, example="6.2 % of CPU time was stolen"),
            VoidCount(
                entry="node",
                cell="rate-10000",
                code="wrong-status",
                count=2,
                example="12 of 57000 requests: it answered 503",
            ),
        ),
        "twins": tuple(
            TwinVerdict(
                cell=cell.id,
                metric="cpu_us_per_request",
                a="origin",
                b="origin~twin",
                ratio=1.0012,
                low=0.9982,
                high=1.0041,
                p=0.42,
                rejected=False,
                spread=0.0046,
            )
            for cell in decided.cells
        ),
        "decided": False,
    }
    return RaceVerdict(**(values | changes))


def entry_info(entry: str, contestant: str, twin_of: str | None) -> EntryInfo:
    """Who raced."""
    return EntryInfo(
        entry=entry,
        contestant=contestant,
        title=contestant,
        language=factories.LANGUAGES.get(contestant, "C"),
        version="1.2.3",
        tuning="limit" if contestant == "limit" else "default",
        twin_of=twin_of,
        is_reference=contestant == "limit",
        evidence={"status": 200, "wire_bytes": 156, "body_xxh3": "d05f4751b40ef35c"},
        facts={"binary_bytes": 1_234_567},
    )


def metric_verdict(name: str, truths: Mapping[str, float], chance: random.Random, **changes: Any) -> MetricVerdict:
    """One metric on one cell, from true costs in µs a request."""
    metric = next(one for one in factories.METRICS if one.name == name)
    figures = {entry: _of(name, cost) * math.exp(chance.gauss(0, 0.001)) for entry, cost in truths.items()}
    reference = figures.get("limit")
    estimates = []
    for entry, value in figures.items():
        half = value * (
            0 if name == "rss_peak_bytes" else chance.uniform(0.003, 0.012) * (4 if name == "latency_p99_ns" else 1)
        )
        better = None if reference is None else reference / value if metric.better == "lower" else value / reference
        estimates.append(
            Estimate(
                entry=entry,
                value=value,
                low=value - half,
                high=value + half * 1.1,
                attained=0.9568,
                rounds=ROUNDS - 1,
                share_of_reference=better,
                labels=("warming-up",) if entry == "node" else (),
                voids={"wrong-status": 2} if entry == "node" else {},
            )
        )
    pairs = (
        tuple(_pair(a, b, figures, chance) for a, b in combinations(figures, 2) if "limit" not in {a, b})
        if metric.judged
        else ()
    )
    beaten = {pair.b if pair.outcome == "a-wins" else pair.a for pair in pairs if pair.outcome in {"a-wins", "b-wins"}}
    judged = [entry for entry in figures if entry != "limit" and "~" not in entry]
    values: dict[str, Any] = {
        "metric": name,
        "title": metric.title,
        "unit": metric.unit,
        "better": metric.better,
        "headline": metric.headline,
        "judged": metric.judged,
        "digits": metric.digits,
        "floor": 0.0041,
        "delta": DELTA,
        "noise_limited": False,
        "top_set": tuple(entry for entry in judged if entry not in beaten) if metric.judged else (),
        "estimates": tuple(estimates),
        "pairs": pairs,
    }
    return MetricVerdict(**(values | changes))


def _of(name: str, cost_us: float) -> float:
    return {
        "cpu_us_per_request": cost_us,
        "requests_per_s": 900_000 / cost_us,
        "latency_p99_ns": cost_us * 26_000,
        "rss_peak_bytes": round(cost_us * 2_000_000),
    }[name]


def _pair(a: str, b: str, figures: Mapping[str, float], chance: random.Random) -> PairVerdict:
    ratio = figures[b] / figures[a]
    half = chance.uniform(0.003, 0.007)
    low, high = ratio * (1 - half), ratio * (1 + half)
    outcome: Outcome = "undecided"
    if low > 1 + DELTA or high < 1 - DELTA:
        outcome = "a-wins" if ratio > 1 else "b-wins"
    elif low > 1 - DELTA and high < 1 + DELTA:
        outcome = "tie"
    return PairVerdict(
        a=a,
        b=b,
        ratio=ratio,
        low=low,
        high=high,
        p=0.000977 if outcome in {"a-wins", "b-wins"} else 0.21,
        p_adjusted=0.0147 if outcome in {"a-wins", "b-wins"} else 0.63,
        minimum_detectable_effect=0.009,
        rounds=ROUNDS - 1,
        outcome=outcome,
        is_twin=b == f"{a}~twin" or a == f"{b}~twin",
    )
