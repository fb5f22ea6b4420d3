"""From what the engine said about one cell to trials: windows, figures, evidence, and what does not count. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from photofinish.contest.suite import Cell
from photofinish.store.records import Trial, Void, Window
from photofinish.testbed.proc import Footprint
from photofinish.trial import gates
from photofinish.trial.engine import Told
from photofinish.trial.turns.evidence import Account, Proof
from photofinish.trial.turns.lines import words
from photofinish.trial.turns.parameters import TurnsParameters
from photofinish.verdict.warmup import steadiness

FAILURE_CODES = {
    "ended": "crashed",
    "timeout": "stalled",
    "malformed": "malformed-answer",
    "error": "failed",
    "status": "wrong-status",
    "cold_failed": "still-cached",
}
"""The engine's reasons → ours; in the order in which they are told when several apply."""
WINDOW_VALUES = ("cpu_ns", "wall_ns", "origin_cpu_ns", "rest_cpu_ns", "rest_wall_ns", "engine_cpu_ns")
STAGES = ("transfer_ns", "decode_ns", "parse_ns")
"""What a contestant times itself; what lies beside them in a window is what it takes to be asked and to answer."""
ORIGIN_BUSY = 0.95
"""Share of a window beyond which the origin, not the contestant, may set the pace."""


@dataclass(frozen=True, slots=True)
class Turned:
    """One entry that took turns, with what the laboratory saw of it."""

    entry: str
    slot: int
    index: int
    """Place among the engine's targets."""
    proof: Proof
    after: Footprint
    end: str | None
    """How its first process ended, and its last line; None if it still ran."""
    constants: Mapping[str, float | None]
    """Figures known beforehand: ``binary_bytes``, ``build_s``, ``startup_s``, ``first_request_s``."""


def trials_of(
    cell: Cell, parameters: TurnsParameters, turns: Told, turned: Sequence[Turned], *, shared_core: bool
) -> list[Trial]:
    """One trial for each entry that took turns.

    Args:
        cell: the cell.
        parameters: its parameters, read.
        turns: what the engine said.
        turned: the entries.
        shared_core: contestants and engine had only one core.
    """
    return [_trial(cell, parameters, turns, each, shared_core=shared_core) for each in turned]


def _trial(cell: Cell, parameters: TurnsParameters, turns: Told, each: Turned, *, shared_core: bool) -> Trial:
    target = turns.targets.get(each.index)
    windows = [
        {**window, "cycle": cycle["cycle"]}
        for cycle in turns.cycles
        if cycle["phase"] == "measure"
        for window in cycle["windows"]
        if window["target"] == each.index
    ]
    if target is None or not windows:
        missing = Void("crashed", each.end) if each.end else Void("not-measured", "the engine reported no windows")
        return Trial(cell.id, each.entry, each.slot, void=missing)
    account = account_of(parameters, windows, each.proof)
    rest_ns = _sum(windows, "rest_wall_ns")
    rest_share = _sum(windows, "rest_cpu_ns") / rest_ns if rest_ns else 0.0
    wanted = set(cell.metrics)
    figures = _figures(parameters, each, target, account)
    void = (
        _failure(windows, target, each)
        or account.void(parameters)
        or gates.rest_void(rest_share, parameters.noise_bounds())
    )
    return Trial(
        cell=cell.id,
        entry=each.entry,
        slot=each.slot,
        figures={name: value for name, value in figures.items() if not wanted or name in wanted},
        windows=tuple(_window(parameters, window, each.proof) for window in windows),
        evidence=_evidence(parameters, each, target, account, rest_share),
        labels=tuple(_labels(parameters, windows, account, rest_share, shared_core=shared_core)),
        void=void,
    )


def account_of(parameters: TurnsParameters, windows: Sequence[Mapping[str, Any]], proof: Proof) -> Account:
    """Adds up both ends' figures.

    Args:
        parameters: the cell's.
        windows: as the engine reported them.
        proof: what one repetition has shown of all.
    """
    seen = [window.get("evidence") or {} for window in windows]
    upload = parameters.direction == "upload"
    completed = _sum(seen, "completed")
    worked = [window for window in windows if window["repetitions"]]
    timed = [window for window in worked if window.get("wall_ns") is not None]
    claims = [window.get("claimed_bytes") for window in worked]
    acked = [each.get("acked_bytes") for each in seen]
    body = _sum(seen, "body_bytes") - completed * proof.framing_bytes if upload else _sum(seen, "sent_body_bytes")
    return Account(
        repetitions=_sum(windows, "repetitions"),
        claimed_bytes=None if None in claims else sum(claim or 0 for claim in claims),
        origin_bytes=body,
        requests=_sum(seen, "requests"),
        completed=completed,
        connections=_sum(seen, "connections"),
        protocols=_counts(seen, "protocols"),
        refused=_counts(seen, "refused"),
        acked_bytes=None if None in acked else sum(each or 0 for each in acked),
        windows=len(acked),
        codings=_counts(seen, "codings"),
        claimed_codings=_counts(worked, "codings"),
        records=None if None in (window.get("records") for window in worked) else _sum(worked, "records"),
        encoded_bytes=proof.encoded_bytes,
        staged_ns=None if None in map(_staged_ns, worked) else sum(_staged_ns(window) or 0 for window in timed),
        timed_ns=_sum(timed, "wall_ns"),
    )


def _failure(windows: Sequence[Mapping[str, Any]], target: Mapping[str, Any], each: Turned) -> Void | None:
    """The first reason for which a repetition failed; one is enough."""
    failed: Counter[str] = Counter()
    for window in windows:
        failed.update(window.get("failed") or {})
    failed.update({reason: count for reason, count in (target.get("failed") or {}).items() if reason not in failed})
    example = next((window["error"] for window in windows if window.get("error")), None) or target.get("error")
    for reason, code in FAILURE_CODES.items():
        if count := failed.get(reason, 0):
            text = f"{count} repetitions: {gates.CODES[code].meaning}"
            examples = (words(more) for more in (example, each.end) if more)
            return Void(code, "; ".join([text, *(f"for example: {more}" for more in examples)]))
    unknown = {reason: count for reason, count in failed.items() if count}
    if unknown:
        return Void("failed", f"repetitions failed for unknown reasons: {unknown}")
    return Void("crashed", each.end) if each.end is not None else None


def _labels(
    parameters: TurnsParameters,
    windows: Sequence[Mapping[str, Any]],
    account: Account,
    rest_share: float,
    *,
    shared_core: bool,
) -> list[str]:
    labels = ["shared-core"] if shared_core else []
    if parameters.connection == "keep" and account.connections:
        labels.append("reconnects")
    if rest_share > parameters.bounds.rest_label:
        labels.append("restless")
    walls = [window for window in windows if window.get("wall_ns")]
    if _sum(walls, "origin_cpu_ns") > ORIGIN_BUSY * _sum(walls, "wall_ns") > 0:
        labels.append("origin-bound")
    costs = [
        window["cpu_ns"] / window["repetitions"] for window in windows if window.get("cpu_ns") and window["repetitions"]
    ]
    if (steady := steadiness(costs).label) not in {"flat", "too-short"}:
        labels.append(steady)
    return labels


def _figures(
    parameters: TurnsParameters, each: Turned, target: Mapping[str, Any], account: Account
) -> dict[str, float | None]:
    own = target.get("rss_peak_bytes")
    # Both edges of a window lie behind a response whose acknowledgement is under way: what is missing at one is there too much
    # at the other.
    acked, completed = account.acked_bytes, account.completed
    encoded = each.proof.encoded_bytes
    peaks = [peak for peak in (own, None if own else each.after.rss_peak_bytes) if peak is not None]
    return {
        **each.constants,
        "rss_peak_bytes": max(peaks, default=None),
        "stack_peak_bytes": each.after.stack_bytes,
        "encoded_bytes": encoded,
        "ratio": parameters.bytes / encoded if encoded else None,
        "wire_bytes_per_response": acked / completed if encoded and acked is not None and completed else None,
    }


def _evidence(
    parameters: TurnsParameters, each: Turned, target: Mapping[str, Any], account: Account, rest_share: float
) -> dict[str, Any]:
    """What proves that the trial did what it claims, and what differs between contestants without being a fault."""
    whole = target.get("evidence") or {}
    return {
        **account.both_ends(parameters),
        "sent_sha256": each.proof.sent_sha256,
        "received_sha256": each.proof.received_sha256,
        "repetitions": account.repetitions,
        "requests": account.requests,
        "completed": account.completed,
        "connections": account.connections,
        "protocols": dict(account.protocols),
        "protocol": _only(account.protocols),
        "coding": _only(account.codings),
        "codings": dict(account.codings),
        "encoded_bytes": each.proof.encoded_bytes,
        "records": account.records,
        "refused": dict(account.refused),
        "framing_bytes": each.proof.framing_bytes,
        "body": dict(each.proof.details),
        "repetitions_per_window": target.get("repetitions_per_window"),
        "packets_in": whole.get("packets_in"),
        "packets_out": whole.get("packets_out"),
        "wire_in_bytes": whole.get("wire_in_bytes"),
        "acked_bytes": whole.get("acked_bytes"),
        "buffer_bytes": parameters.buffer_bytes,
        "rest_share": rest_share,
        "processes": each.after.processes,
        "threads": each.after.threads,
    }


def _window(parameters: TurnsParameters, window: Mapping[str, Any], proof: Proof) -> Window:
    failed = sum((window.get("failed") or {}).values())
    done = window["repetitions"] if not failed else 0
    void = "failed-requests" if failed else None if done else "no-requests"
    values: dict[str, float | None] = {name: window.get(name) for name in WINDOW_VALUES}
    counts: dict[str, float | None] = {"requests": done, "body_bytes": done * parameters.bytes, "failed": failed}
    if parameters.patients is not None:
        staged, wall_ns = _staged_ns(window), window.get("wall_ns")
        counts |= {name: window.get(name) for name in STAGES}
        counts["beside_ns"] = None if staged is None or wall_ns is None else wall_ns - staged
        counts["encode_ns"] = (window.get("evidence") or {}).get("encode_ns")
        counts["encoded_bytes"] = None if proof.encoded_bytes is None else done * proof.encoded_bytes
    return Window(window["cycle"], window["position"], {**values, **counts}, void)


def _staged_ns(window: Mapping[str, Any]) -> int | None:
    """Sum of the contestant's own times in a window; None if they are not known."""
    times = [window.get(name) for name in STAGES]
    return None if None in times else sum(time or 0 for time in times)


def _only(found: Mapping[str, int]) -> str | None:
    """The one name; None if there are several, or none."""
    return next(iter(found)) if len(found) == 1 else None


def _counts(seen: Sequence[Mapping[str, Any]], key: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for each in seen:
        counts.update(each.get(key) or {})
    return {name: count for name, count in counts.items() if count}


def _sum(windows: Sequence[Mapping[str, Any]], key: str) -> int:
    return sum(window.get(key) or 0 for window in windows)
