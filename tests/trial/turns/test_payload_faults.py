"""The file that is sent is changed by somebody else while a round goes on: nobody who sent it is to blame."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import EnvironmentError_
from photofinish.store import Store
from photofinish.store.records import Trial
from photofinish.testbed.payload import payload_file
from photofinish.trial.race import Progress, begin, prepare, run_race
from photofinish.verdict.judge import judge
from tests.contestants import write_contestant, write_suite
from tests.trial.turns.test_rounds import PARAMETERS, UPLOADER, pytestmark  # noqa: F401

SIZE = 20_000


def made_by(root: Path, act: Callable[[Progress], None]) -> list[tuple[Trial, ...]]:
    """Two rounds of a good uploader and its twin; ``act`` sees every phase."""
    write_contestant(root, "one", ["{python}", UPLOADER, "good"], more="[stop]\ntimeout_s = 0.5")
    body = f'[cells.parameters]\ndirection = "upload"\ninstruments = false\n{PARAMETERS}'
    suite = load_suite(write_suite(root, driver="turns", body=body, denominator="requests"))
    plan = make_plan(suite, "quick", rounds=2, seed=1)
    workshop = prepare(plan, load_all(suite), root / "work")
    with Store.open(root / "store.sqlite") as store:
        begin(store, plan, workshop, "r1")
        run_race(store, "r1", workshop, progress=act)
        made = store.load("r1")
    assert {void.code for void in judge(made).voids} <= {"payload-changed"}
    return [each.trials for each in made.rounds]


def harm(path: Path, how: str) -> None:
    if how == "vanishes":
        path.unlink()
    elif how == "shrinks":
        os.truncate(path, SIZE // 2)
    elif how == "grows":
        with path.open("ab") as file:
            file.write(b"more")
    else:
        path.write_bytes(b"x" * SIZE)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("vanishes", "it is gone"),
        ("shrinks", f"it shrank from {SIZE} to {SIZE // 2} bytes"),
        ("grows", f"it grew from {SIZE} to {SIZE + 4} bytes"),
        ("is written to", "it was written to"),
    ],
)
def test_a_file_that_is_changed_voids_the_cell_and_the_next_round_has_it_anew(
    tmp_path: Path, how: str, told: str
) -> None:
    file = tmp_path / "work" / "run" / "payload" / f"payload-{SIZE}.bin"

    def act(progress: Progress) -> None:
        if progress.round == 1 and progress.phase == "turns":
            harm(file, how)

    first, second = made_by(tmp_path, act)
    assert [trial.void for trial in second] == [None, None]
    for trial in first:
        assert trial.void is not None
        assert (trial.void.code, trial.void.detail) == ("payload-changed", f"{file}: {told}")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_disk_that_is_full_is_one_clear_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this machine does not let file systems be mounted")
    try:
        with pytest.raises(EnvironmentError_, match=r"can't be written \(No space left on device\); free space"):
            payload_file(small / "payload", 2_000_000)
        assert list((small / "payload").iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)
