import os

import pytest

from photofinish.testbed.cores import Cores, divide, pinned


@pytest.mark.parametrize(
    ("available", "workers", "contestants", "engine", "between"),
    [
        ([0], 1, (0,), (0,), ()),
        ([0, 1], 1, (1,), (0,), ()),
        ([0, 1], 4, (1,), (0,), ()),
        ([0, 1, 2, 3], 1, (3,), (0,), (1, 2)),
        ([2, 5, 7], 2, (5, 7), (2,), ()),
    ],
)
def test_the_first_core_drives_and_the_last_ones_serve(
    available: list[int], workers: int, contestants: tuple[int, ...], engine: tuple[int, ...], between: tuple[int, ...]
) -> None:
    assert divide(available, workers) == Cores(contestants, engine, between)


def test_the_origin_has_a_core_of_its_own_where_there_are_three() -> None:
    assert divide([0, 1, 2]).origin == (1,)
    assert divide([0, 1]).origin == (0,)


def test_a_lone_core_is_shared() -> None:
    assert divide([3]).shared
    assert not divide([0, 1]).shared


def test_pinning_lasts_as_long_as_its_block() -> None:
    before = os.sched_getaffinity(0)
    with pinned([min(before)]):
        assert os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before
