"""The laboratory is killed or stopped in each phase of a round: nothing is left of it, and the race goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from photofinish.cli.interrupt import stoppable
from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.plan import Plan
from photofinish.contest.planning import make_plan
from photofinish.errors import EnvironmentError_
from photofinish.store import Store
from photofinish.trial.race import Progress, Workshop, begin, prepare, run_race
from tests.contestants import write_contestant, write_suite
from tests.trial.turns.test_rounds import PARAMETERS, UPLOADER, pytestmark  # noqa: F401

CGROUPS = Path("/sys/fs/cgroup")
REPOSITORY = Path(__file__).parents[3]
PATIENCE_S = 20.0
INTO_PHASE_S = 0.1
RUN = "r1"
SCRIPT = """
import sys; from pathlib import Path; from tests.trial.turns.test_killed import laboratory
laboratory(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
"""


def prepared(root: Path) -> tuple[Plan, Workshop]:
    """Two rounds of an uploader and its twin, with passes that count."""
    write_contestant(root, "one", ["{python}", UPLOADER, "good"], more="[stop]\ntimeout_s = 0.5")
    body = f'[cells.parameters]\ndirection = "upload"\n{PARAMETERS}'
    suite = load_suite(write_suite(root, driver="turns", body=body, denominator="requests"))
    plan = make_plan(suite, "quick", rounds=2, seed=1, overrides={"cycles": 40})
    return plan, prepare(plan, load_all(suite), root / "work")


def laboratory(root: Path, number: int, phase: str) -> None:
    """A process of its own: races, and tells by a file when it has come to that phase of that round."""
    plan, workshop = prepared(root)

    def act(progress: Progress) -> None:
        if (progress.round, progress.phase) == (number, phase):
            (root / "there").touch()

    with stoppable() as stop, Store.open(root / "store.sqlite") as store:
        begin(store, plan, workshop, RUN)
        run_race(store, RUN, workshop, stop=stop, progress=act)


def left(root: Path, pid: int) -> list[str]:
    """Processes and control groups of a laboratory."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    found = [line for line in listed.splitlines() if str(root) in line]
    return found + [str(each) for each in CGROUPS.glob(f"*/photofinish/{pid}-*")]


@pytest.mark.parametrize(
    ("by", "number", "phase"),
    [
        (signal.SIGKILL, 2, "start"),
        (signal.SIGKILL, 2, "turns"),
        (signal.SIGKILL, 1, "instruments"),
        (signal.SIGINT, 2, "turns"),
        (signal.SIGINT, 1, "instruments"),
    ],
)
def test_nothing_outlives_the_laboratory_and_finished_rounds_are_kept(
    tmp_path: Path, by: signal.Signals, number: int, phase: str
) -> None:
    argv = [sys.executable, "-c", SCRIPT, str(tmp_path), str(number), phase]
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'python'}"}
    with subprocess.Popen(argv, env=environment, cwd=REPOSITORY, start_new_session=True) as process:
        try:
            while not (tmp_path / "there").exists():
                assert process.poll() is None
                time.sleep(0.02)
            time.sleep(INTO_PHASE_S)
        finally:
            os.killpg(process.pid, by)  # as a terminal does: whoever of ours is in the group hears it too
        process.wait(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while left(tmp_path, process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left(tmp_path, process.pid) == []
    with Store.open(tmp_path / "store.sqlite") as store:
        kept = store.load(RUN)
        assert len(kept.rounds) >= number - 1  # more only if the laboratory was quicker than this process
        assert kept.run.status in {"running" if by == signal.SIGKILL else "interrupted", "finished"}
        _, workshop = prepared(tmp_path)
        assert run_race(store, RUN, workshop) == "finished"
        rounds = store.load(RUN).rounds
    assert [[trial.void for trial in each.trials] for each in rounds] == [[None, None], [None, None]]
    assert list((tmp_path / "work" / "run").glob(f"{RUN}/*")) == []


def test_an_origin_that_dies_in_mid_round_is_an_error_that_says_so_and_nothing_is_left(tmp_path: Path) -> None:
    plan, workshop = prepared(tmp_path)

    def act(progress: Progress) -> None:
        if (progress.round, progress.phase) == (2, "turns"):
            log = str(tmp_path / "work" / "run" / RUN / "origin~.log")
            keep = subprocess.run(["pgrep", "-f", f"keep .*{log}"], capture_output=True, text=True, check=True).stdout
            subprocess.run(["pkill", "-KILL", "-P", keep.split()[0]], check=True)

    with Store.open(tmp_path / "store.sqlite") as store:
        begin(store, plan, workshop, RUN)
        with pytest.raises(EnvironmentError_, match="origin"):
            run_race(store, RUN, workshop, progress=act)
        assert left(tmp_path, os.getpid()) == []
        assert store.load(RUN).run.status == "interrupted"
        assert run_race(store, RUN, workshop) == "finished"
        assert [each.index for each in store.load(RUN).rounds] == [0, 1]
