"""Steadiness of a series of window costs."""

import numpy as np
import pytest

from photofinish.verdict.warmup import steadiness


def _noise(seed: int, n: int = 60, spread: float = 0.03) -> np.ndarray:
    return np.asarray(np.exp(np.random.default_rng(seed).normal(0, spread, n)))


def test_noise_alone_is_flat() -> None:
    labels = [steadiness(list(8 * _noise(seed))).label for seed in range(200)]
    assert labels.count("flat") >= 196


def test_noise_with_heavy_tails_is_flat() -> None:
    random = np.random.default_rng(4)
    labels = [steadiness(list(8 * np.exp(0.02 * random.standard_t(3, 60)))).label for _ in range(200)]
    assert labels.count("flat") >= 190


def test_a_dear_start_is_warming_up_and_the_steady_end_begins_after_it() -> None:
    costs = 8 * _noise(1)
    costs[:20] *= 1.5
    found = steadiness(list(costs))
    assert found.label == "warming-up"
    assert found.steady_from == pytest.approx(20, abs=1)
    assert found.levels[0] == pytest.approx(12, rel=0.03)


def test_a_warm_up_in_steps_is_still_warming_up() -> None:
    costs = 8 * _noise(2, 90)
    costs[:15] *= 2.0
    costs[15:40] *= 1.3
    assert steadiness(list(costs)).label == "warming-up"


def test_a_dearer_end_is_slowing_down() -> None:
    costs = 8 * _noise(3)
    costs[30:] *= 1.2
    assert steadiness(list(costs)).label == "slowing-down"


def test_a_change_shortly_before_the_end_is_no_steady_state() -> None:
    costs = 8 * _noise(4)
    costs[52:] *= 1.4
    found = steadiness(list(costs))
    assert (found.label, found.steady_from) == ("no-steady-state", None)


def test_up_and_down_is_no_steady_state() -> None:
    costs = 8 * _noise(5)
    costs[:15] *= 1.4
    costs[15:30] *= 0.7
    assert steadiness(list(costs)).label == "no-steady-state"


def test_a_difference_within_the_tolerance_is_flat_however_clear() -> None:
    costs = 8 * _noise(6, spread=0.0005)
    costs[:30] *= 1.01
    assert steadiness(list(costs)).label == "flat"


def test_a_lone_outlier_changes_nothing() -> None:
    costs = 8 * _noise(7)
    costs[33] *= 10
    assert steadiness(list(costs)).label == "flat"


def test_a_short_series_is_not_judged() -> None:
    assert steadiness([1.0] * 11).label == "too-short"
    assert steadiness([]).levels == ()


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cost_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite and above zero"):
        steadiness([1.0] * 20 + [bad])


def test_the_unit_does_not_matter() -> None:
    costs = 8 * _noise(8)
    costs[:20] *= 1.5
    one, other = steadiness(list(costs)), steadiness(list(costs * 1e6))
    assert (one.label, one.changes) == (other.label, other.changes)
