import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from photofinish.contest.suite import Cell
from photofinish.errors import EnvironmentError_
from photofinish.store.records import Trial
from photofinish.testbed.proc import Footprint
from photofinish.testbed.processes import Resident
from photofinish.trial.engine import Said
from photofinish.trial.turns.drive import Target, document, read
from photofinish.trial.turns.evidence import Proof
from photofinish.trial.turns.lines import Pipes
from photofinish.trial.turns.origin import Origin
from photofinish.trial.turns.parameters import TurnsParameters
from photofinish.trial.turns.trials import Turned, trials_of

SIZE = 1000
FRAMING = 242
CELL = Cell(id="only", title="the only one")
PARAMETERS = TurnsParameters(direction="upload", bytes=SIZE)
AFTER = Footprint(processes=1, threads=2, rss_peak_bytes=5000, pss_bytes=4000, stack_bytes=8192, context_switches=50)
PROOF = Proof(FRAMING, "ab", "ab", {"chunked": False}, None)


def window(cycle: int, **changes: Any) -> dict[str, Any]:
    n = 4
    evidence = {
        "requests": n,
        "completed": n,
        "refused": {},
        "connections": 0,
        "protocols": {"http/1.1": n},
        "body_bytes": n * (SIZE + FRAMING),
        "acked_bytes": 0,
    }
    return {
        "target": 0,
        "position": 0,
        "wall_ns": 4_000,
        "cpu_ns": 2_000 + cycle,
        "origin_cpu_ns": 400,
        "repetitions": n,
        "claimed_bytes": n * SIZE,
        "failed": {},
        "error": None,
        "rest_cpu_ns": 0,
        "rest_wall_ns": 10_000,
        "evidence": {**evidence, **changes.pop("evidence", {})},
        **changes,
    }


def judged(
    *windows: dict[str, Any],
    target: dict[str, Any] | None = None,
    end: str | None = None,
    own: TurnsParameters = PARAMETERS,
    proof: Proof = PROOF,
) -> Trial:
    events: list[dict[str, Any]] = [
        {"event": "cycle", "phase": "warmup", "cycle": 0, "windows": [window(0, failed={"error": 1}, error="cold")]}
    ]
    events += [
        {"event": "cycle", "phase": "measure", "cycle": cycle, "windows": [each]} for cycle, each in enumerate(windows)
    ]
    events.append({"event": "target", "target": 0, "id": "a", "repetitions_per_window": 4, **(target or {})})
    events.append({"event": "end", "aborted": None})
    turns = read(Said("\n".join(json.dumps(event) for event in events).encode(), 1.0, 0.0))
    each = Turned("a", 3, 0, proof, AFTER, end, {"startup_s": 0.25})
    return trials_of(CELL, own, turns, [each], shared_core=False)[0]


def test_windows_hold_repetitions_bytes_and_costs_and_both_ends_agree() -> None:
    trial = judged(*(window(cycle) for cycle in range(8)))
    assert trial.void is None
    assert (trial.cell, trial.entry, trial.slot) == ("only", "a", 3)
    assert [each.values["requests"] for each in trial.windows] == [4] * 8
    assert trial.windows[1].values["cpu_ns"] == 2001
    assert trial.windows[0].values["body_bytes"] == 4 * SIZE
    assert trial.evidence["sent"] == trial.evidence["received"] == 32 * SIZE
    assert trial.evidence["sent_sha256"] == trial.evidence["received_sha256"]
    known = {name: value for name, value in trial.figures.items() if value is not None}
    assert known == {"startup_s": 0.25, "rss_peak_bytes": 5000, "stack_peak_bytes": 8192}


CODED = TurnsParameters(direction="download", bytes=SIZE, patients=4, coding="br")
CODED_PROOF = Proof(0, "ab", "ab", {}, None, encoded_bytes=250)


def coded_window(cycle: int, **changes: Any) -> dict[str, Any]:
    evidence = {"codings": {"br": 4}, "encode_ns": 44, "sent_body_bytes": 4 * 250, "acked_bytes": 4 * 300}
    stages = {"transfer_ns": 2000, "decode_ns": 500, "parse_ns": 1000, "records": 16, "codings": {"br": 4}}
    return window(cycle, **{**stages, "evidence": evidence, **changes})


def test_windows_of_a_coded_cell_hold_the_stages_and_what_lies_beside_them() -> None:
    trial = judged(coded_window(0), coded_window(1, wall_ns=None), own=CODED, proof=CODED_PROOF)
    assert trial.void is None
    values = trial.windows[0].values
    assert (values["transfer_ns"], values["decode_ns"], values["parse_ns"]) == (2000, 500, 1000)
    assert (values["beside_ns"], values["encode_ns"], values["encoded_bytes"]) == (500, 44, 1000)
    assert trial.windows[1].values["beside_ns"] is None
    assert (trial.figures["encoded_bytes"], trial.figures["ratio"]) == (250, 4.0)
    assert trial.figures["wire_bytes_per_response"] == 300
    evidence = trial.evidence
    assert (evidence["coding"], evidence["protocol"], evidence["records"]) == ("br", "http/1.1", 32)
    assert (evidence["sent"], evidence["received"]) == (8 * 250, 8 * SIZE)


def test_stages_that_are_longer_than_their_windows_void_the_trial() -> None:
    trial = judged(coded_window(0, parse_ns=1501), own=CODED, proof=CODED_PROOF)
    assert trial.void is not None
    assert trial.void.code == "wrong-stages"


def test_the_shims_own_reading_of_memory_stands_for_programs_that_have_ended() -> None:
    assert judged(window(0), target={"rss_peak_bytes": 777}).figures["rss_peak_bytes"] == 777


@pytest.mark.parametrize(
    ("failed", "code"),
    [
        ({"error": 1}, "failed"),
        ({"status": 4}, "wrong-status"),
        ({"malformed": 1}, "malformed-answer"),
        ({"timeout": 1, "error": 1}, "stalled"),
        ({"ended": 1}, "crashed"),
        ({"cold_failed": 1}, "still-cached"),
        ({"something": 1}, "failed"),
    ],
)
def test_one_failed_repetition_voids_the_trial_and_its_window(failed: dict[str, int], code: str) -> None:
    trial = judged(window(0), window(1, failed=failed, error="no space"))
    assert trial.void is not None
    assert trial.void.code == code
    assert trial.windows[1].void == "failed-requests"
    assert trial.windows[0].void is None
    if code != "failed" or "something" not in failed:
        assert "no space" in trial.void.detail


def test_bytes_that_the_origin_did_not_read_are_a_mismatch() -> None:
    trial = judged(window(0), window(1, evidence={"body_bytes": 4 * (SIZE + FRAMING) - 1}))
    assert trial.void is not None
    assert trial.void.code == "bytes-mismatch"
    assert f"the origin {8 * SIZE - 1}" in trial.void.detail


def test_a_claim_that_is_missing_in_one_window_is_a_mismatch() -> None:
    trial = judged(window(0), window(1, claimed_bytes=None))
    assert trial.void is not None
    assert trial.void.code == "bytes-mismatch"


def test_cpu_at_rest_and_a_busy_origin_are_labels_or_voids() -> None:
    assert judged(window(0, rest_cpu_ns=500)).labels == ("restless",)
    noisy = judged(window(0, rest_cpu_ns=5_000))
    assert noisy.void is not None
    assert noisy.void.code == "noisy-at-rest"
    assert judged(window(0, origin_cpu_ns=3_900)).labels == ("origin-bound",)
    assert judged(window(0), window(1), window(2, evidence={"connections": 1})).labels == ("reconnects",)


def test_who_ended_is_void_even_if_all_that_it_did_was_right() -> None:
    trial = judged(window(0), end="it ended with status 0; its last line: bye")
    assert trial.void is not None
    assert (trial.void.code, trial.void.detail) == ("crashed", "it ended with status 0; its last line: bye")


def test_an_engine_that_gave_up_is_an_error() -> None:
    with pytest.raises(EnvironmentError_, match=r"gave up its turns \(deadline\)"):
        read(Said(b'{"event":"end","aborted":"deadline"}', 1.0, 0.0))
    with pytest.raises(EnvironmentError_, match=r"\(origin-gone\); see origin~\.log"):
        read(Said(b'{"event":"end","aborted":"origin-gone"}', 1.0, 0.0))
    with pytest.raises(EnvironmentError_, match=r"\(signal\); go on with `photofinish resume`"):
        read(Said(b'{"event":"end","aborted":"signal"}', 1.0, 0.0))
    with pytest.raises(EnvironmentError_, match="lines are cut off"):
        read(Said(b'{"event":"cyc', 1.0, 0.0))
    with pytest.raises(EnvironmentError_, match="without its last line"):
        read(Said(b"", 1.0, 0.0))


def test_what_a_contestant_says_is_shown_without_what_a_terminal_would_obey() -> None:
    trial = judged(window(0, failed={"error": 1}, error="\x1b[31m" + "x" * 5_000))
    assert trial.void is not None
    assert trial.void.detail.isprintable()
    assert len(trial.void.detail) < 500


def test_those_who_stall_do_not_use_up_the_time_of_the_others() -> None:
    resident = cast("Resident", SimpleNamespace(pid=1, cpuacct=None, cgroup_v2=None))
    origin = cast("Origin", SimpleNamespace(address=("127.0.0.1", 1), resident=resident, spins=True))
    targets = [Target(name, name, resident, Pipes(Path("commands"), Path("answers"))) for name in "ab"]

    def deadline_ms(repetition_timeout_s: float) -> int:
        patient = PARAMETERS.model_copy(update={"repetition_timeout_s": repetition_timeout_s})
        order = document(patient, targets, [[0, 1]], [[1, 0]], origin=origin, payload=None, cpus=[0], alone=True)
        return int(order["deadline_ms"])

    assert deadline_ms(130) - deadline_ms(30) == len(targets) * 100_000
