"""Real rounds: tiny servers that misbehave, the native engine, loopback."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import EnvironmentError_, InputError
from photofinish.store import Store
from photofinish.store.records import Race, Run, Trial
from photofinish.testbed.engine import engine_path
from photofinish.testbed.stop import StopFlag
from photofinish.trial.race import Progress, prepare, run_race
from photofinish.verdict.judge import judge
from tests.contestants import write_contestant, write_suite

SERVER = str(Path(__file__).with_name("server.py"))
PARAMETERS = """
expect = { status = 200, body_bytes = 12, body_xxh3 = "673e3c493921a2d5" }
load = { mode = "closed", connections = 4 }
window_ms = 5
settle_ms = 1
drain_ms = 100
cycles = 4
warmup_s = 0.1
bounds = { foreign = 1.0, steal = 1.0, rest_void = 1.0 }
"""


def engine_is_able() -> bool:
    try:
        engine = engine_path()
    except EnvironmentError_:
        return False
    return all(
        subprocess.run([engine, command, "--help"], capture_output=True, check=False).stdout.strip()
        for command in ("visit", "keep")
    )


needs_engine = pytest.mark.skipif(not engine_is_able(), reason="the engine is not built: make build")


def write_servers(root: Path, modes: list[str], *, timeout_s: float = 20) -> Path:
    for mode in modes:
        more = f"[ready]\ntimeout_s = {timeout_s if mode != 'never' else 0.5}\n[stop]\ntimeout_s = 0.5"
        name = "one" if mode == "good" else f"x-{mode}"
        write_contestant(root, name, ["{python}", SERVER, mode, "{address}", "{port}"], more=more)
    body = "[cells.parameters]" + PARAMETERS
    return write_suite(root, driver="visit", body=body, denominator="requests")


def begin(store: Store, root: Path, suite_path: Path, *, rounds: int) -> str:
    suite = load_suite(suite_path)
    plan = make_plan(suite, "quick", seed=3, rounds=rounds)
    store.begin(Run("run-1", "2026-01-01T00:00:00+00:00", plan, {}, "running", "test"))
    workshop = prepare(plan, load_all(suite), root / "work")
    return run_race(store, "run-1", workshop)


def alive(marker: str) -> list[int]:
    """Processes whose command line or folder mentions ``marker``."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            try:
                where = str((path / "cwd").readlink())
                command = (path / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if marker in where or marker in command:
                found.append(int(path.name))
    return found


@dataclass(frozen=True)
class Outcome:
    race: Race
    root: Path

    def trial(self, entry: str) -> Trial:
        return next(trial for trial in self.race.rounds[0].trials if trial.entry == entry)

    def code(self, entry: str) -> str | None:
        void = self.trial(entry).void
        return void.code if void is not None else None


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    root = tmp_path_factory.mktemp("race")
    modes = ["good", "404", "short", "other", "stall", "never", "crash", "fork"]
    path = write_servers(root, modes)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        write_contestant(root, "x-taken", ["{python}", SERVER, "good", "{address}", port])
        with Store.open(root / "store.sqlite") as store:
            assert begin(store, root, path, rounds=1) == "finished"
            yield Outcome(store.load("run-1"), root)


@needs_engine
@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("one", None),
        ("one~twin", None),
        ("x-404", "wrong-status"),
        ("x-short", "wrong-bytes"),
        ("x-other", "wrong-hash"),
        ("x-stall", "stalled"),
        ("x-never", "not-ready"),
        ("x-taken", "not-ready"),
        ("x-crash", "crashed"),
        ("x-fork", "leaked-children"),
    ],
)
def test_only_what_did_what_it_claims_counts(outcome: Outcome, entry: str, code: str | None) -> None:
    assert outcome.code(entry) == code, outcome.trial(entry).void


@needs_engine
def test_a_void_says_what_happened(outcome: Outcome) -> None:
    details = {trial.entry: trial.void.detail for trial in outcome.race.rounds[0].trials if trial.void is not None}
    assert "waiting for something that never comes" in details["x-never"]
    assert "address already in use" in details["x-taken"].lower()
    assert "status 7" in details["x-crash"]
    assert "python" in details["x-fork"]


@needs_engine
def test_a_trial_holds_windows_evidence_and_figures(outcome: Outcome) -> None:
    trial = outcome.trial("one")
    assert len(trial.windows) == 4
    assert all(window.values["cpu_ns"] and window.values["requests"] for window in trial.windows)
    assert trial.evidence["body_xxh3"] == "673e3c493921a2d5"
    assert trial.evidence["failed"] == {}
    assert trial.figures == {}  # the cell yields one metric, and that is read from windows


@needs_engine
def test_nothing_is_left_of_a_round_not_even_what_left_its_session(outcome: Outcome) -> None:
    assert alive(str(outcome.root)) == []
    assert alive("time.sleep(3600)") == []


@needs_engine
def test_a_race_with_void_trials_can_be_judged(outcome: Outcome) -> None:
    verdict = judge(outcome.race)
    assert {void.code for void in verdict.voids} >= {"wrong-status", "wrong-hash", "crashed"}


@needs_engine
def test_killing_the_laboratory_leaves_no_process_and_a_store_with_its_finished_rounds(tmp_path: Path) -> None:
    path = write_servers(tmp_path, ["good"])
    script = (
        "import sys; from pathlib import Path; from photofinish.store import Store\n"
        "from tests.trial.test_visit import begin\n"
        "root = Path(sys.argv[1])\n"
        "with Store.open(root / 'store.sqlite') as store: begin(store, root, Path(sys.argv[2]), rounds=500)\n"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'python'}"}
    with subprocess.Popen([sys.executable, "-c", script, tmp_path, path], env=environment, cwd=root) as laboratory:
        try:
            finished = 0
            while finished < 2:
                assert laboratory.poll() is None
                time.sleep(0.2)
                if (tmp_path / "store.sqlite").exists():
                    with Store.open(tmp_path / "store.sqlite", read_only=True) as store:
                        finished = sum(run.rounds_stored for run in store.runs())
        finally:
            laboratory.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while alive(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(str(tmp_path)) == []
    with Store.open(tmp_path / "store.sqlite") as store:
        race = store.load("run-1")
        assert race.run.status == "running"
        assert len(race.rounds) >= finished


@needs_engine
@pytest.mark.parametrize("phase", ["start", "visit"])
def test_stopping_in_mid_round_leaves_nothing_running_and_no_half_round(tmp_path: Path, phase: str) -> None:
    suite = load_suite(write_servers(tmp_path, ["good"]))
    plan = make_plan(suite, "quick", seed=3, rounds=2, overrides={"cycles": 1000})
    workshop = prepare(plan, load_all(suite), tmp_path / "work")
    stop = StopFlag()

    def stop_then(progress: Progress) -> None:
        if progress.phase == phase:
            threading.Timer(0.1, stop.set).start()

    with Store.open(tmp_path / "store.sqlite") as store:
        store.begin(Run("run-1", "2026-01-01T00:00:00+00:00", plan, {}, "running", "test"))
        assert run_race(store, "run-1", workshop, stop=stop, progress=stop_then) == "interrupted"
        assert store.load("run-1").rounds == ()
    assert alive(str(tmp_path)) == []


@needs_engine
def test_too_little_memory_for_all_at_once_is_an_error_with_a_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("photofinish.trial.launch.available_bytes", lambda: (100 << 20, 16 << 30))
    path = write_servers(tmp_path, ["good"])
    with (
        Store.open(tmp_path / "store.sqlite") as store,
        pytest.raises(EnvironmentError_, match="only 100 MiB of memory are left with 1 of 2 contestants running"),
    ):
        begin(store, tmp_path, path, rounds=1)
    assert alive(str(tmp_path)) == []


@needs_engine
def test_an_open_loop_yields_latencies_and_says_if_its_rate_was_held(tmp_path: Path) -> None:
    suite = load_suite(write_servers(tmp_path, ["good"]))
    load = {"mode": "open", "rate": 2000, "connections": 4, "arrivals": "poisson"}
    plan = make_plan(suite, "quick", seed=3, rounds=1, overrides={"load": load})
    cell = plan.cells[0].model_copy(update={"metrics": ()})
    workshop = prepare(plan, load_all(suite), tmp_path / "work")
    with Store.open(tmp_path / "store.sqlite") as store:
        plan = plan.model_copy(update={"cells": (cell,)})
        store.begin(Run("run-1", "2026-01-01T00:00:00+00:00", plan, {}, "running", "test"))
        assert run_race(store, "run-1", workshop) == "finished"
        trial = next(each for each in store.load("run-1").rounds[0].trials if each.entry == "one")
    assert trial.void is None
    assert trial.evidence["offered"] > 0
    assert (trial.figures["latency_max_ns"] or 0) > 0
    assert "latency_p999_ns" in trial.voided_figures


def test_wrong_parameters_are_told_before_anything_starts(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", ["true"])
    body = "parameters = { load = { mode = 'closed' }, windw_ms = 5, cycles = 0 }"
    suite = load_suite(write_suite(tmp_path, driver="visit", body=body))
    plan = make_plan(suite, "quick", seed=1)
    with pytest.raises(InputError) as error:
        prepare(plan, load_all(suite), tmp_path / "work")
    assert "load.closed.connections: field required" in str(error.value)
    assert "windw_ms: unknown parameter" in str(error.value)
    assert "cycles:" in str(error.value)
