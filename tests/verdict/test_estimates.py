"""Medians over rounds."""

import numpy as np
import pytest

from photofinish.verdict.estimates import median_interval, share_of_reference


@pytest.mark.parametrize(
    ("n", "k", "attained"), [(6, 1, 0.96875), (9, 2, 0.9609375), (10, 2, 0.978515625), (20, 6, 0.9586105)]
)
def test_order_statistics_and_their_coverage_are_those_of_the_tables(n: int, k: int, attained: float) -> None:
    found = median_interval([float(x) for x in range(1, n + 1)], 0.05)
    assert found is not None
    assert (found.low, found.high) == (k, n + 1 - k)
    assert found.attained == pytest.approx(attained)


def test_few_rounds_show_their_range_with_what_it_attains() -> None:
    found = median_interval([3.0, 1.0, 2.0], 0.05)
    assert found is not None
    assert (found.value, found.low, found.high, found.attained) == (2.0, 1.0, 3.0, 0.75)


def test_one_round_has_a_value_and_no_interval_and_none_has_nothing() -> None:
    found = median_interval([4.0], 0.05)
    assert found is not None
    assert (found.value, found.low, found.attained) == (4.0, None, None)
    assert median_interval([], 0.05) is None


def test_the_interval_holds_the_median_of_a_skewed_distribution() -> None:
    samples = np.random.default_rng(5).exponential(1, (2000, 11))
    found = [median_interval(list(row), 0.05) for row in samples]
    held = [one.low <= np.log(2) <= one.high for one in found if one and one.low is not None and one.high is not None]
    assert np.mean(held) > 0.95


def test_share_of_the_reference_is_one_at_the_limit_and_less_beyond_it() -> None:
    assert share_of_reference(8.0, 4.0, "lower") == 0.5
    assert share_of_reference(50.0, 100.0, "higher") == 0.5
    assert share_of_reference(None, 4.0, "lower") is None
    assert share_of_reference(0.0, 4.0, "lower") is None
