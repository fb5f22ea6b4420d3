"""A suite of shell commands, wholly defined here, from its files to its report."""

import hashlib
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import InputError
from photofinish.report import markdown
from photofinish.store import Store
from photofinish.store.records import Race, Trial
from photofinish.testbed.counters import Counters
from photofinish.testbed.environment import package_version
from photofinish.testbed.stop import StopFlag
from photofinish.trial.race import Progress, Workshop, begin, prepare, run_race
from photofinish.verdict.judge import judge
from tests.contestants import write_contestant, write_suite

QUIET = "bounds = { foreign = 1.0, steal = 1.0 }"
"""These tests run beside others."""
COUNT = "i=0; while [ $i -lt {times} ]; do i=$((i+1)); done; echo done"


def count_to(times: int) -> list[str]:
    return ["sh", "-c", COUNT.replace("{times}", str(times))]


def without_engine(workshop: Workshop) -> Workshop:
    """Commands need none."""
    return replace(workshop, engine=None)


def run(root: Path, *, parameters: str = "repetitions = 2", rounds: int = 1, stop: StopFlag | None = None) -> Race:
    suite = load_suite(write_suite(root, body=f"[cells.parameters]\n{QUIET}\n{parameters}", head="alternating = false"))
    plan = make_plan(suite, "quick", seed=5, rounds=rounds)
    workshop = without_engine(prepare(plan, load_all(suite), root / "work"))
    with Store.open(root / "store.sqlite") as store:
        begin(store, plan, workshop, "run-1")
        run_race(store, "run-1", workshop, stop=stop)
        return store.load("run-1")


def trial(race: Race, entry: str) -> Trial:
    return next(each for each in race.rounds[0].trials if each.entry == entry)


def void_code(race: Race, entry: str) -> str | None:
    void = trial(race, entry).void
    return void.code if void is not None else None


def test_a_suite_of_commands_goes_from_plan_to_report(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", count_to(2_000), more="[build]\nsteps = [['touch', '{build}/built']]")
    write_contestant(tmp_path, "slow", count_to(60_000))
    expected = hashlib.sha256(b"done\n").hexdigest()
    parameters = f"repetitions = 3\nwarmup = 1\nexpect = {{ stdout_bytes = 5, stdout_sha256 = '{expected}' }}"
    race = run(tmp_path, parameters=parameters, rounds=6)
    assert race.run.status == "finished"
    assert race.run.version == package_version()
    assert race.run.environment["builds"]["one"]["build_s"] > 0
    assert [each.void for each in race.rounds[0].trials] == [None, None, None]
    assert len(trial(race, "one").windows) == 3
    assert trial(race, "one").evidence["stdout_sha256"] == expected
    verdict = judge(race)
    metric = verdict.cells[0].metrics[0]
    assert metric.top_set == ("one",)
    pair = next(pair for pair in metric.pairs if not pair.is_twin)
    assert pair.ratio is not None
    assert pair.ratio > 2
    report = markdown.render(verdict)
    assert "Toys" in report
    assert "slow" in report


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 3", "exit-status"),
        ("kill -9 $$", "exit-status"),
        ("date +%N; echo $$", "wrong-output"),
        ("sleep 30", "timed-out"),
        ("sleep 30 & echo done", "leaked-children"),
        ("exec >&-; true", None),
        ("echo done", None),
    ],
)
def test_a_command_counts_only_if_it_did_what_it_claims(tmp_path: Path, script: str, code: str | None) -> None:
    write_contestant(tmp_path, "one", ["true"])
    write_contestant(tmp_path, "x", ["sh", "-c", script])
    timeout_s = 0.5 if code == "timed-out" else 60
    race = run(tmp_path, parameters=f"repetitions = 2\ntimeout_s = {timeout_s}")
    assert void_code(race, "x") == code, trial(race, "x").void
    assert void_code(race, "one") is None


def test_a_command_that_is_not_there_is_void_and_the_others_race(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", ["true"])
    write_contestant(tmp_path, "x", ["{build}/no-such-program"])
    race = run(tmp_path)
    assert void_code(race, "x") == "not-ready"
    assert void_code(race, "one~twin") is None


def test_stopping_gives_up_the_round_and_keeps_the_finished_ones_for_resuming(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", ["sleep", "0.05"])
    suite = load_suite(write_suite(tmp_path, body=f"[cells.parameters]\n{QUIET}\nrepetitions = 2"))
    plan = make_plan(suite, "quick", seed=5, rounds=3)
    workshop = without_engine(prepare(plan, load_all(suite), tmp_path / "work"))
    stop = StopFlag()

    def stop_in_the_second_round(progress: Progress) -> None:
        if progress.round == 2:
            threading.Timer(0.05, stop.set).start()

    with Store.open(tmp_path / "store.sqlite") as store:
        begin(store, plan, workshop, "run-1")
        assert run_race(store, "run-1", workshop, stop=stop, progress=stop_in_the_second_round) == "interrupted"
        first = store.load("run-1")
        assert (first.run.status, [each.index for each in first.rounds]) == ("interrupted", [0])
        assert run_race(store, "run-1", workshop) == "finished"
        second = store.load("run-1")
    assert [each.index for each in second.rounds] == [0, 1, 2]
    assert second.rounds[0] == first.rounds[0]
    assert second.run.status == "finished"


def test_a_round_beside_much_other_work_does_not_count(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", ["true"])
    counters = iter([Counters(0, 0, None, 1), Counters(10**15, 0, None, 1)] * 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("photofinish.trial.command.read_counters", lambda: next(counters))
        race = run(tmp_path)
    assert [each.void.code for each in race.rounds if each.void is not None] == ["interference", "interference"]


def test_wrong_parameters_are_told_before_anything_starts(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", ["true"])
    with pytest.raises(InputError, match=r"parameters\.repetitons"):
        run(tmp_path, parameters="repetitons = 2")
