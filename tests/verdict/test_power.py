"""Rounds and detectable effects against the formula, the exact distribution and simulation."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from photofinish.verdict.effects import effect
from photofinish.verdict.power import detectable_shift, fewest_rounds, minimum_detectable_effect, rounds_needed


@pytest.mark.parametrize(("pairs", "rounds"), [(0, 6), (1, 6), (3, 7), (28, 11), (36, 11), (45, 11), (190, 13)])
def test_fewest_rounds_are_the_first_that_holm_can_be_satisfied_with(pairs: int, rounds: int) -> None:
    assert fewest_rounds(pairs, 0.05) == rounds
    assert 2.0 ** (1 - rounds) <= 0.05 / max(1, pairs) < 2.0 ** (2 - rounds)


def test_an_impossible_alpha_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        fewest_rounds(1, 0.0)


def test_a_spread_of_3_percent_needs_18_rounds_for_2_percent() -> None:
    assert rounds_needed(0.03, 0.02) == 18


def test_rounds_needed_are_never_fewer_than_can_decide() -> None:
    assert rounds_needed(0.0001, 0.02, pairs=36) == fewest_rounds(36, 0.05)


def test_at_the_fewest_rounds_the_shift_is_that_of_all_signs_alike() -> None:
    """P(all six of N(e, 1) above zero) = Φ(e)⁶ = 0.8."""
    exact = float(norm.ppf(0.8 ** (1 / 6)))
    found = detectable_shift(6, 0.05)
    assert found == pytest.approx(exact, rel=0.03)


def test_with_many_rounds_the_shift_nears_the_normal_formula() -> None:
    found = detectable_shift(60, 0.05)
    assert found is not None
    assert found == pytest.approx((1.96 + 0.8416) / math.sqrt(60) * math.sqrt(math.pi / 3), rel=0.06)


def test_what_cannot_be_attained_has_no_detectable_effect() -> None:
    assert detectable_shift(5, 0.05) is None
    assert minimum_detectable_effect(0.01, 6, delta=0.01, pairs=36, alpha=0.05) is None


def test_an_effect_of_the_stated_size_wins_four_times_in_five() -> None:
    stated = minimum_detectable_effect(0.004, 11, delta=0.01, pairs=1, alpha=0.05)
    assert stated is not None
    d = np.random.default_rng(11).normal(math.log1p(stated), 0.004, (1200, 11))
    lows = [effect(row, 0.05).low or -1.0 for row in d]
    won = np.mean([low > math.log1p(0.01) for low in lows])
    assert won == pytest.approx(0.8, abs=0.05)
