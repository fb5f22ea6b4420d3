"""What makes a trial, a figure or a round not count, or count with a label. Pure rules, the same for all contestants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from photofinish.store.records import Void


class Code(NamedTuple):
    """What a reason code means, and what mends it."""

    meaning: str
    mend: str


CODES: dict[str, Code] = {
    # A contestant that is left out of the whole race.
    "missing-tool": Code("a command that the build or the start needs is not on PATH", "install it"),
    "missing-package": Code("a Debian package is not installed", "install it with apt-get, or run the race as root"),
    "build-failed": Code("the build ended with an error or took too long", "read the log that the message names"),
    # A trial that does not count.
    "not-ready": Code("it did not start, or did not answer in time", "read its last line; raise ready.timeout_s"),
    "crashed": Code("its first process ended while it was measured", "read its log; run it by hand"),
    "wrong-status": Code("it answered with another status", "ask for a path that it serves"),
    "wrong-bytes": Code("a body was shorter or longer than asked for", "make it send exactly the expected body"),
    "wrong-hash": Code("a body of the right length held other bytes", "make it send exactly the expected body"),
    "malformed": Code("an answer was not HTTP", "check the response head that it sends"),
    "stalled": Code("requests were left without an answer", "look for lost wake-ups, or raise drain_ms if it is slow"),
    "reset": Code("it reset connections with requests in flight", "raise its limits on connections and requests"),
    "closed-early": Code("it closed connections in the middle of an answer", "raise its limits and time-outs"),
    "refused": Code("it refused connections", "raise its backlog and its limit on connections"),
    "failed": Code("it said that a repetition failed", "read what it said; run it by hand"),
    "bytes-mismatch": Code("its two ends disagree about the bytes", "make it send or read all of it, every time"),
    "malformed-answer": Code("it answered a command with something else than its line", "print one JSON line for each"),
    "wrong-form": Code("its form did not hold one file in the field `file`", "send the form that the suite asks for"),
    "nothing-saved": Code("it did not save the body where it was told to", "write the body to the path after `save`"),
    "protocol-mismatch": Code("it spoke another protocol than asked for", "claim in its manifest what it can"),
    "wrong-coding": Code(
        "the content coding was another than asked for, or did not decode", "claim in its manifest what it can"
    ),
    "tls-failed": Code("no TLS connection came about", "check the certificate that it was given, and its TLS version"),
    "wrong-records": Code("it did not find as many records as were sent", "parse the whole body, and count them"),
    "wrong-stages": Code("its own times are missing, or can't be", "time each stage by a clock that never goes back"),
    "wrong-connections": Code("it kept connections it should not, or made ones anew", "follow the cell's policy"),
    "still-cached": Code("the file could not be dropped from the page cache", "put --work on a disk's file system"),
    "payload-changed": Code("somebody changed the file while it was sent", "no fault of its; find out who, race again"),
    "not-capable": Code("the cell asks for what its manifest does not claim", "no fault; see the other cells"),
    "exit-status": Code("a command ended with another status", "run it by hand and mend it"),
    "wrong-output": Code("a command printed something else", "make it print exactly what is expected"),
    "timed-out": Code("a command took longer than its time-out", "raise timeout_s, or mend the command"),
    "noisy-at-rest": Code("it used CPU while others were measured", "end its background work, or its log"),
    "leaked-children": Code("processes outlived its first one", "make it end its children on the stop signal"),
    "not-measured": Code("the engine reported nothing about it", "look for an engine of another version"),
    # A figure that does not count, beside others that do.
    "too-few-requests": Code("too few requests for this percentile", "raise cycles, or the rate"),
    "generator-bound": Code("the engine, not the contestant, was at its limit", "give the engine more cores"),
    # A window that does not count.
    "failed-requests": Code("requests failed in this window", "see the trial's evidence"),
    "no-requests": Code("nothing was answered in this window", "lengthen the window, or raise the rate"),
    # A whole round that does not count.
    "interference": Code("other work on the machine, or its host, took CPU", "end other programs; use a quiet machine"),
    # Labels: it counts, and the reader should know.
    "rate-not-held": Code("less than 99 % of the intended rate was answered", "compare at a lower rate"),
    "drain-incomplete": Code("a few requests were still in flight when a window closed", "raise drain_ms"),
    "transport-failures": Code("a few connections broke", "see the trial's evidence"),
    "origin-bound": Code("the origin, not the contestant, may have set the pace", "compare CPU, not time"),
    "restless": Code("it used a little CPU while others were measured", "look for timers and background threads"),
    "reconnects": Code("it closed connections and they were made anew", "expected of servers that limit requests"),
    "stopped-by-force": Code("the stop signal did not end it in time", "raise stop.timeout_s, or handle the signal"),
    "shared-core": Code("contestants and engine shared one core", "use a machine with two cores or more"),
    "warming-up": Code("its cost was still falling while it was measured", "raise warmup_s"),
    "slowing-down": Code("its cost was rising while it was measured", "look for a leak, or a growing heap"),
    "no-steady-state": Code("its cost kept changing while it was measured", "raise cycles; look at its windows"),
}

FAILURE_CODES = {
    "protocol": "protocol-mismatch",
    "tls": "tls-failed",
    "coding": "wrong-coding",
    "status": "wrong-status",
    "length": "wrong-bytes",
    "hash": "wrong-hash",
    "malformed": "malformed",
    "timeout": "stalled",
    "reset": "reset",
    "closed-early": "closed-early",
    "connect": "refused",
}
"""The engine's reasons → ours; in the order in which they are told when several apply."""

TRANSPORT = frozenset({"reset", "closed-early", "connect"})
"""Failures that a correct server can show now and then, for instance when an idle connection's time is up."""
TRANSPORT_BOUND = 0.001
CENSORED_BOUND = 0.01
REQUESTS_FOR = {
    "latency_p50_ns": 100,
    "latency_p90_ns": 1_000,
    "latency_p99_ns": 10_000,
    "latency_p999_ns": 100_000,
}
ENGINE_SATURATED = 0.95
CONTESTANT_BUSY = 0.90
CEILING_SHARE = 0.80
RATE_HELD = 0.99


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits that a suite may set otherwise; shares of one core's time, interference of all cores' time."""

    rest_void: float = 0.15
    rest_label: float = 0.02
    foreign: float = 0.25
    steal: float = 0.10


def failure_void(failed: Mapping[str, int], sent: int, example: str | None) -> Void | None:
    """A trial's void for failed requests: any wrong answer, or more broken connections than one in a thousand."""
    for reason, code in FAILURE_CODES.items():
        count = failed.get(reason, 0)
        if count and not (reason in TRANSPORT and count <= TRANSPORT_BOUND * sent):
            text = f"{count} of {sent} requests: {CODES[code].meaning}"
            return Void(code, f"{text}; for example: {example}" if example else text)
    unknown = {reason: count for reason, count in failed.items() if count and reason not in FAILURE_CODES}
    return Void("malformed", f"failures of unknown kinds: {unknown}") if unknown else None


def negotiation_void(protocol: str, coding: str | None, evidence: Mapping[str, Any] | None) -> Void | None:
    """A trial's void for evidence of another protocol or coding than the cell's own.

    Args:
        protocol: the cell's.
        coding: the cell's; None: whatever comes.
        evidence: the engine's, of the first accepted response; None: there was none.
    """
    if evidence is None:
        return None
    if (spoken := evidence.get("protocol", protocol)) != protocol:
        return Void("protocol-mismatch", f"asked for {protocol}, it spoke {spoken}")
    if coding is not None and (sent := evidence.get("coding")) != coding:
        return Void("wrong-coding", f"asked for {coding}, it sent {sent}")
    return None


def stall_void(requests: int, sent: int, censored: int) -> Void | None:
    """A trial's void for requests without an answer."""
    if requests == 0:
        return Void("stalled", f"none of {sent} requests was answered")
    if censored > CENSORED_BOUND * sent:
        return Void("stalled", f"{censored} of {sent} requests were still without an answer when their window closed")
    return None


def rest_void(share: float, bounds: Bounds) -> Void | None:
    """A trial's void for CPU used in the others' windows."""
    if share <= bounds.rest_void:
        return None
    return Void(
        "noisy-at-rest", f"{share:.1%} of a core while others were measured; allowed are {bounds.rest_void:.0%}"
    )


def interference_void(foreign: float, steal: float, bounds: Bounds) -> Void | None:
    """A round's void; it looks at the machine only, never at what was measured."""
    if foreign > bounds.foreign:
        text = f"other programs took {foreign:.1%} of all CPU time; allowed are {bounds.foreign:.0%}"
        return Void("interference", text)
    if steal > bounds.steal:
        return Void("interference", f"the host took {steal:.1%} of all CPU time; allowed are {bounds.steal:.0%}")
    return None


def generator_bound(engine_busy: float, contestant_busy: float) -> bool:
    """In a closed loop: was the engine at its limit while the contestant had time left?

    Args:
        engine_busy: share of the windows in which the engine did not wait.
        contestant_busy: share of its cores that the contestant used.

    Cost per request stays valid then, and latency keeps its lag histogram; capacity is the engine's, not the
    contestant's, and is void.
    """
    return engine_busy > ENGINE_SATURATED and contestant_busy < CONTESTANT_BUSY


def under_a_false_ceiling(rate: float, reference_rate: float | None, *, reference_generator_bound: bool) -> bool:
    """Does a contestant come within 80 % of a reference that was itself held back by the engine?

    If the reference was at its own limit, coming close to it is an achievement and no artefact.
    """
    return reference_generator_bound and reference_rate is not None and rate >= CEILING_SHARE * reference_rate


def too_few(figure: str, requests: int) -> bool:
    """Are there too few requests for this percentile (ten beyond it at least, a hundred from p99 on)?"""
    return requests < REQUESTS_FOR.get(figure, 0)
