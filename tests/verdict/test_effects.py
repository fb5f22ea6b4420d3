"""Hodges–Lehmann, the exact signed-rank test and its interval, against books, scipy and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from photofinish.verdict.effects import effect, hodges_lehmann, interval_rank, signed_rank_p

BEFORE = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
AFTER = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
"""Hamilton depression scale factor IV: Hollander & Wolfe, example 3.1."""


def test_the_depression_scale_example_of_hollander_and_wolfe_is_reproduced() -> None:
    found = effect(AFTER - BEFORE, 0.05)
    assert found.p == pytest.approx(2 * 10 / 512)
    assert found.estimate == pytest.approx(-0.46)
    assert found.low == pytest.approx(-0.786)
    assert found.high == pytest.approx(-0.010)


@pytest.mark.parametrize("n", [1, 2, 5, 9, 20, 45, 60])
def test_p_without_ties_equals_the_exact_one_of_scipy(n: int) -> None:
    d = np.random.default_rng(n).normal(0.3, 1, n)
    assert signed_rank_p(d) == pytest.approx(wilcoxon(d, method="exact").pvalue, rel=1e-9)


def test_p_beyond_the_exact_range_equals_the_approximation_of_scipy() -> None:
    d = np.random.default_rng(3).normal(0.2, 1, 90)
    expected = wilcoxon(d, method="approx", correction=True).pvalue
    assert signed_rank_p(d) == pytest.approx(expected, rel=1e-9)


def test_p_with_ties_and_zeros_equals_the_count_over_all_signs() -> None:
    d = np.array([0.0, 1.0, 1.0, -1.0, 2.0, 2.0, 3.0, 0.0])
    magnitudes = np.array([2, 2, 2, 4.5, 4.5, 6])
    signs = (np.arange(64)[:, None] >> np.arange(6)) & 1
    sums = (signs * magnitudes).sum(axis=1)
    observed = 2 + 2 + 4.5 + 4.5 + 6
    expected = 2 * np.mean(sums >= observed)
    assert signed_rank_p(d) == pytest.approx(expected)


def test_the_smallest_p_of_n_rounds_is_two_to_the_one_minus_n() -> None:
    for n in (1, 6, 11, 30):
        assert signed_rank_p(np.arange(1.0, n + 1)) == pytest.approx(2.0 ** (1 - n))


def test_differences_that_are_all_zero_are_no_evidence() -> None:
    found = effect(np.zeros(8), 0.05)
    assert (found.p, found.estimate, found.low, found.high) == (1.0, 0.0, 0.0, 0.0)


def test_five_rounds_have_no_interval_at_95_percent_and_six_have_their_range() -> None:
    d = np.array([0.3, 0.1, 0.5, 0.2, 0.4, 0.6])
    assert effect(d[:5], 0.05).low is None
    six = effect(d, 0.05)
    assert six.low == pytest.approx(0.1)
    assert six.high == pytest.approx(0.6)


def test_tabulated_interval_ranks_are_reproduced() -> None:
    """Critical values of the signed-rank table, two-sided 5 %: T ≤ 0, 2, 3, 5, 8, 52 for these n."""
    tabulated = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 20: 52}
    assert {n: interval_rank(n, 0.05) - 1 for n in tabulated} == tabulated


@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=6, max_size=15))
def test_exchanging_the_sides_turns_the_effect_round(differences: list[float]) -> None:
    one, other = effect(np.array(differences), 0.05), effect(-np.array(differences), 0.05)
    assert one.p == pytest.approx(other.p)
    assert one.estimate == pytest.approx(-other.estimate)
    assert one.low is not None
    assert other.high is not None
    assert one.low == pytest.approx(-other.high)


@given(st.lists(st.integers(-1000, 1000).filter(bool), min_size=6, max_size=14, unique_by=abs))
def test_without_ties_p_and_interval_say_the_same_of_zero(differences: list[int]) -> None:
    found = effect(np.array(differences, dtype=float), 0.05)
    assert found.low is not None
    assert found.high is not None
    assert (found.p <= 0.05) == (found.low > 0 or found.high < 0)


def test_one_wild_round_hardly_moves_the_estimate() -> None:
    quiet = np.random.default_rng(2).normal(0.02, 0.003, 12)
    wild = quiet.copy()
    wild[4] = 3.0
    assert abs(float(hodges_lehmann(wild)) - float(hodges_lehmann(quiet))) < 0.003


def test_intervals_hold_the_truth_as_often_as_they_claim() -> None:
    random = np.random.default_rng(8)
    for n in (6, 11):
        d = 0.01 + 0.003 * random.standard_t(3, (1500, n))
        held = [found.low <= 0.01 <= found.high for row in d if (found := effect(row, 0.05)).low is not None]  # type: ignore[operator]
        assert len(held) == 1500
        assert np.mean(held) > 0.95 - 3 * math.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.parametrize("differences", [[], [math.nan], [1.0, math.inf]])
def test_an_effect_of_nothing_or_of_the_infinite_is_refused(differences: list[float]) -> None:
    with pytest.raises(ValueError, match="at least one round"):
        effect(differences, 0.05)
