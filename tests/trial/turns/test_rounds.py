"""Real rounds: small uploaders that do something wrong, the native engine and its origin, loopback."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import EnvironmentError_, InputError
from photofinish.store import Store
from photofinish.store.records import Race, Trial
from photofinish.testbed.engine import engine_path
from photofinish.trial.race import begin, prepare, run_race
from photofinish.verdict.judge import judge
from tests.contestants import write_contestant, write_suite

UPLOADER = str(Path(__file__).with_name("uploader.py"))
DOWNLOADER = str(Path(__file__).with_name("downloader.py"))
PARAMETERS = """
bytes = 20000
window_ms = 3
cycles = 3
warmup_cycles = 2
repetition_timeout_s = 1
bounds = { foreign = 1.0, steal = 1.0, rest_void = 1.0 }
"""


def engine_is_able() -> bool:
    try:
        engine = engine_path()
    except EnvironmentError_:
        return False
    shown = subprocess.run([engine, "turns", "--help"], capture_output=True, check=False)
    return shown.returncode == 0 and b"turns" in shown.stdout


pytestmark = pytest.mark.skipif(not engine_is_able(), reason="the engine is not built: make build")


def race(root: Path, program: str, modes: list[str], *, more: str = "", direction: str = "upload") -> Race:
    """One round of one good contestant (and its twin) and those that misbehave."""
    for mode in modes:
        manifest = f"[ready]\ntimeout_s = {0.5 if mode == 'never-ready' else 20}\n[stop]\ntimeout_s = 0.5"
        name = "one" if mode == "good" else f"x-{mode}"
        write_contestant(root, name, ["{python}", program, mode], more=manifest)
    more = textwrap.dedent(more) if "instruments" in more else f"instruments = false\n{textwrap.dedent(more)}"
    body = f'[cells.parameters]\ndirection = "{direction}"\n{PARAMETERS}{more}'
    suite = load_suite(write_suite(root, driver="turns", body=body, denominator="requests"))
    plan = make_plan(suite, "quick", rounds=1, seed=1)
    workshop = prepare(plan, load_all(suite), root / "work")
    with Store.open(root / "store.sqlite") as store:
        begin(store, plan, workshop, "r1")
        assert run_race(store, "r1", workshop) == "finished"
        return store.load("r1")


def trials(race_: Race) -> dict[str, Trial]:
    (one,) = race_.rounds
    assert one.void is None
    return {trial.entry.removeprefix("x-"): trial for trial in one.trials}


def codes(race_: Race) -> dict[str, str | None]:
    return {entry: trial.void.code if trial.void else None for entry, trial in trials(race_).items()}


def test_good_uploaders_count_and_both_ends_agree(tmp_path: Path) -> None:
    made = race(tmp_path, UPLOADER, ["good"])
    for trial in trials(made).values():
        assert trial.void is None
        evidence = trial.evidence
        assert evidence["sent"] == evidence["received"] == 20_000 * evidence["repetitions"] > 0
        assert evidence["sent_sha256"] == evidence["received_sha256"]
        assert evidence["protocols"] == {"http/1.1": evidence["requests"]}
        assert len(trial.windows) == 3
        assert all(window.values["cpu_ns"] for window in trial.windows)
    document = json.loads(judge(made).model_dump_json(by_alias=True))
    assert {each["void"] for each in document["trials"]} == {None}
    assert all(each["evidence"]["sent"] == each["evidence"]["received"] for each in document["trials"])


def test_each_way_to_be_wrong_is_void_with_its_own_reason_and_the_others_go_on(tmp_path: Path) -> None:
    wanted = {
        "404": "wrong-status",
        "boasts": "bytes-mismatch",
        "lies": "bytes-mismatch",
        "other-bytes": "wrong-hash",
        "short": "wrong-bytes",
        "short-later": "bytes-mismatch",
        "wrong-form": "wrong-form",
        "garbage": "malformed-answer",
        "chatty": "malformed-answer",
        "dies": "crashed",
        "stalls": "stalled",
        "reconnects": "wrong-connections",
        "never-ready": "not-ready",
        "leaks": "leaked-children",
    }
    found = codes(race(tmp_path, UPLOADER, ["good", *wanted]))
    assert found.pop("one") is None
    assert found.pop("one~twin") is None
    assert found == wanted


def test_with_a_connection_for_each_who_keeps_one_is_void(tmp_path: Path) -> None:
    made = race(tmp_path, UPLOADER, ["good", "keeps"], more='connection = "new"')
    assert codes(made) == {"one": None, "one~twin": None, "keeps": "wrong-connections"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [("status:404", "wrong-status"), ("413:5000", "wrong-status"), ("close:5000", "failed"), ("stall:5000", "stalled")],
)
def test_what_the_server_does_wrong_is_told_apart(tmp_path: Path, fault: str, code: str) -> None:
    found = codes(race(tmp_path, UPLOADER, ["good"], more=f'fault = "{fault}"'))
    assert set(found.values()) == {code}


def test_a_status_that_the_contestant_hides_is_seen_by_the_origin(tmp_path: Path) -> None:
    made = race(tmp_path, UPLOADER, ["good", "hides-404"], more='fault = "status:404"')
    trial = trials(made)["hides-404"]
    assert trial.void is not None
    assert trial.void.code == "wrong-status"
    assert "the origin answered 404" in trial.void.detail


def test_good_downloaders_count_and_wrong_ones_are_void(tmp_path: Path) -> None:
    wanted = {
        "other-bytes": "wrong-hash",
        "short": "wrong-bytes",
        "saves-nothing": "nothing-saved",
        "boasts": "bytes-mismatch",
        "lies": "bytes-mismatch",
        "disk-full": "failed",
    }
    made = race(tmp_path, DOWNLOADER, ["good", *wanted], direction="download")
    found = codes(made)
    assert found.pop("one") is None
    assert found.pop("one~twin") is None
    assert found == wanted
    evidence = trials(made)["one"].evidence
    assert evidence["sent"] == evidence["received"] == 20_000 * evidence["repetitions"]
    assert evidence["sent_sha256"] == evidence["received_sha256"]
    full = trials(made)["disk-full"].void
    assert full is not None
    assert "No space left" in full.detail


def test_nothing_of_a_round_is_left_running_or_lying_about(tmp_path: Path) -> None:
    race(tmp_path, UPLOADER, ["good", "stalls"])
    mine = f"photofinish/{os.getpid()}-"
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in listed.splitlines() if "uploader.py" in line and str(tmp_path) in line]
    assert not [line for line in listed.splitlines() if str(tmp_path) in line and " ps " not in line]
    for hierarchy in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpuacct"):
        folder = Path(hierarchy, "photofinish")
        assert not folder.exists() or not [path for path in folder.iterdir() if mine in str(path)]


def test_a_cell_that_nobody_can_do_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not one of the contestants can do it"):
        race(tmp_path, UPLOADER, ["good"], more='protocol = "h2"')


def test_a_contestant_that_does_not_claim_what_the_cell_asks_for_stands_aside(tmp_path: Path) -> None:
    write_contestant(tmp_path, "x-apart", [sys.executable, UPLOADER, "good"], connections=["new"])
    found = codes(race(tmp_path, UPLOADER, ["good"]))
    assert found == {"one": None, "one~twin": None, "apart": "not-capable"}


def test_parameters_that_make_no_sense_are_told_by_their_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cells\.only\.parameters\.fautl: unknown parameter"):
        race(tmp_path, UPLOADER, ["good"], more='fautl = "x"')
    with pytest.raises(InputError, match="a download reads no file"):
        race(tmp_path, DOWNLOADER, ["good"], more='cache = "cold"', direction="download")
