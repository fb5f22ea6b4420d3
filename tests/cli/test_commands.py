"""Whole commands over a suite of shell commands: what they print, what they leave, and their exit codes."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from photofinish.cli import app
from photofinish.errors import EnvironmentError_, PhotofinishError
from photofinish.store import Store
from photofinish.testbed.engine import engine_path
from tests.contestants import write_contestant, write_suite

COUNT = "i=0; while [ $i -lt {times} ]; do i=$((i+1)); done; echo done"
QUIET = "bounds = { foreign = 1.0, steal = 1.0 }"


def engine_is_there() -> bool:
    try:
        return engine_path().exists()
    except EnvironmentError_:
        return False


pytestmark = pytest.mark.skipif(not engine_is_there(), reason="the engine is not built: make build")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one suite of two shell commands, as working directory."""
    write_suite(tmp_path, body=f"[cells.parameters]\n{QUIET}\nrepetitions = 2\nwarmup = 0", head="alternating = false")
    write_contestant(tmp_path, "one", ["sh", "-c", COUNT.format(times=500)])
    write_contestant(tmp_path, "slow", ["sh", "-c", COUNT.format(times=40_000)])
    monkeypatch.setenv("PHOTOFINISH_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("PHOTOFINISH_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Runs the command in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", ["photofinish", *words])
    with pytest.raises(SystemExit) as ended:
        app.run()
    code = ended.value.code
    return code if isinstance(code, int) else 0 if code is None else 1


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_race_is_run_stored_shown_and_rendered_again_byte_for_byte(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    race = (
        "race",
        "toy",
        "--quick",
        "--rounds",
        "6",
        "--seed",
        "7",
        "--quiet",
        "--json",
        "out.json",
        "--html",
        "a.html",
    )
    assert call(monkeypatch, *race) == 0
    document = read(home / "out.json")
    assert {"schema", "suite", "seed", "environment", "cells", "voids", "twins"} <= set(document)
    assert (document["suite"], document["seed"], document["rounds_counted"]) == ("toy", 7, 6)
    for pair in document["cells"][0]["metrics"][0]["pairs"]:
        assert {"ratio", "low", "high", "p", "minimum_detectable_effect"} <= set(pair)
    assert "Which toy is cheapest?" in capsys.readouterr().out
    assert call(monkeypatch, "report", "--json", "again.json", "--html", "b.html", "--markdown", "again.md") == 0
    assert (home / "again.json").read_bytes() == (home / "out.json").read_bytes()
    assert (home / "a.html").read_bytes() == (home / "b.html").read_bytes()
    assert call(monkeypatch, "runs", "--json", "runs.json") == 0
    assert [one["status"] for one in read(home / "runs.json")["runs"]] == ["finished"]
    assert call(monkeypatch, "show", "latest", "--json", "show.json") == 0
    assert read(home / "show.json")["schema"] == "photofinish.show/1"


def test_a_gate_fails_on_a_proven_regression_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = ("race", "toy", "--quick", "--rounds", "6", "--seed", "1", "--quiet")
    assert call(monkeypatch, *again) == 0
    write_contestant(home, "one", ["sh", "-c", COUNT.format(times=60_000)])
    assert call(monkeypatch, *again) == 0
    assert call(monkeypatch, "gate", "--baseline", "latest~1", "--max-regression", "50%", "--json", "gate.json") == 1
    assert [one["difference"]["entry"] for one in read(home / "gate.json")["regressions"]] == ["one"]
    assert call(monkeypatch, "gate", "latest~1", "--baseline", "latest~1", "--max-regression", "50%") == 0
    assert call(monkeypatch, "compare", "latest~1", "latest", "--json", "compare.json") == 0
    assert any(one["change"] == "regressed" for one in read(home / "compare.json")["differences"])


def test_suites_and_contestants_are_listed(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "list", "--json", "list.json") == 0
    assert [one["id"] for one in read(home / "list.json")["suites"][0]["contestants"]] == ["one", "slow"]
    assert "Toys" in capsys.readouterr().out


def test_doctor_tells_machine_and_contestants_apart(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, "doctor", "toy", "--json", "doctor.json") == 0
    document = read(home / "doctor.json")
    assert {"engine", "python", "cores"} <= {check["name"] for check in document["machine"]}
    assert [check["status"] for check in document["contestants"]] == ["good", "good"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("race", "tqy"), "toy"),
        (("race", "toy", "--only", "on"), "one"),
        (("race", "toy", "--budget", "5m"), "--until-decided"),
        (("race", "toy", "--until-decided", "--budget", "soon"), "10m"),
        (("race", "toy", "--rounds", "0"), "rounds"),
        (("race", "toy", "--add", "nowhere"), "nowhere"),
        (("show", "nothing"), "no store"),
        (("resume",), "no runs"),
    ],
)
def test_bad_input_is_one_clear_message_with_exit_code_2(
    home: Path,  # noqa: ARG001 - the working directory
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    told: str,
) -> None:
    assert call(monkeypatch, *words) == 2
    printed = capsys.readouterr().err
    assert told in printed
    assert "Traceback" not in printed


@pytest.mark.usefixtures("home")
def test_cold_and_up_are_refused_where_they_mean_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "race", "toy", "--quick", "--cold") == 2
    assert "--cold: the suite 'toy' sends no files" in capsys.readouterr().err
    assert call(monkeypatch, "up", "toy") == 2
    assert "photofinish race toy" in capsys.readouterr().err


def test_a_new_contestant_is_written_and_told_how_to_race(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "new", "contestant", "uploads", "mine", "--lang", "go") == 0
    assert "photofinish race uploads --quick --add mine" in capsys.readouterr().out
    assert (home / "mine" / "main.go").is_file()
    assert call(monkeypatch, "new", "contestant", "uploads", "mine", "--lang", "go") == 2
    assert "is there already" in capsys.readouterr().err
    assert call(monkeypatch, "new", "contestant", "clients", "other", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["files"] == ["README.md", "contestant.toml", "main.py"]


def test_ctrl_c_keeps_finished_rounds_and_resume_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "photofinish", "race", "toy", "--quick", "--rounds", "40", "--quiet"]
    store = home / "runs" / "photofinish.sqlite"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as race:
        for _ in range(3000):  # bounded so that a failure ends
            if store.exists() and rounds_in(store):
                break
            time.sleep(0.01)
        race.send_signal(signal.SIGINT)
        _, errors = race.communicate()
    assert race.returncode == 130
    assert "resume" in errors
    kept = rounds_in(store)
    assert 0 < kept < 40
    assert call(monkeypatch, "resume", "--quiet", "--json", "out.json") == 0
    assert read(home / "out.json")["rounds_counted"] == 40


def rounds_in(store: Path) -> int:
    """Rounds of the only run; none in a store that is just being made."""
    try:
        with Store.open(store, read_only=True) as opened:
            found = opened.runs()
    except PhotofinishError:
        return 0
    return found[0].rounds_stored if found else 0
