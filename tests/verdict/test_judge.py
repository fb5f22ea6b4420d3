"""Whole races with a known truth."""

import math
from dataclasses import replace

import numpy as np
import pytest

from photofinish.contest.suite import Metric
from photofinish.store.records import Void
from photofinish.verdict.judge import judge
from photofinish.verdict.model import MetricVerdict, RaceVerdict
from tests import factories
from tests.verdict.synthetic import COST, entry, race

FIELD = (entry("a"), entry("b"), entry("c"), entry("a~twin", twin_of="a"), entry("limit", reference=True))


def _logs(seed: int, rounds: int, effects: dict[str, float], spread: float = 0.003) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    drift = random.normal(0, 0.05, rounds)
    return {name: effect + drift + random.normal(0, spread, rounds) for name, effect in effects.items()}


TRUTH = {"a": 1.0, "b": 1.001, "c": 1.10, "a~twin": 1.0, "limit": 0.5}


def _headline(verdict: RaceVerdict) -> MetricVerdict:
    return next(metric for metric in verdict.cells[0].metrics if metric.headline)


def _outcomes(metric: MetricVerdict) -> dict[tuple[str, str], str]:
    return {(pair.a, pair.b): pair.outcome for pair in metric.pairs}


def test_a_clear_loser_loses_and_the_equal_are_tied() -> None:
    verdict = judge(race(FIELD, _logs(1, 12, TRUTH)))
    found = _headline(verdict)
    assert _outcomes(found) == {("a", "b"): "tie", ("a", "c"): "a-wins", ("b", "c"): "a-wins"}
    assert found.top_set == ("a", "b")
    assert found.delta == 0.01
    assert verdict.decided
    assert found.note == "Every pair in the top set is tied: the differences lie within ±1 %."


def test_neither_the_reference_nor_the_second_twin_is_ever_judged() -> None:
    found = _headline(judge(race(FIELD, _logs(1, 12, TRUTH))))
    assert {name for pair in found.pairs for name in (pair.a, pair.b)} == {"a", "b", "c"}
    assert {estimate.entry for estimate in found.estimates} == {one.id for one in FIELD}


def test_the_twin_stands_apart_with_its_spread_and_floor() -> None:
    verdict = judge(race(FIELD, _logs(1, 12, TRUTH)))
    (twin,) = verdict.twins
    assert (twin.a, twin.b, twin.rejected) == ("a", "a~twin", False)
    assert twin.spread == pytest.approx(0.003 * math.sqrt(2), rel=0.5)
    floor = _headline(verdict).floor
    assert floor is not None
    assert 0 < floor < 0.01


def test_higher_is_better_turns_the_outcome_and_the_share_round() -> None:
    metric = COST.model_copy(update={"better": "higher"})
    found = _headline(judge(race(FIELD, _logs(1, 12, TRUTH), metric=metric)))
    assert _outcomes(found)["a", "c"] == "b-wins"
    assert found.top_set == ("c",)
    share = next(e.share_of_reference for e in found.estimates if e.entry == "c")
    assert share == pytest.approx(math.exp(0.6), rel=0.02)


def test_the_ratio_is_b_over_a_with_a_bootstrap_beside_it() -> None:
    pair = _headline(judge(race(FIELD, _logs(1, 12, TRUTH)))).pairs[1]
    assert pair.ratio == pytest.approx(math.exp(0.1), rel=0.005)
    assert pair.low is not None
    assert pair.high is not None
    assert pair.bootstrap_low == pytest.approx(pair.low, rel=0.003)
    assert pair.bootstrap_high == pytest.approx(pair.high, rel=0.003)
    assert pair.p == pytest.approx(2.0**-11)
    assert pair.p_adjusted == pytest.approx(3 * 2.0**-11)


def test_too_few_rounds_decide_nothing_and_say_how_many_it_takes() -> None:
    verdict = judge(race(FIELD, _logs(1, 5, TRUTH)))
    found = _headline(verdict)
    assert set(_outcomes(found).values()) == {"undecided"}
    assert found.note == "With 5 rounds no winner can be named among 3 pairs: it takes 7."
    assert all(pair.minimum_detectable_effect is None for pair in found.pairs)
    assert not verdict.decided


def test_a_noisy_race_is_undecided_and_says_about_how_many_rounds_it_needs() -> None:
    found = _headline(judge(race(FIELD, _logs(3, 12, {**TRUTH, "c": 1.01}, spread=0.02))))
    assert "undecided" in _outcomes(found).values()
    assert found.note is not None
    assert "rounds would tell" in found.note


def test_twins_that_differ_make_the_whole_race_noise_limited() -> None:
    verdict = judge(race(FIELD, _logs(1, 12, {**TRUTH, "a~twin": 1.05})))
    found = _headline(verdict)
    assert verdict.twins[0].rejected
    assert found.noise_limited
    assert found.floor == pytest.approx(math.expm1(0.05), rel=0.1)
    assert _outcomes(found)["a", "c"] == "noise-limited"
    assert found.top_set == ("a", "b", "c")
    assert found.note is not None
    assert found.note.startswith("The twins")
    assert not verdict.decided


def test_a_void_trial_costs_its_own_pairs_one_round() -> None:
    logs = _logs(1, 12, TRUTH)
    logs["b"][4] = math.nan
    verdict = judge(race(FIELD, logs))
    assert [pair.rounds for pair in _headline(verdict).pairs] == [11, 12, 11]
    assert [(v.entry, v.code, v.count, v.example) for v in verdict.voids] == [("b", "status", 1, "answered 503")]
    assert next(e.voids for e in _headline(verdict).estimates if e.entry == "b") == {"status": 1}


def test_a_void_round_counts_for_nobody_and_is_counted() -> None:
    raced = race(FIELD, _logs(1, 12, TRUTH))
    broken = replace(raced.rounds[3], void=Void("interference", "stolen"))
    verdict = judge(replace(raced, rounds=(*raced.rounds[:3], broken, *raced.rounds[4:])))
    assert verdict.rounds_counted == 11
    assert {pair.rounds for pair in _headline(verdict).pairs} == {11}
    assert [(v.entry, v.cell, v.code) for v in verdict.voids] == [(None, None, "interference")]


def test_an_entry_without_any_round_that_counts_has_no_data_and_is_in_no_top_set() -> None:
    found = _headline(judge(race(FIELD, {**_logs(1, 12, TRUTH), "c": np.full(12, math.nan)})))
    assert _outcomes(found) == {("a", "b"): "tie", ("a", "c"): "no-data", ("b", "c"): "no-data"}
    assert found.top_set == ("a", "b")


def test_a_metric_that_is_not_judged_has_estimates_and_no_pairs() -> None:
    shown = Metric(name="cost", title="cost", unit="µs", headline=True, judged=False)
    found = _headline(judge(race(FIELD, _logs(1, 12, TRUTH), metric=shown)))
    assert (found.pairs, found.top_set, found.note) == ((), (), None)
    assert all(estimate.value is not None for estimate in found.estimates)


def test_whole_process_suites_are_judged_with_the_wider_delta() -> None:
    raced = race(FIELD, _logs(1, 12, TRUTH), suite=factories.suite(alternating=False))
    assert _headline(judge(raced)).delta == 0.02


def test_the_same_race_gives_the_same_verdict_byte_for_byte() -> None:
    raced = factories.race(rounds=8)
    assert judge(raced).model_dump_json(by_alias=True) == judge(raced).model_dump_json(by_alias=True)


def test_the_order_of_the_stored_rounds_does_not_matter() -> None:
    raced = factories.race(rounds=8)
    turned = replace(raced, rounds=raced.rounds[::-1])
    assert judge(turned).cells == judge(raced).cells


def test_a_race_without_any_round_is_a_verdict_without_data() -> None:
    raced = replace(factories.race(rounds=2), rounds=())
    verdict = judge(raced)
    assert verdict.rounds_counted == 0
    assert {pair.outcome for cell in verdict.cells for m in cell.metrics for pair in m.pairs} == {"no-data"}


def test_identical_contestants_get_a_winner_far_less_often_than_alpha_allows() -> None:
    entries = (entry("a"), entry("b"), entry("c"), entry("a~twin", twin_of="a"))
    truth = dict.fromkeys(("a", "b", "c", "a~twin"), 0.0)
    named = 0
    for seed in range(120):
        raced = race(entries, _logs(seed, 7, truth, spread=0.02))
        named += any(pair.outcome in {"a-wins", "b-wins"} for pair in _headline(judge(raced)).pairs)
    assert named <= 10


def test_two_percent_is_found_at_the_spread_of_alternating_windows() -> None:
    entries = (entry("a"), entry("b"), entry("a~twin", twin_of="a"))
    truth = {"a": 0.0, "b": math.log(1.02), "a~twin": 0.0}
    lost = sum(
        _headline(judge(race(entries, _logs(seed, 10, truth, spread=0.003)))).pairs[0].outcome == "a-wins"
        for seed in range(60)
    )
    assert lost >= 57


def test_a_win_that_lies_within_the_noise_floor_says_so() -> None:
    logs = _logs(1, 12, {**TRUTH, "b": 1.03, "c": 1.5, "a~twin": 1.0})
    logs["a~twin"] = logs["a~twin"] + np.tile((0.06, -0.055), 6)
    found = _headline(judge(race(FIELD, logs)))
    assert found.delta > 0.03
    assert not found.noise_limited
    assert _outcomes(found)["a", "b"] == "noise-limited"
    assert found.note is not None
    assert "within the noise floor of the twins" in found.note


@pytest.mark.parametrize(("figure", "told"), [("cost", ["too-few-requests"]), ("unshown", [])])
def test_only_figures_that_the_cell_shows_are_counted_as_lost(figure: str, told: list[str]) -> None:
    raced = race(FIELD, _logs(1, 12, TRUTH))
    first = raced.rounds[0]
    lost = replace(first.trials[0], voided_figures={figure: "too-few-requests"})
    verdict = judge(replace(raced, rounds=(replace(first, trials=(lost, *first.trials[1:])), *raced.rounds[1:])))
    assert [void.code for void in verdict.voids] == told


def test_who_a_cell_is_not_for_is_in_none_of_its_pairs_and_no_loss() -> None:
    race = factories.race()
    out = race.run.plan.entries[1].id
    void = Void("not-capable", "it speaks http/1.1, not h2")
    rounds = tuple(
        replace(one, trials=tuple(replace(t, void=void, windows=()) if t.entry == out else t for t in one.trials))
        for one in race.rounds
    )
    before, after = judge(race), judge(replace(race, rounds=rounds))
    assert [each.entry for each in after.cells[0].aside] == [out]
    for metric in after.cells[0].metrics:
        assert out not in {estimate.entry for estimate in metric.estimates}
        assert all(out not in (pair.a, pair.b) for pair in metric.pairs)
    assert out in {estimate.entry for estimate in before.cells[0].metrics[0].estimates}
    assert not [loss for loss in after.voids if loss.entry == out]


def test_nobody_stands_aside_where_everybody_can_take_part() -> None:
    race = factories.race()
    assert all(cell.aside == () for cell in judge(race).cells)
