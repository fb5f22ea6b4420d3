"""Williams designs: balance of positions and predecessors."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photofinish.contest.order import orders, start_order, williams


@given(st.integers(2, 25))
def test_everybody_stands_in_every_position_equally_often(k: int) -> None:
    rows = williams(k)
    assert len(rows) == (k if k % 2 == 0 else 2 * k)
    seen = Counter((position, each) for row in rows for position, each in enumerate(row))
    assert set(seen.values()) == {len(rows) // k}
    assert len(seen) == k * k


@given(st.integers(2, 25))
def test_everybody_follows_everybody_else_equally_often(k: int) -> None:
    rows = williams(k)
    seen = Counter(pair for row in rows for pair in pairwise(row))
    assert set(seen.values()) == {1 if k % 2 == 0 else 2}
    assert len(seen) == k * (k - 1)


@given(st.integers(1, 12), st.integers(0, 60), st.integers(0, 2**53))
def test_orders_are_permutations_and_the_same_for_the_same_seed(k: int, cycles: int, seed: int) -> None:
    made = orders(k, cycles, seed)
    assert len(made) == cycles
    assert all(sorted(row) == list(range(k)) for row in made)
    assert made == orders(k, cycles, seed)


@given(st.integers(2, 9), st.integers(0, 2**53))
def test_whole_designs_stay_balanced_under_drawn_labels(k: int, seed: int) -> None:
    whole = len(williams(k))
    seen = Counter(pair for row in orders(k, 3 * whole, seed) for pair in pairwise(row))
    assert len(set(seen.values())) == 1


def test_another_seed_gives_other_orders() -> None:
    assert orders(8, 8, 1) != orders(8, 8, 2)


def test_start_orders_run_through_the_same_design() -> None:
    assert [start_order(6, index, 3) for index in range(6)] == orders(6, 6, 3)


def test_nobody_cannot_be_put_in_an_order() -> None:
    with pytest.raises(ValueError, match="one at least"):
        williams(0)
