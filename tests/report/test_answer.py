from collections.abc import Mapping

import pytest

from photofinish.report.answer import answers, joined, pair_against
from photofinish.report.tables import cell_tables
from photofinish.verdict.model import MetricVerdict, RaceVerdict
from tests.verdict_factory import verdict


def told(race: RaceVerdict) -> tuple[str, bool]:
    answer = answers(race)[0]
    return answer.sentence, answer.named


def changed(costs_us: Mapping[str, float], **changes: object) -> RaceVerdict:
    race = verdict(costs_us=costs_us)
    cells = tuple(
        cell.model_copy(update={"metrics": tuple(metric.model_copy(update=changes) for metric in cell.metrics)})
        for cell in race.cells
    )
    return race.model_copy(update={"cells": cells})


def with_outcomes(race: RaceVerdict, outcome: str) -> RaceVerdict:
    def settled(metric: MetricVerdict) -> MetricVerdict:
        return metric.model_copy(
            update={"pairs": tuple(p.model_copy(update={"outcome": outcome}) for p in metric.pairs)}
        )

    cells = tuple(cell.model_copy(update={"metrics": tuple(settled(m) for m in cell.metrics)}) for cell in race.cells)
    return race.model_copy(update={"cells": cells})


COSTS = {"limit": 3.9, "origin": 7.1, "nginx": 7.11, "node": 61.0}


def test_a_winner_is_told_with_its_figure_and_its_lead() -> None:
    sentence, named = told(verdict())
    assert sentence == "origin wins with 4.32 µs [4.29, 4.34] server CPU per request, 39.3 % less than nginx, the next."
    assert named


def test_a_tie_is_told_with_the_smallest_difference_that_counts() -> None:
    race = with_outcomes(changed(COSTS, top_set=("origin", "nginx")), "tie")
    sentence, named = told(race)
    assert sentence in {
        "origin and nginx tie at the top: no two of them differ by more than 1.0 %.",
        "nginx and origin tie at the top: no two of them differ by more than 1.0 %.",
    }
    assert named
    assert {row.standing for row in cell_tables(race)[0].rows} == {"limit", "twin", "tie", "beaten"}


def test_an_undecided_top_set_is_named_as_such() -> None:
    race = with_outcomes(changed(COSTS, top_set=("origin", "nginx")), "undecided")
    sentence, named = told(race)
    assert "are the top set: nobody beats them, and which of them is ahead is undecided." in sentence
    assert named


def test_nobody_is_named_if_nobody_is_beaten() -> None:
    race = with_outcomes(changed(COSTS, top_set=("origin", "nginx", "node")), "undecided")
    sentence, named = told(race)
    assert sentence.startswith("Nobody can be named: among ")
    assert not named


def test_nobody_is_named_in_a_noise_limited_race() -> None:
    race = changed(COSTS, noise_limited=True, top_set=(), floor=0.032)
    assert told(race) == (
        "Nobody can be named: the race is noise-limited (twins of one contestant differ by up to 3.2 %).",
        False,
    )
    assert "noise-limited" in {row.standing for row in cell_tables(race)[0].rows}


def test_nobody_is_named_without_figures() -> None:
    race = changed(COSTS, top_set=())
    cells = []
    for cell in race.cells:
        empty = [
            metric.model_copy(
                update={
                    "estimates": tuple(
                        e.model_copy(update={"value": None, "low": None, "high": None}) for e in metric.estimates
                    )
                }
            )
            for metric in cell.metrics
        ]
        cells.append(cell.model_copy(update={"metrics": tuple(empty)}))
    race = race.model_copy(update={"cells": tuple(cells)})
    assert told(race) == ("Nobody can be named: no entry has figures that count.", False)
    assert {row.standing for row in cell_tables(race)[0].rows} == {"void"}


def test_a_single_entry_has_nobody_to_beat() -> None:
    sentence, named = told(verdict(costs_us={"limit": 3.9, "origin": 4.3}))
    assert sentence.startswith("origin is the only entry with figures that count: 4.3")
    assert not named


def test_a_pair_reads_the_same_from_both_sides() -> None:
    metric = verdict().cells[0].metrics[0]
    forward, back = pair_against(metric, "nginx", "node"), pair_against(metric, "node", "nginx")
    assert forward is not None
    assert back is not None
    assert forward.ratio == pytest.approx(1 / (back.ratio or 0))
    assert forward.low == pytest.approx(1 / (back.high or 0))
    assert (forward.outcome, back.outcome) == ("a-wins", "b-wins")
    assert pair_against(metric, "nginx", "nobody") is None


def test_a_twin_stands_below_its_contestant_and_the_best_first() -> None:
    rows = [row.entry for row in cell_tables(verdict())[0].rows]
    assert rows[:3] == ["limit", "origin", "origin~twin"]
    assert rows[-1] == "node"


def test_names_are_joined_as_people_do() -> None:
    assert [joined(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
