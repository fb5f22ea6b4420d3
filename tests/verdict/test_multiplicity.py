"""Holm and Benjamini–Hochberg against worked examples."""

import numpy as np
import pytest

from photofinish.verdict.multiplicity import benjamini_hochberg, holm

BH_1995 = [
    0.0001,
    0.0004,
    0.0019,
    0.0095,
    0.0201,
    0.0278,
    0.0298,
    0.0344,
    0.0459,
    0.3240,
    0.4262,
    0.5719,
    0.6528,
    0.7590,
    1.0,
]
"""The fifteen p values of Benjamini & Hochberg (1995), section 4.2."""


def test_holm_steps_down_and_keeps_the_order_given() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_1995_example_yields_four_discoveries_where_bonferroni_yields_three() -> None:
    assert sum(p <= 0.05 for p in benjamini_hochberg(BH_1995)) == 4
    assert sum(p <= 0.05 for p in holm(BH_1995)) == 3


def test_benjamini_hochberg_multiplies_by_m_over_rank_and_never_decreases() -> None:
    assert benjamini_hochberg([0.01, 0.02, 0.03, 0.5]) == pytest.approx([0.04, 0.04, 0.04, 0.5])


def test_no_adjusted_value_exceeds_one_or_falls_below_its_own_p() -> None:
    p = np.random.default_rng(1).random(40)
    for adjusted in (holm(list(p)), benjamini_hochberg(list(p))):
        assert max(adjusted) <= 1
        assert (np.array(adjusted) >= p).all()


def test_nothing_adjusts_to_nothing() -> None:
    assert holm([]) == []
    assert benjamini_hochberg([]) == []


def test_holm_keeps_the_rate_of_any_false_winner_below_alpha() -> None:
    p = np.random.default_rng(4).random((2000, 28))
    assert np.mean([min(holm(list(row))) <= 0.05 for row in p]) < 0.065
