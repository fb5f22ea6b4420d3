import random
from datetime import UTC, datetime, timedelta

import pytest

from photofinish.errors import InputError
from photofinish.store.ids import new_run_id, resolve

IDS = ["20260301-1000-abc", "20260302-1100-abd", "20260302-1200-xyz"]


def test_ids_sort_by_time_and_are_short() -> None:
    chance = random.Random(1)  # noqa: S311 - reproducible
    start = datetime(2026, 11, 21, 21, 45, tzinfo=UTC)
    made = [new_run_id(start + timedelta(minutes=minute), chance) for minute in range(200)]
    assert made == sorted(made)
    assert made[0].startswith("20261121-2145-")
    assert all(len(run) == 17 for run in made)


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [("latest", 2), ("latest~0", 2), ("latest~2", 0), ("20260301", 0), ("20260302-11", 1), ("xyz", 2), (IDS[1], 1)],
)
def test_a_run_is_found_by_what_people_type(wanted: str, meant: int) -> None:
    assert resolve(wanted, IDS) == IDS[meant]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("20260302", "fits 2 runs: 20260302-1100-abd, 20260302-1200-xyz"),
        ("20260301-1000-abz", "near it: 20260301-1000-abc"),
        ("nonsense", "photofinish runs"),
        ("", "photofinish runs"),
        ("latest~3", "the oldest is latest~2"),
        ("latest~x", "latest~1"),
    ],
)
def test_what_is_unclear_names_the_candidates(wanted: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        resolve(wanted, IDS)


def test_an_empty_store_says_how_to_begin() -> None:
    with pytest.raises(InputError, match="photofinish race"):
        resolve("latest", [])
