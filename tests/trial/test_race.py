"""The course of a race, with a driver and a store that measure and keep nothing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from photofinish.contest.plan import Plan
from photofinish.errors import EnvironmentError_, InputError
from photofinish.store.records import Race, Round, Run, Void
from photofinish.testbed.cores import divide_mine
from photofinish.testbed.stop import StopFlag
from photofinish.trial.driver import Report, RoundTask, load_driver
from photofinish.trial.race import Progress, Workshop, round_seed, run_race
from tests import factories


class Memory:
    """A store of one run."""

    def __init__(self, plan: Plan) -> None:
        self.race = Race(Run("r", "2026-01-01T00:00:00+00:00", plan, {}, "running", "test"), ())

    def begin(self, run: Run) -> None:
        self.race = Race(run, ())

    def add_round(self, run_id: str, round: Round, /) -> None:  # noqa: A002
        assert run_id == "r"
        self.race = replace(self.race, rounds=(*self.race.rounds, round))

    def finish(self, run_id: str, status: str) -> None:
        assert run_id == "r"
        self.race = replace(self.race, run=replace(self.race.run, status=status))

    def load(self, run_id: str) -> Race:
        assert run_id == "r"
        return self.race


class Script:
    """A driver that does as the test says."""

    needs_engine = False

    def __init__(self, act: Callable[[RoundTask], Void | None] = lambda _: None) -> None:
        self.act = act

    def check(self, plan: Plan) -> None:
        assert plan

    def expected_s(self, plan: Plan) -> float:
        return 10.0 * len(plan.cells)

    def run_round(self, task: RoundTask, report: Report) -> Round:
        report("act", None)
        void = self.act(task)
        return Round(task.index, task.seed, "2026-01-01T00:00:00+00:00", 2.0, (), void=void)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path, None, divide_mine(), {})


def plan(**changes: object) -> Plan:
    return factories.plan(["nginx", "hyper"]).model_copy(update={"rounds": 3, **changes})


def test_a_race_makes_its_rounds_with_seeds_of_their_own(workshop: Workshop) -> None:
    store = Memory(plan(seed=11))
    assert run_race(store, "r", workshop, driver=Script()) == "finished"
    assert [(each.index, each.seed) for each in store.race.rounds] == [(n, round_seed(11, n)) for n in range(3)]
    assert len({each.seed for each in store.race.rounds}) == 3
    assert store.race.run.status == "finished"


def test_void_rounds_are_made_up_for_without_a_look_at_the_outcome(workshop: Workshop) -> None:
    store = Memory(plan())
    script = Script(lambda task: Void("interference", "x") if task.index in {0, 2} else None)
    assert run_race(store, "r", workshop, driver=script) == "finished"
    assert [each.void is None for each in store.race.rounds] == [False, True, False, True, True]


def test_a_race_on_a_hopeless_machine_comes_to_an_end(workshop: Workshop) -> None:
    store = Memory(plan())
    assert run_race(store, "r", workshop, driver=Script(lambda _: Void("interference", "x"))) == "finished"
    assert len(store.race.rounds) == 6


def test_an_error_keeps_the_finished_rounds_and_can_be_resumed(workshop: Workshop) -> None:
    store = Memory(plan())

    def fail_in_the_second(task: RoundTask) -> None:
        if task.index == 1:
            raise EnvironmentError_("the disk is full; free some space")

    with pytest.raises(EnvironmentError_, match="disk is full"):
        run_race(store, "r", workshop, driver=Script(fail_in_the_second))
    assert store.race.run.status == "interrupted"
    assert len(store.race.rounds) == 1
    assert run_race(store, "r", workshop, driver=Script()) == "finished"
    assert [each.index for each in store.race.rounds] == [0, 1, 2]


def test_a_flag_that_is_set_before_the_race_stops_it_before_its_first_round(workshop: Workshop) -> None:
    store = Memory(plan())
    stop = StopFlag()
    stop.set()
    assert run_race(store, "r", workshop, stop=stop, driver=Script()) == "interrupted"
    assert store.race.rounds == ()


def test_the_time_that_is_left_comes_from_the_plan_first_and_then_from_finished_rounds(workshop: Workshop) -> None:
    store = Memory(plan())
    seen: list[Progress] = []
    run_race(store, "r", workshop, driver=Script(), progress=seen.append)
    cells = len(store.race.run.plan.cells)
    assert [each.eta_s for each in seen] == [30.0 * cells, 4.0, 2.0]
    assert [round(each.done, 2) for each in seen] == [0, 0.33, 0.67]
    assert [each.round for each in seen] == [1, 2, 3]


def test_a_budget_ends_a_race_that_runs_until_decided_but_never_before_its_first_round(workshop: Workshop) -> None:
    store = Memory(plan(until_decided=True, rounds=60, budget_s=5.0))
    assert run_race(store, "r", workshop, driver=Script()) == "finished"
    assert len(store.race.rounds) >= 1
    earlier = Memory(plan(until_decided=True, rounds=60, budget_s=5.0))
    earlier.race = replace(earlier.race, rounds=(replace(store.race.rounds[0], duration_s=6.0),))
    assert run_race(earlier, "r", workshop, driver=Script()) == "finished"
    assert len(earlier.race.rounds) == 1


def test_a_race_until_decided_goes_on_while_a_look_decides_nothing(workshop: Workshop) -> None:
    store = Memory(plan(until_decided=True, rounds=12))
    notes: list[str] = []
    run_race(store, "r", workshop, driver=Script(), progress=lambda each: notes.append(each.note))
    assert len(store.race.rounds) == 12  # rounds without trials decide nothing
    assert any(note.startswith("undecided after") for note in notes) or len(set(notes)) == 1


def test_a_race_is_not_continued_on_another_machine_or_with_another_build(workshop: Workshop) -> None:
    store = Memory(plan())
    builds = {"nginx": {"folder": "/builds/nginx-0123456789abcdef"}}
    environment = {"kernel": "0.0.1", "builds": builds}
    store.race = replace(store.race, run=replace(store.race.run, environment=environment))
    assert run_race(store, "r", workshop, driver=Script()) == "finished"
    store.race = replace(store.race, rounds=store.race.rounds[:1])
    with pytest.raises(InputError, match=r"other circumstances \(kernel, the build of nginx\); start a new race"):
        run_race(store, "r", workshop, driver=Script())


def test_two_races_do_not_measure_each_other(workshop: Workshop) -> None:
    inner = Memory(plan())

    def start_another(task: RoundTask) -> None:
        assert task.index == 0
        run_race(inner, "r", workshop, driver=Script())

    with pytest.raises(EnvironmentError_, match="another race is running here"):
        run_race(Memory(plan()), "r", workshop, driver=Script(start_another))


def test_unknown_drivers_are_told_and_any_class_can_be_one() -> None:
    with pytest.raises(InputError, match="known are command, turns, visit"):
        load_driver("vist")
    with pytest.raises(InputError, match="no_such_module"):
        load_driver("no_such_module:Driver")
    assert isinstance(load_driver("tests.trial.test_race:Script"), Script)


def test_an_error_after_the_wish_to_stop_is_that_wish(workshop: Workshop) -> None:
    store, stop = Memory(plan()), StopFlag()

    def act(task: RoundTask) -> None:
        if task.index == 1:  # as when Ctrl-C has ended a child that the round needs
            stop.set()
            raise EnvironmentError_("the origin does not answer")

    assert run_race(store, "r", workshop, stop=stop, driver=Script(act)) == "interrupted"
    assert len(store.race.rounds) == 1


def test_a_round_knows_how_many_before_it_count(workshop: Workshop) -> None:
    store = Memory(plan(rounds=2))
    seen: list[int] = []

    def act(task: RoundTask) -> Void | None:
        seen.append(task.counted)
        return Void("interference", "noise") if task.index == 0 else None

    assert run_race(store, "r", workshop, driver=Script(act)) == "finished"
    assert seen == [0, 0, 1]
