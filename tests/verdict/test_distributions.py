"""The distributions against scipy's, which is slow to import and therefore only here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm, rankdata

from photofinish.verdict.distributions import NORMAL, binomial_cdf, midranks, upper_quantile, upper_tail


@given(st.floats(1e-12, 1 - 1e-12))
def test_quantiles_of_the_normal_distribution_are_scipys(p: float) -> None:
    assert upper_quantile(p) == pytest.approx(norm.isf(p), rel=1e-9, abs=1e-9)
    assert NORMAL.inv_cdf(p) == pytest.approx(norm.ppf(p), rel=1e-9, abs=1e-9)


@given(st.floats(-6, 6))
def test_the_upper_tail_is_scipys(z: float) -> None:
    assert upper_tail(z) == pytest.approx(norm.sf(z), rel=1e-6)


@given(st.integers(0, 80), st.integers(1, 80), st.sampled_from([0.5, 0.05, 0.3]))
def test_the_binomial_distribution_is_scipys(k: int, n: int, p: float) -> None:
    assert binomial_cdf(k, n, p) == pytest.approx(binom.cdf(k, n, p), rel=1e-9, abs=1e-12)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40))
def test_tied_values_share_the_mean_of_their_ranks(values: list[int]) -> None:
    array = np.asarray(values, dtype=np.float64)
    assert midranks(array).tolist() == rankdata(array).tolist()
