"""A small interleaved race with a known truth: two servers, three codings, two sizes. Seeded."""

import math
from collections.abc import Mapping
from itertools import product

import numpy as np

from photofinish.contest.suite import Cell, Metric
from photofinish.store.records import Race, Round, Trial, Void
from tests import factories
from tests.verdict import synthetic

TIME = Metric(name="time_us", title="response time", unit="µs", source="trial", headline=True)
CPU = Metric(name="cpu_us", title="server CPU", unit="µs", source="trial")
WIRE = Metric(name="wire_bytes", title="on the wire", unit="B", source="trial", judged=False)
TRUTH: Mapping[str, tuple[float, float, float]] = {
    "identity": (100.0, 10.0, 9000.0),
    "zstd-3": (80.0, 20.0, 3000.0),
    "gzip-6": (120.0, 60.0, 3100.0),
}
"""Coding → time, CPU, bytes; the slower server takes twice the time and CPU."""
CELLS = tuple(
    Cell(
        id=f"{size}-{coding}",
        title=f"{size} records, {coding}",
        axes={"records": size, "coding": coding},
        titles={"records": f"{size} records", "coding": coding},
    )
    for size, coding in product(("1", "64"), TRUTH)
)
ENTRIES = (
    synthetic.entry("origin"),
    synthetic.entry("origin~twin", twin_of="origin"),
    synthetic.entry("slow"),
)


def contrast_race(*, rounds: int = 10, spread: float = 0.003, seed: int = 4, unable: str = "") -> Race:
    """``unable``: a coding that the slower server does not send."""
    chance = np.random.default_rng(seed)
    suite = factories.suite(
        cells=CELLS, metrics=(TIME, CPU, WIRE), interleaved=True, contrast="coding", front=("cpu_us", "wire_bytes")
    )
    plan = synthetic.plan(ENTRIES, rounds=rounds, metrics=(TIME, CPU, WIRE), suite=suite, cells=CELLS)

    def trial(cell: Cell, entry: str) -> Trial:
        if entry == "slow" and cell.axes["coding"] == unable:
            return Trial(cell.id, entry, -1, void=Void("not-capable", f"it sends identity, not {unable}"))
        time, cpu, wire = TRUTH[cell.axes["coding"]]
        factor = 2.0 if entry == "slow" else 1.0
        noise = math.exp(chance.normal(0, spread))
        return Trial(
            cell.id,
            entry,
            0,
            figures={"time_us": time * factor * noise, "cpu_us": cpu * factor * noise, "wire_bytes": wire},
        )

    made = tuple(
        Round(
            index=index,
            seed=index,
            started_at=factories.CREATED_AT,
            duration_s=1.0,
            trials=tuple(trial(cell, entry.id) for cell in CELLS for entry in ENTRIES),
        )
        for index in range(rounds)
    )
    return Race(factories.run(plan=plan), made)
