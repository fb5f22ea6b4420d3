"""Goals against measured figures, and what the benches of uploads make of runs."""

import math
from pathlib import Path

import pytest
from benches.goals import Goal, Measured, goals_table
from benches.uploads import iperf, race, sinks

from photofinish.contest.loading import load_suite

WIDE = Measured(1.1, 0.9, 1.3)


def test_a_ratio_is_paired_by_round() -> None:
    found = Measured.of_pairs([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    assert found is not None
    assert found.value == pytest.approx(2.0)


def test_six_rounds_are_the_fewest_with_an_interval() -> None:
    five, six = (Measured.of_logs([math.log(2)] * rounds) for rounds in (5, 6))
    assert five is not None
    assert six is not None
    assert five.low is None
    assert six.low == pytest.approx(2.0)


def test_no_round_has_no_ratio() -> None:
    assert Measured.of_logs([]) is None


def test_figures_of_other_rounds_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="zip"):
        Measured.of_pairs([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("goal", "outcome"),
    [
        (Goal("most", 1.2, Measured(1.2)), "met"),
        (Goal("most", 1.2, Measured(1.21)), "**missed**"),
        (Goal("below", 1.0, Measured(1.0), below=True), "**missed**"),
        (Goal("below", 1.0, Measured(0.99), below=True), "met"),
        (Goal("least", 0.9, Measured(0.9), at_least=True), "met"),
        (Goal("least", 0.9, Measured(0.89, 0.8, 0.899), at_least=True), "**missed**"),
        (Goal("most", 1.2, WIDE), "met, but the interval holds the bound"),
        (Goal("most", 1.0, WIDE), "**missed**, but the interval holds the bound"),
        (Goal("most", 1.4, WIDE), "met"),
        (Goal("most", 1.0, None), "not measured"),
    ],
)
def test_a_goal_is_met_or_missed_by_what_was_measured(goal: Goal, outcome: str) -> None:
    assert goal.outcome() == outcome
    assert goals_table([goal]).endswith(f"| {outcome} |")


def test_a_sink_is_compared_with_the_plain_receive_of_the_same_sender() -> None:
    seen = {
        (sender, sink): [sinks.Cost(1.0 if sink == sinks.BASE else 0.5, 1.5) for _ in range(6)]
        for sender in sinks.SENDERS
        for sink in ("recv MSG_TRUNC, 64 KiB", sinks.BASE)
    }
    lines = sinks.text(seen).splitlines()
    assert sum("0.500 [0.500, 0.500] | 0.800 [0.800, 0.800] |" in line for line in lines) == len(sinks.SENDERS)
    assert sum(line.endswith("| 1 | 1 |") for line in lines) == len(sinks.SENDERS)


def test_iperf_is_read_at_its_receiving_end() -> None:
    end = {
        "sum_received": {"bytes": 2000, "seconds": 0.5},
        "sum_sent": {"bytes": 2000, "seconds": 0.1, "retransmits": 3},
    }
    assert iperf.read_iperf({"end": end}, 2000) == iperf.Run(4000.0, 3)


def test_an_iperf_that_received_too_little_is_no_run() -> None:
    end = {"sum_received": {"bytes": 1799, "seconds": 0.5}, "sum_sent": {}}
    with pytest.raises(SystemExit, match="1799 of 2000"):
        iperf.read_iperf({"end": end}, 2000)


@pytest.mark.parametrize(("speed", "outcome"), [(0.95, "met"), (0.85, "**missed**")])
def test_the_pair_is_held_against_iperf(speed: float, outcome: str) -> None:
    runs = {iperf.OURS: [iperf.Run(speed * 1e9)] * 6, iperf.IPERF: [iperf.Run(1e9, 2)] * 6}
    runs[iperf.ZEROCOPY] = runs[iperf.IPERF]
    found = iperf.goal_rows({100 << 20: runs})
    assert [goal.outcome() for goal in found] == [outcome, outcome]


def row(entry: str, cost: float, **other: Measured | float) -> race.Row:
    known = {
        "to_limit": None,
        "to_pipe": None,
        "origin": None,
        "origin_to_it": None,
        "allocations": None,
        "allocated": None,
    }
    return race.Row(entry=entry, cost=cost, **{**known, **other})  # type: ignore[arg-type]


def test_the_goals_of_a_race_are_read_from_its_rows() -> None:
    ours = row(race.OURS, 0.12, to_limit=Measured(1.1), to_pipe=Measured(0.4), allocations=64.0, allocated=10241.0)
    fastest = row(race.LIMIT, 0.11, origin_to_it=Measured(0.5))
    outcomes = [goal.outcome() for goal in race.goals({race.LARGEST: [fastest, ours]})]
    assert outcomes == ["met", "**missed**", "met", "**missed**"]
    assert [goal.outcome() for goal in race.origin_goals({race.LARGEST: [fastest, ours]})] == ["met"]
    assert [goal.outcome() for goal in race.origin_goals({race.LARGEST: [ours]})] == ["not measured"]


def test_a_column_that_nobody_has_a_figure_for_is_left_out() -> None:
    assert "origin" not in race.cell_table([row(race.LIMIT, 0.11, allocations=2.0)])
    assert "origin" in race.cell_table([row(race.LIMIT, 0.11, origin=0.1), row(race.OURS, 0.12)])


def test_the_suite_with_a_sleeping_origin_is_the_suite_but_for_that(tmp_path: Path) -> None:
    ours, other = load_suite("uploads"), load_suite(race.sleeping(tmp_path))
    assert other.parameters == {**ours.parameters, "origin_spins": False, "instruments": False}
    assert (other.cells, other.metrics, other.contestants) == (ours.cells, ours.metrics, ours.contestants)


def test_what_a_race_did_not_yield_is_not_measured() -> None:
    assert {goal.outcome() for goal in race.goals({race.LARGEST: []})} == {"not measured"}
    assert {goal.outcome() for goal in race.origin_goals({race.LARGEST: []})} == {"not measured"}


def test_no_allocation_at_all_keeps_to_the_goal() -> None:
    ours = row(race.OURS, 0.12, allocations=0.0, allocated=0.0)
    outcomes = [goal.outcome() for goal in race.goals({race.LARGEST: [ours]})]
    assert outcomes[-2:] == ["met", "met"]
