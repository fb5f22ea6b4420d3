"""Small races with a known truth: log figures in, a `Race` out. Seeded by the caller; nothing here judges."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from photofinish.contest.plan import Entry, Plan
from photofinish.contest.suite import Cell, Metric
from photofinish.store.records import Race, Round, Trial, Void, Window
from tests import factories

COST = Metric(name="cost", title="cost", unit="µs", source="trial", headline=True)
CELL = Cell(id="only", title="the only cell")


def entry(name: str, *, twin_of: str | None = None, reference: bool = False) -> Entry:
    return Entry(
        id=name,
        contestant=twin_of or name,
        title=name,
        folder=f"/contestants/{name}",
        manifest=factories.manifest(twin_of or name),
        twin_of=twin_of,
        is_reference=reference,
    )


def plan(entries: Sequence[Entry], *, rounds: int, metrics: Sequence[Metric] = (COST,), **changes: Any) -> Plan:
    values: dict[str, Any] = {
        "suite": factories.suite(metrics=tuple(metrics), cells=(CELL,)),
        "profile": "quick",
        "seed": 5,
        "entries": tuple(entries),
        "cells": (CELL,),
        "metrics": tuple(metrics),
        "rounds": rounds,
    }
    return Plan(**(values | changes))


def race(
    entries: Sequence[Entry],
    log_figures: Mapping[str, Sequence[float] | np.ndarray],
    *,
    metric: Metric = COST,
    status: str = "finished",
    **changes: Any,
) -> Race:
    """One trial figure a round and entry: ``exp(log_figures[entry][round])``; NaN: the trial is void."""
    rounds = len(next(iter(log_figures.values())))
    values: dict[str, Any] = {"rounds": rounds, "metrics": (metric,)}
    decided = plan(entries, **(values | changes))
    made = tuple(
        Round(
            index=index,
            seed=index,
            started_at=factories.CREATED_AT,
            duration_s=1.0,
            trials=tuple(_trial(one.id, slot, log_figures[one.id][index], metric) for slot, one in enumerate(entries)),
        )
        for index in range(rounds)
    )
    return Race(factories.run(plan=decided, status=status), made)


def _trial(name: str, slot: int, log_figure: float, metric: Metric) -> Trial:
    if math.isnan(log_figure):
        return Trial(cell=CELL.id, entry=name, slot=slot, void=Void("status", "answered 503"))
    return Trial(cell=CELL.id, entry=name, slot=slot, figures={metric.name: math.exp(log_figure)})


def windowed(name: str, costs: Sequence[float | None], *, slot: int = 0) -> Trial:
    """A trial of windows of 100 requests each; None: that window is void."""
    return Trial(
        cell=CELL.id,
        entry=name,
        slot=slot,
        windows=tuple(
            Window(
                cycle=cycle,
                position=slot,
                values={"cpu_ns": None if cost is None else 100.0 * cost, "requests": 100.0},
                void="failed-requests" if cost is None else None,
            )
            for cycle, cost in enumerate(costs)
        ),
    )
