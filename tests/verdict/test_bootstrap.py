"""The BCa cross-check."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from photofinish.verdict.bootstrap import bca_interval
from photofinish.verdict.effects import hodges_lehmann


def test_the_same_seed_gives_the_same_interval() -> None:
    d = np.random.default_rng(1).normal(0.02, 0.01, 12)
    assert bca_interval(d, 0.05, 9) == bca_interval(d, 0.05, 9)


def test_it_agrees_with_the_bca_of_scipy() -> None:
    d = np.random.default_rng(2).normal(0.02, 0.01, 15)
    low, high = bca_interval(d, 0.05, 9) or (0.0, 0.0)
    theirs = bootstrap(
        (d,), lambda x, axis: hodges_lehmann(np.moveaxis(x, axis, -1)), n_resamples=1999, method="BCa", rng=1
    ).confidence_interval
    assert low == pytest.approx(theirs.low, abs=0.0015)
    assert high == pytest.approx(theirs.high, abs=0.0015)


def test_four_rounds_are_not_worth_resampling() -> None:
    assert bca_interval(np.array([0.1, 0.2, 0.3, 0.4]), 0.05, 1) is None


def test_rounds_that_agree_to_the_last_digit_have_an_interval_of_no_width() -> None:
    assert bca_interval(np.full(8, 0.01), 0.05, 1) == pytest.approx((0.01, 0.01))
