"""The values of an axis compared, contestant by contestant."""

from dataclasses import replace

from photofinish.verdict.judge import judge
from photofinish.verdict.pivot import pivot
from tests.verdict.contrasts import CELLS, TRUTH, contrast_race


def test_each_trial_stands_under_its_value_and_its_contestant() -> None:
    race = contrast_race(rounds=1)
    turned = pivot(race, "coding")
    assert turned is not None
    assert turned.values == tuple(TRUTH)
    assert [group.id for group in turned.groups] == ["origin/1", "slow/1", "origin/64", "slow/64"]
    before = {(t.cell, t.entry): t.figures for t in race.rounds[0].trials}
    after = {(t.cell, t.entry): t.figures for t in turned.race.rounds[0].trials if t.void is None}
    assert after["slow/64", "gzip-6"] == before["64-gzip-6", "slow"]
    assert after["origin/1", "zstd-3~twin"] == before["1-zstd-3", "origin~twin"]
    assert len(after) == len(before)


def test_a_race_of_one_value_has_nothing_to_compare() -> None:
    race = contrast_race(rounds=2)
    plan = race.run.plan.model_copy(update={"cells": CELLS[:1]})
    assert pivot(replace(race, run=replace(race.run, plan=plan)), "coding") is None
    assert pivot(race, "colour") is None


def test_the_best_value_wins_with_each_contestant() -> None:
    verdict = judge(contrast_race())
    assert verdict.contrast is not None
    tops = {group.title: group.metrics[0].top_set for group in verdict.contrast.groups}
    assert tops == dict.fromkeys(
        ("origin, 1 records", "slow, 1 records", "origin, 64 records", "slow, 64 records"), ("zstd-3",)
    )


def test_contestants_without_a_twin_are_judged_by_the_floor_of_those_that_have_one() -> None:
    verdict = judge(contrast_race(spread=0.02))
    assert verdict.contrast is not None
    floors = {group.title: group.metrics[0].floor for group in verdict.contrast.groups}
    assert all(floor is not None and floor > 0 for floor in floors.values())
    assert (floors["slow, 64 records"] or 0) >= (floors["origin, 64 records"] or 0)


def test_values_that_a_contestant_does_not_offer_stand_aside() -> None:
    verdict = judge(contrast_race(unable="gzip-6"))
    assert verdict.contrast is not None
    slow = next(group for group in verdict.contrast.groups if group.contestant == "slow")
    assert "gzip-6" in {each.entry for each in slow.aside}
    assert {each.entry for each in slow.metrics[0].estimates} == {"identity", "zstd-3"}


def test_equal_values_are_never_told_apart() -> None:
    same = dict.fromkeys(TRUTH, (100.0, 10.0, 9000.0))
    wins = 0
    for seed in range(20):
        race = contrast_race(seed=seed)
        level = {
            (cell.id, metric): same["identity"][place] / TRUTH[cell.axes["coding"]][place]
            for cell in CELLS
            for place, metric in enumerate(("time_us", "cpu_us", "wire_bytes"))
        }
        rounds = tuple(
            replace(
                one,
                trials=tuple(
                    replace(t, figures={n: (v or 0) * level[t.cell, n] for n, v in t.figures.items()})
                    for t in one.trials
                ),
            )
            for one in race.rounds
        )
        contrast = judge(replace(race, rounds=rounds)).contrast
        assert contrast is not None
        wins += sum(
            pair.outcome in {"a-wins", "b-wins"} for group in contrast.groups for pair in group.metrics[0].pairs
        )
    assert wins == 0
