"""What counts, decided without a look at the outcome."""

import math
from dataclasses import replace

import numpy as np
import pytest

from photofinish.contest.suite import Metric
from photofinish.store.records import Round, Trial, Void, Window
from photofinish.verdict.readings import Readings, read
from tests import factories
from tests.verdict.synthetic import CELL, COST, entry, plan, windowed

WINDOWS = Metric(
    name="cpu", title="CPU", unit="ns", source="windows", numerator="cpu_ns", denominator="requests", headline=True
)
ENTRIES = (entry("a"), entry("b"))


def _read(*rounds: tuple[Trial, ...], metric: Metric = WINDOWS) -> Readings:
    made = tuple(
        Round(index=index, seed=index, started_at=factories.CREATED_AT, duration_s=1.0, trials=trials)
        for index, trials in enumerate(rounds)
    )
    return read(plan(ENTRIES, rounds=len(made), metrics=(metric,)), made, CELL, metric)


def _effects(readings: Readings) -> list[float]:
    effects = readings.effects("a", "b")
    assert effects is not None
    return [float(one) for one in effects]


def test_a_round_is_the_median_of_log_ratios_over_cycles_in_which_both_count() -> None:
    readings = _read((windowed("a", [1.0, 2.0, None, 4.0]), windowed("b", [2.0, 2.0, 9.0, 12.0])))
    assert _effects(readings) == [pytest.approx(math.log(2.0))]
    assert readings.figures("a") == [2.0]
    assert readings.figures("b") == [5.5]


def test_a_drift_that_hits_all_within_a_cycle_cancels() -> None:
    drift = np.exp(np.random.default_rng(1).normal(0, 0.3, 40))
    readings = _read((windowed("a", list(4.0 * drift)), windowed("b", list(4.2 * drift))))
    assert _effects(readings) == [pytest.approx(math.log(1.05))]


def test_a_void_trial_takes_its_round_from_its_own_pairs_only() -> None:
    void = Trial(cell=CELL.id, entry="b", slot=1, void=Void("status", "503"))
    readings = _read((windowed("a", [1.0]), void), (windowed("a", [1.0]), windowed("b", [3.0])))
    assert readings.figures("a") == [1.0, 1.0]
    assert _effects(readings) == [pytest.approx(math.log(3.0))]
    assert readings.voids["b"] == {"status": 1}
    assert readings.voids["a"] == {}


def test_a_trial_whose_windows_are_all_void_is_lost_for_their_commonest_reason() -> None:
    readings = _read((windowed("a", [None, None]), windowed("b", [1.0, 1.0])))
    assert readings.voids["a"] == {"failed-requests": 1}
    assert _effects(readings) == []


def test_windows_of_zero_or_unknown_cost_do_not_count() -> None:
    values: list[dict[str, float | None]] = [
        {"cpu_ns": 0.0, "requests": 5.0},
        {"cpu_ns": 5.0, "requests": 0.0},
        {"cpu_ns": 5.0, "requests": None},
        {"requests": 5.0},
    ]
    trial = Trial(cell=CELL.id, entry="a", slot=0, windows=tuple(Window(i, 0, v) for i, v in enumerate(values)))
    assert _read((trial,)).voids["a"] == {"no-figure": 1}


def test_a_figure_voided_by_name_is_lost_with_its_own_reason() -> None:
    trial = Trial(cell=CELL.id, entry="a", slot=0, figures={"cost": 3.0}, voided_figures={"cost": "too-few-requests"})
    readings = _read((trial,), metric=COST)
    assert readings.figures("a") == []
    assert readings.voids["a"] == {"too-few-requests": 1}
    assert readings.voids["b"] == {"not-run": 1}


def _figure(name: str, value: float | None) -> Trial:
    return Trial(cell=CELL.id, entry=name, slot=0, figures={"cost": value})


def test_zero_against_zero_is_no_difference_and_zero_against_anything_has_no_ratio() -> None:
    both = (_figure("a", 0.0), _figure("b", 0.0))
    assert _effects(_read(both, both, metric=COST)) == [0.0, 0.0]
    mixed = (_figure("a", 0.0), _figure("b", 1.0))
    assert _read(both, mixed, metric=COST).effects("a", "b") is None


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -1.0])
def test_a_missing_or_impossible_figure_does_not_count(value: float | None) -> None:
    assert _read((_figure("a", value),), metric=COST).voids["a"] == {"no-figure": 1}


def test_a_label_stands_for_an_entry_if_more_than_half_of_its_rounds_have_it() -> None:
    often = replace(windowed("a", [1.0]), labels=("restless", "warming-up"))
    once = replace(windowed("a", [1.0]), labels=("restless",))
    readings = _read((often,), (once,), (once,), (windowed("a", [1.0]),))
    assert readings.labels["a"] == ("restless",)
