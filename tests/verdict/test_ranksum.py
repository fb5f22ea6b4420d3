"""The unpaired shift and its exact interval."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from photofinish.verdict.ranksum import _interval_rank, _null_distribution, shift


def test_the_null_distribution_is_that_of_scipy() -> None:
    x, y = np.arange(5.0), np.arange(7.0) + 2.5
    u = mannwhitneyu(x, y, alternative="less", method="exact")
    assert _null_distribution(5, 7)[: int(u.statistic) + 1].sum() == pytest.approx(u.pvalue)


def test_tabulated_critical_values_are_reproduced() -> None:
    """Two-sided 5 % table of U: 2 for (5, 5), 23 for (10, 10), 127 for (20, 20)."""
    assert [_interval_rank(n, n, 0.05) - 1 for n in (5, 10, 20)] == [2, 23, 127]


def test_the_shift_is_the_median_of_all_differences() -> None:
    estimate, low, high = shift(np.array([1.0, 2.0, 3.0]), np.array([11.0, 12.0, 14.0]), 0.05)
    assert (estimate, low, high) == (10.0, None, None)


def test_the_interval_holds_the_true_shift_as_often_as_it_claims() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(800):
        _, low, high = shift(random.normal(0, 1, 8), random.normal(0.5, 1, 9), 0.05)
        assert low is not None
        assert high is not None
        held += low <= 0.5 <= high
    assert held / 800 > 0.93


def test_large_samples_use_the_normal_rank() -> None:
    random = np.random.default_rng(4)
    estimate, low, high = shift(random.normal(0, 1, 100), random.normal(1, 1, 80), 0.05)
    assert low is not None
    assert high is not None
    assert low < estimate < high
    assert high - low == pytest.approx(2 * 1.96 * (1 / 100 + 1 / 80) ** 0.5, rel=0.15)


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one round"):
        shift(np.array([]), np.array([1.0]), 0.05)
