"""Real windows, recorded once on a quiet machine by benches/verdicts, judged again here: deterministic, no clock."""

import gzip
import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest

from photofinish.contest.suite import Metric
from photofinish.store.records import Race, Round, Trial, Window
from photofinish.verdict.judge import judge
from photofinish.verdict.model import PairVerdict
from tests import factories
from tests.verdict.synthetic import CELL, entry, plan

DATA = Path(__file__).parent / "data" / "windows.json.gz"
COST = Metric(
    name="cost", title="CPU", unit="µs", source="windows", numerator="cpu_ns", denominator="requests", headline=True
)
pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason="no recording: benches/verdicts/run.py --record tests/verdict/data/windows.json.gz"
)


def _items(part: str) -> list[dict[str, Any]]:
    document = json.loads(gzip.decompress(DATA.read_bytes()))
    assert document["schema"] == "photofinish.recorded-windows/1"
    found = [item for item in document["items"] if item["part"] == part]
    assert found, f"the recording has no {part}; record all parts"
    return found


def _race(item: dict[str, Any]) -> Race:
    names = list(dict.fromkeys(name for one in item["rounds"] for name in one))
    entries = [entry(name, twin_of=name.removesuffix("~twin") if name.endswith("~twin") else None) for name in names]
    rounds = tuple(
        Round(
            index=index,
            seed=index,
            started_at=factories.CREATED_AT,
            duration_s=1.0,
            trials=tuple(_trial(name, windows) for name, windows in one.items()),
        )
        for index, one in enumerate(item["rounds"])
    )
    return Race(factories.run(plan=plan(entries, rounds=len(rounds), metrics=(COST,))), rounds)


def _trial(name: str, windows: list[list[int] | None]) -> Trial:
    return Trial(
        cell=CELL.id,
        entry=name,
        slot=0,
        windows=tuple(
            Window(cycle, 0, {"cpu_ns": float(read[0]), "requests": float(read[1])})
            for cycle, read in enumerate(windows)
            if read is not None
        ),
    )


def _pair(item: dict[str, Any]) -> PairVerdict:
    (pair,) = judge(_race(item)).cells[0].metrics[0].pairs
    return pair


def test_identical_contestants_get_no_winner() -> None:
    assert not {"a-wins", "b-wins"} & {_pair(item).outcome for item in _items("aa")}


def test_two_percent_dearer_loses() -> None:
    for item in _items("slower"):
        pair = _pair(item)
        assert (pair.a, pair.outcome) == ("origin", "a-wins")
        assert pair.low is not None
        assert pair.low > 1.01


def test_the_spread_of_the_aa_ratio_grows_with_the_length_of_the_windows() -> None:
    spreads = []
    for window_ms in (10, 100, 500):
        ratios = [_pair(item).ratio for item in _items(f"spread-{window_ms}")]
        spreads.append(statistics.stdev(math.log(ratio) for ratio in ratios if ratio is not None))
    assert spreads == sorted(spreads)


def test_the_recording_is_small() -> None:
    assert DATA.stat().st_size <= 300 * 1024
