"""Real rounds of clients that decode and parse: the native engine and its origin, clear and over TLS, on the loopback."""

import shutil
import subprocess
from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import EnvironmentError_
from photofinish.store import Store
from photofinish.store.records import Trial
from photofinish.testbed.engine import engine_path
from photofinish.trial.race import begin, prepare, run_race
from tests.contestants import write_contestant, write_suite

DECODER = str(Path(__file__).with_name("decoder.py"))
CORPUS = Path(__file__).parents[3] / "corpus"
PARAMETERS = """
[cells.parameters]
direction = "download"
patients = 4
bytes = 7649
coding = "gzip"
level = 6
window_ms = 3
cycles = 3
warmup_cycles = 2
repetition_timeout_s = 2
instruments = false
bounds = { foreign = 1.0, steal = 1.0, rest_void = 1.0 }
"""


def origin_is_able() -> bool:
    try:
        shown = subprocess.run([engine_path(), "origin", "--help"], capture_output=True, check=False)
    except EnvironmentError_:
        return False
    return b"--tls-port" in shown.stdout


pytestmark = pytest.mark.skipif(not origin_is_able(), reason="the engine is not built: make build")


def trials(
    root: Path, modes: list[str], *, more: str = "", claims: tuple[str, ...] = ("http/1.1",)
) -> dict[str, Trial]:
    """One round of a good client (and its twin) and those that misbehave, by name."""
    (root / "corpus").mkdir()
    shutil.copy(CORPUS / "patients-4.json", root / "corpus")
    for mode in modes:
        name = "one" if mode == "good" else f"x-{mode}"
        words = ["{python}", DECODER, mode]
        write_contestant(root, name, words, codings=["identity", "gzip"], protocols=list(claims))
    suite = load_suite(write_suite(root, driver="turns", body=f"{PARAMETERS}{more}", denominator="requests"))
    workshop = prepare(plan := make_plan(suite, "quick", rounds=1, seed=1), load_all(suite), root / "work")
    with Store.open(root / "store.sqlite") as store:
        begin(store, plan, workshop, "r1")
        assert run_race(store, "r1", workshop) == "finished"
        (one,) = store.load("r1").rounds
    assert one.void is None
    return {trial.entry.removeprefix("x-"): trial for trial in one.trials}


def codes(found: dict[str, Trial]) -> dict[str, str | None]:
    return {entry: trial.void.code if trial.void else None for entry, trial in found.items()}


def test_clients_that_do_what_they_claim_count_with_coding_protocol_and_stages(tmp_path: Path) -> None:
    for trial in trials(tmp_path, ["good"]).values():
        assert trial.void is None
        evidence = trial.evidence
        assert (evidence["coding"], evidence["protocol"]) == ("gzip", "http/1.1")
        assert evidence["records"] == 4 * evidence["repetitions"] > 0
        assert evidence["sent"] == evidence["encoded_bytes"] * evidence["repetitions"]
        assert evidence["received"] == 7649 * evidence["repetitions"]
        for window in trial.windows:
            times = [window.values[name] for name in ("transfer_ns", "decode_ns", "parse_ns")]
            assert all(time is not None and time > 0 for time in times)
            assert window.values["encode_ns"] == 0


def test_whoever_decodes_or_tells_another_story_is_void_for_its_own_reason(tmp_path: Path) -> None:
    modes = ["good", "ignores", "denies", "undecoded", "miscounts", "timeless", "endless"]
    assert codes(trials(tmp_path, modes)) == {
        "one": None,
        "one~twin": None,
        "ignores": "wrong-coding",
        "denies": "wrong-coding",
        "undecoded": "wrong-bytes",
        "miscounts": "wrong-records",
        "timeless": "wrong-stages",
        "endless": "wrong-stages",
    }


def test_a_coding_made_for_each_response_has_its_time_on_the_origins_own_record(tmp_path: Path) -> None:
    found = trials(tmp_path, ["good"], more="fresh = true\n")
    assert codes(found) == {"one": None, "one~twin": None}
    assert all((window.values["encode_ns"] or 0) > 0 for trial in found.values() for window in trial.windows)


def test_clients_reach_the_origin_over_tls_with_the_races_own_authority(tmp_path: Path) -> None:
    found = trials(tmp_path, ["good"], more='protocol = "http/1.1+tls"\n', claims=("http/1.1+tls",))
    assert codes(found) == {"one": None, "one~twin": None}
    assert {trial.evidence["protocol"] for trial in found.values()} == {"http/1.1+tls"}


def test_another_protocol_than_claimed_is_a_mismatch_and_never_a_silent_fallback(tmp_path: Path) -> None:
    found = trials(tmp_path, ["good"], more='protocol = "h2+tls"\n', claims=("http/1.1+tls", "h2+tls"))
    assert codes(found) == {"one": "protocol-mismatch", "one~twin": "protocol-mismatch"}
