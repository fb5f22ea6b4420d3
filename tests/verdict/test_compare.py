"""Two races at different times."""

import math

import numpy as np
import pytest

from photofinish.store.records import Race
from photofinish.verdict.compare import compare, regressions
from tests.verdict.synthetic import COST, entry, race

FIELD = (entry("a"), entry("b"), entry("a~twin", twin_of="a"), entry("limit", reference=True))


def _race(seed: int, *, machine: float = 0.0, b: float = 1.0, entries: tuple[str, ...] = ()) -> Race:
    random = np.random.default_rng(seed)
    field = tuple(one for one in FIELD if not entries or one.id in entries)
    truth = {"a": 1.0, "b": b, "a~twin": 1.0, "limit": 0.5}
    logs = {one.id: truth[one.id] + machine + random.normal(0, 0.004, 12) for one in field}
    return race(field, logs)


def test_a_slower_machine_is_no_regression_where_both_races_have_the_reference() -> None:
    found = compare(_race(1), _race(2, machine=0.3)).differences
    assert {(d.entry, d.change) for d in found} == {("a", "unproven"), ("b", "unproven"), ("limit", "regressed")}
    assert {d.basis for d in found if d.entry != "limit"} == {"share-of-reference"}


def test_a_contestant_that_got_dearer_has_regressed_and_one_that_got_cheaper_improved() -> None:
    before, after = _race(1), _race(2, machine=0.1, b=1.08)
    (b,) = [d for d in compare(before, after).differences if d.entry == "b"]
    assert b.change == "regressed"
    assert b.ratio == pytest.approx(math.exp(0.08), rel=0.01)
    (back,) = [d for d in compare(after, before).differences if d.entry == "b"]
    assert back.change == "improved"


def test_without_a_shared_reference_plain_figures_are_compared_and_the_basis_says_so() -> None:
    found = compare(_race(1, entries=("a", "b")), _race(2, b=1.08, entries=("a", "b"))).differences
    assert {d.basis for d in found} == {"figure"}
    assert [d.change for d in found] == ["unproven", "regressed"]


def test_entries_that_only_one_race_has_are_named() -> None:
    found = compare(_race(1, entries=("a", "b")), _race(2, entries=("a", "limit")))
    assert (found.only_before, found.only_after) == (("b",), ("limit",))
    assert "not paired" in found.caveat


def test_a_regression_is_proven_only_when_the_whole_interval_lies_beyond_the_bound() -> None:
    baseline, run = _race(1), _race(2, b=1.08)
    (proven,) = regressions(baseline, run, 0.05)
    assert proven.difference.entry == "b"
    assert 0.05 < proven.least_worsening < math.expm1(0.08)
    assert regressions(baseline, run, 0.08) == []


def test_where_higher_is_better_a_fall_is_the_regression() -> None:
    metric = COST.model_copy(update={"better": "higher"})
    random = np.random.default_rng(6)

    def throughput(level: float) -> Race:
        return race((entry("a"),), {"a": level + random.normal(0, 0.004, 12)}, metric=metric)

    fast, slow = throughput(2.0), throughput(1.9)
    assert [r.difference.entry for r in regressions(fast, slow, 0.05)] == ["a"]
    assert regressions(slow, fast, 0.05) == []


def test_the_same_figures_never_regress_however_small_the_bound() -> None:
    assert all(not regressions(_race(seed), _race(seed + 500), 0.0) for seed in range(10, 40))


def test_an_entry_without_rounds_that_count_has_no_data() -> None:
    empty = race((entry("a"),), {"a": np.full(12, math.nan)})
    (found,) = compare(empty, _race(2, entries=("a",))).differences
    assert (found.change, found.ratio, found.before) == ("no-data", None, None)
