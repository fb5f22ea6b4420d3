"""The noise floor and the count of A/A rejections."""

import math

import numpy as np
import pytest

from photofinish.verdict.effects import effect, hodges_lehmann
from photofinish.verdict.floor import ENOUGH_CELLS, allowed_rejections, noise_floor, rejected


def test_without_twins_there_is_no_floor() -> None:
    assert noise_floor([]) is None
    assert noise_floor([np.array([0.01])]) is None


def test_identical_readings_have_a_floor_of_zero() -> None:
    assert noise_floor([np.zeros(8)]) == 0.0


def test_the_floor_is_never_below_what_the_twin_shows() -> None:
    steady_bias = np.full(10, 0.03)
    assert noise_floor([steady_bias]) == pytest.approx(math.expm1(0.03))


def test_a_fresh_aa_ratio_stays_within_the_floor_about_as_often_as_promised() -> None:
    random = np.random.default_rng(6)
    fresh = np.abs(hodges_lehmann(random.normal(0, 0.004, (3000, 20))))
    floors = np.log1p([noise_floor([row]) or 0.0 for row in random.normal(0, 0.004, (150, 20))])
    assert (fresh[None, :] > floors[:, None]).mean() < 0.1
    assert np.median(floors) < 1.3 * np.quantile(fresh, 0.95)


def test_one_wild_round_does_not_set_the_floor() -> None:
    twin = np.random.default_rng(1).normal(0, 0.003, 12)
    quiet = noise_floor([twin])
    twin[3] = 0.5
    wild = noise_floor([twin])
    assert quiet is not None
    assert wild is not None
    assert wild < 3 * quiet


def test_with_twenty_cells_the_floor_is_their_95th_percentile() -> None:
    cells = [np.full(6, 0.001 * k) for k in range(1, ENOUGH_CELLS + 1)]
    expected = np.quantile([math.expm1(0.001 * k) for k in range(1, ENOUGH_CELLS + 1)], 0.95)
    assert noise_floor(cells[:1], everywhere=cells) == pytest.approx(expected)
    assert noise_floor(cells[:1], everywhere=cells[:-1]) == pytest.approx(math.expm1(0.001))


def test_allowed_rejections_are_a_binomial_quantile() -> None:
    assert [allowed_rejections(m, 0.05) for m in (1, 2, 10, 20, 100)] == [0, 1, 2, 3, 9]


def test_a_twin_is_rejected_only_for_a_difference_that_counts() -> None:
    sure_but_small = effect(np.linspace(0.004, 0.006, 8), 0.05)
    sure_and_large = effect(np.linspace(0.02, 0.03, 8), 0.05)
    assert sure_but_small.p <= 0.05
    assert not rejected(sure_but_small, 0.05, 0.01)
    assert rejected(sure_and_large, 0.05, 0.01)
