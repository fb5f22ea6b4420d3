"""The decision table, row by row."""

import math
from typing import Literal

import pytest

from photofinish.verdict.effects import Effect
from photofinish.verdict.equivalence import Better, base_delta, outcome
from photofinish.verdict.model import Outcome


def _effect(low: float | None, high: float | None) -> Effect:
    middle = 0.0 if low is None or high is None else (math.log(low) + math.log(high)) / 2
    return Effect(middle, math.log(low) if low else None, math.log(high) if high else None, 0.001, 11, 0.01)


def _outcome(
    low: float | None,
    high: float | None,
    *,
    p: float = 0.01,
    delta: float = 0.01,
    better: Better = "lower",
    noisy: Literal[False, True] = False,
) -> Outcome:
    return outcome(_effect(low, high), p, alpha=0.05, base=0.01, delta=delta, better=better, noise_limited=noisy)


@pytest.mark.parametrize(
    ("low", "high", "better", "expected"),
    [
        (1.02, 1.04, "lower", "a-wins"),
        (1.02, 1.04, "higher", "b-wins"),
        (0.95, 0.97, "lower", "b-wins"),
        (0.95, 0.97, "higher", "a-wins"),
    ],
)
def test_the_side_with_the_better_figure_wins(low: float, high: float, better: Better, expected: Outcome) -> None:
    assert _outcome(low, high, better=better) == expected


def test_a_sure_difference_smaller_than_delta_is_a_tie() -> None:
    assert _outcome(1.002, 1.008, p=0.0001) == "tie"


def test_an_interval_across_the_edge_of_delta_is_undecided_however_small_p_is() -> None:
    assert _outcome(1.005, 1.02, p=0.0001) == "undecided"


def test_a_large_difference_without_significance_after_holm_is_undecided() -> None:
    assert _outcome(1.02, 1.04, p=0.06) == "undecided"


def test_a_win_that_only_the_twins_floor_takes_away_is_noise_limited_and_no_tie() -> None:
    assert _outcome(1.02, 1.03, delta=0.05) == "noise-limited"
    assert _outcome(0.99, 1.03, delta=0.05) == "tie"


def test_a_race_with_restless_twins_names_no_winner() -> None:
    assert _outcome(1.2, 1.3, noisy=True) == "noise-limited"


def test_without_an_interval_nothing_is_decided() -> None:
    assert _outcome(None, None) == "undecided"


def test_delta_means_the_same_in_both_directions() -> None:
    edge = 1.01 - 1e-9
    assert _outcome(1 / edge, edge) == "tie"
    assert _outcome(1 / edge - 1e-6, 1.0) == "undecided"
    assert _outcome(1.0, edge + 1e-6) == "undecided"


def test_whole_processes_are_judged_with_twice_the_delta_of_alternating_windows() -> None:
    assert base_delta(alternating=True) == 0.01
    assert base_delta(alternating=False) == 0.02
