"""Races until decided: looks, shares of α, and an honest error rate."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from photofinish.store.records import Race, Void
from photofinish.verdict.effects import signed_rank_p
from photofinish.verdict.judge import judge
from photofinish.verdict.power import fewest_rounds
from photofinish.verdict.sequential import decided, looks
from photofinish.verdict.stages import judged_pairs, stage
from tests.verdict.synthetic import entry, plan, race

FIELD = (entry("a"), entry("b"), entry("a~twin", twin_of="a"))


def _race(seed: int, rounds: int, most: int, *, gap: float = 0.0, status: str = "running") -> Race:
    random = np.random.default_rng(seed)
    logs = {name: random.normal(0, 0.02, rounds) for name in ("a", "b", "a~twin")}
    logs["b"] = logs["b"] + gap
    return race(FIELD, logs, rounds=most, until_decided=True, status=status)


@pytest.mark.parametrize("contestants", [2, 3, 9])
@pytest.mark.parametrize("most", [6, 12, 30, 66, 200])
def test_looks_grow_by_half_from_the_first_that_can_decide_to_the_most_rounds(contestants: int, most: int) -> None:
    decided_plan = plan([entry(f"c{i}") for i in range(contestants)], rounds=most, until_decided=True)
    schedule = looks(decided_plan)
    assert schedule[-1] == most
    assert len(schedule) <= 5
    pairs = len(judged_pairs(decided_plan))
    if len(schedule) > 1:
        assert schedule[0] >= fewest_rounds(pairs, 0.05 / len(schedule))
        assert all(later >= 1.5 * earlier - 1 for earlier, later in pairwise(schedule))


def test_a_fixed_race_spends_all_of_alpha_on_all_its_rounds() -> None:
    fixed = _race(1, 10, 40)
    fixed = replace(fixed, run=replace(fixed.run, plan=fixed.run.plan.model_copy(update={"until_decided": False})))
    assert stage(fixed).share == 1.0
    assert len(stage(fixed).rounds) == 10


def test_a_race_that_is_judged_between_looks_is_judged_by_its_last_look() -> None:
    schedule = looks(_race(1, 10, 60).run.plan)
    between = _race(1, schedule[1] + 2, 60, status="interrupted")
    assert len(stage(between).rounds) == schedule[1]
    assert stage(between).share == pytest.approx(1 / len(schedule))


def test_a_race_whose_time_is_up_spends_what_its_looks_have_left() -> None:
    schedule = looks(_race(1, 10, 60).run.plan)
    over = _race(1, schedule[1] + 2, 60, status="finished")
    assert len(stage(over).rounds) == schedule[1] + 2
    assert stage(over).share == pytest.approx((len(schedule) - 2) / len(schedule))


def test_before_the_first_look_nothing_is_decided_however_clear() -> None:
    early = _race(1, 5, 60, gap=1.0)
    assert stage(early).share == 0.0
    verdict = judge(early)
    pair = verdict.cells[0].metrics[0].pairs[0]
    assert (pair.outcome, pair.low, pair.p_adjusted) == ("undecided", None, 1.0)
    assert pair.ratio == pytest.approx(np.e, rel=0.05)


def test_a_clear_difference_is_decided_at_the_first_look_with_p_multiplied_by_the_looks() -> None:
    schedule = looks(_race(1, 10, 60).run.plan)
    clear = _race(2, schedule[0], 60, gap=0.2, status="finished")
    assert decided(clear, schedule[0])
    pair = judge(clear).cells[0].metrics[0].pairs[0]
    assert pair.outcome == "a-wins"
    assert pair.p is not None
    assert pair.p_adjusted == pytest.approx(len(schedule) * pair.p)


def test_a_look_sees_only_the_rounds_up_to_it_and_only_those_that_count() -> None:
    schedule = looks(_race(1, 10, 60).run.plan)
    longer = _race(2, schedule[1], 60, gap=0.2)
    assert decided(longer, schedule[0])
    broken = replace(longer.rounds[0], void=Void("interference", "stolen"))
    with pytest.raises(ValueError, match="rounds that count"):
        decided(replace(longer, rounds=(broken, *longer.rounds[1 : schedule[0]])), schedule[0])


def test_a_number_of_rounds_that_is_no_look_is_refused() -> None:
    with pytest.raises(ValueError, match="no look of this plan"):
        decided(_race(1, 10, 60), 7)


def test_stopping_as_soon_as_a_winner_shows_keeps_the_rate_of_false_winners_below_alpha() -> None:
    """On identical contestants; the same looks without sharing α err about three times as often as α."""
    races = 1500
    schedule = looks(plan(FIELD, rounds=54, until_decided=True))
    d = np.random.default_rng(9).standard_t(3, (races, schedule[-1]))
    p = np.array([[signed_rank_p(row[:look]) for look in schedule] for row in d])
    honest = (p <= 0.05 / len(schedule)).any(axis=1).mean()
    naive = (p <= 0.05).any(axis=1).mean()
    assert honest <= 0.05
    assert naive > 0.1
