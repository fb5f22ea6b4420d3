"""What both ends say about repetitions, compared. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from photofinish.store.records import Void
from photofinish.trial.turns.lines import words
from photofinish.trial.turns.parameters import TurnsParameters

FIELD = "file"
"""The form field that an upload has to use."""
ACKNOWLEDGEMENT_SLACK = 256 << 10
"""Bytes a connection whose acknowledgement may still be under way when the origin is asked."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What one repetition, looked at closely, has shown."""

    framing_bytes: int
    """What a body holds beyond the file: boundaries and heads of parts; 0 for downloads."""
    sent_sha256: str
    received_sha256: str | None
    details: Mapping[str, Any]
    """Of the body: parts, coding of the transfer, content type, bytes on the wire."""
    void: Void | None
    encoded_bytes: int | None = None
    """The body as the origin sent it, where that has a content coding to choose."""


def prove(
    parameters: TurnsParameters,
    answer: Mapping[str, Any],
    evidence: Mapping[str, Any],
    *,
    wanted_sha256: str,
    saved: tuple[int, str] | None,
) -> Proof:
    """Judges one repetition that the origin has read and hashed, or whose body the client has saved.

    Args:
        parameters: the cell's.
        answer: what the contestant said.
        evidence: what the origin saw, ``photofinish.evidence/1``; it has to be the trial's first request.
        wanted_sha256: of the payload.
        saved: length and SHA-256 of what a client saved.
    """
    if parameters.direction == "upload":
        return _prove_upload(parameters, answer, evidence, wanted_sha256)
    return _prove_download(parameters, answer, evidence, wanted_sha256, saved)


def _prove_upload(
    parameters: TurnsParameters, answer: Mapping[str, Any], evidence: Mapping[str, Any], wanted: str
) -> Proof:
    last = evidence.get("last") or {}
    parts = last.get("parts") or []
    multipart = bool(parts)
    files = [part for part in parts if part.get("filename") is not None]
    size, digest = (last.get("bytes"), last.get("sha256")) if not multipart else (None, None)
    if len(files) == 1:
        size, digest = files[0].get("bytes"), files[0].get("sha256")
    details = {key: last.get(key) for key in ("chunked", "content_length", "content_type", "parts")}
    framing = (last.get("bytes") or 0) - (size or 0)
    void = _said_no(parameters, answer, evidence)
    if void is None and multipart and (len(files) != 1 or files[0].get("name") != FIELD):
        fields = words(", ".join(str(part.get("name")) for part in parts) or "none")
        void = Void("wrong-form", f"the form has the fields {fields}; wanted is one file in the field `{FIELD}`")
    if void is None and size != parameters.bytes:
        void = Void("wrong-bytes", f"the origin read {size} bytes of the file instead of {parameters.bytes}")
    if void is None and digest != wanted:
        void = Void("wrong-hash", f"the origin read other bytes than the file holds: SHA-256 {digest}, not {wanted}")
    return Proof(framing, wanted, digest, details, void)


def _prove_download(
    parameters: TurnsParameters,
    answer: Mapping[str, Any],
    evidence: Mapping[str, Any],
    wanted: str,
    saved: tuple[int, str] | None,
) -> Proof:
    size, digest = saved or (None, None)
    details = {"saved_bytes": size, "wire_out_bytes": evidence.get("acked_bytes")}
    encoded = evidence.get("sent_body_bytes") if parameters.coding is not None else None
    void = _said_no(parameters, answer, evidence)
    if void is None and saved is None:
        void = Void("nothing-saved", "it said that the body is saved, and there is no such file")
    if void is None and size != parameters.bytes:
        void = Void("wrong-bytes", f"it saved {size} bytes instead of {parameters.bytes}")
    if void is None and digest != wanted:
        void = Void("wrong-hash", f"it saved other bytes than were sent: SHA-256 {digest}, not {wanted}")
    return Proof(0, wanted, digest, details, void, encoded)


def _said_no(parameters: TurnsParameters, answer: Mapping[str, Any], evidence: Mapping[str, Any]) -> Void | None:
    """The contestant's own word first, then what the origin answered, then how often it was asked."""
    if answer.get("error") is not None:
        return Void("failed", f"it said: {words(answer['error'])}")
    status = answer.get("status")
    if not isinstance(status, int) or not 200 <= status < 300:
        return Void("wrong-status", f"it says that it was answered {words(status)}")
    refused = evidence.get("refused") or {}
    if refused:
        return Void("wrong-status", f"the origin answered {counts(refused)}, and the contestant says {status}")
    return _disagrees(parameters, answer, evidence)


def _disagrees(parameters: TurnsParameters, answer: Mapping[str, Any], evidence: Mapping[str, Any]) -> Void | None:
    """How it was done first, then what came of it."""
    codings = {str(answer.get("coding")): 1}
    spoken = wrong_protocol(parameters, evidence.get("protocols") or {})
    if (void := spoken or wrong_coding(parameters, evidence.get("codings") or {}, codings)) is not None:
        return void
    if answer.get("bytes") != parameters.bytes:
        return Void("bytes-mismatch", f"it says {words(answer.get('bytes'))} bytes; the file has {parameters.bytes}")
    if parameters.patients is not None and answer.get("records") != parameters.patients:
        return Void("wrong-records", f"it says {words(answer.get('records'))} records; there are {parameters.patients}")
    if evidence.get("completed") != 1:
        return Void(
            "bytes-mismatch",
            f"it says that one repetition is done; the origin saw {evidence.get('requests')} requests and"
            f" {evidence.get('completed')} whole ones",
        )
    return None


def wrong_protocol(parameters: TurnsParameters, seen: Mapping[str, int]) -> Void | None:
    """A void if the origin saw requests over another protocol than the cell's."""
    if all(name == parameters.protocol for name in seen):
        return None
    return Void("protocol-mismatch", f"asked for {parameters.protocol}; the origin saw {counts(seen)}")


def wrong_coding(parameters: TurnsParameters, sent: Mapping[str, int], claimed: Mapping[str, int]) -> Void | None:
    """A void unless both ends say that all responses had the cell's content coding, where it has one.

    Args:
        parameters: the cell's.
        sent: responses by coding, by the origin.
        claimed: the same by the contestant.
    """
    if parameters.coding is None or set(sent) == set(claimed) == {parameters.coding}:
        return None
    return Void(
        "wrong-coding",
        f"asked for {parameters.coding}; the origin sent {counts(sent) or 'nothing that can be coded'}, the contestant says"
        f" {words(counts(claimed) or 'nothing')}",
    )


@dataclass(frozen=True, slots=True)
class Account:
    """Both ends' figures over all windows that count."""

    repetitions: int
    claimed_bytes: int | None
    """By the contestant: bytes of the file sent, or of bodies read."""
    origin_bytes: int
    """By the origin: bytes of the file read (framing taken off), or of bodies handed to the kernel."""
    requests: int
    completed: int
    connections: int
    protocols: Mapping[str, int]
    refused: Mapping[str, int]
    acked_bytes: int | None
    windows: int = 0
    """At the end of each the last body may not be acknowledged yet."""
    codings: Mapping[str, int] = field(default_factory=dict)
    """Responses by content coding, by the origin."""
    claimed_codings: Mapping[str, int] = field(default_factory=dict)
    """The same by the contestant."""
    records: int | None = None
    """Parsed, by the contestant."""
    encoded_bytes: int | None = None
    """Of one body as it is sent, where it has a content coding to choose; None: as it is."""
    staged_ns: int | None = None
    """Sum of the contestant's own times; None if it did not tell them in every window."""
    timed_ns: int | None = None
    """Sum of the same windows, seen from outside; None if one could not be timed."""

    def both_ends(self, parameters: TurnsParameters) -> dict[str, int | None]:
        """``sent`` and ``received``, each by the end that did it."""
        if parameters.direction == "upload":
            return {"sent": self.claimed_bytes, "received": self.origin_bytes}
        return {"sent": self.origin_bytes, "received": self.claimed_bytes}

    def void(self, parameters: TurnsParameters) -> Void | None:
        """What of it does not agree."""
        if self.refused:
            return Void("wrong-status", f"the origin answered {counts(self.refused)}")
        spoken = wrong_protocol(parameters, self.protocols)
        if (void := spoken or wrong_coding(parameters, self.codings, self.claimed_codings)) is not None:
            return void
        if self.requests != self.repetitions or self.completed != self.repetitions:
            return Void(
                "bytes-mismatch",
                f"{self.repetitions} repetitions were commanded; the origin saw {self.requests} requests and"
                f" {self.completed} whole ones",
            )
        wanted = self.repetitions * parameters.bytes
        at_origin = wanted if self.encoded_bytes is None else self.repetitions * self.encoded_bytes
        if self.claimed_bytes != wanted or self.origin_bytes != at_origin:
            due = f"{wanted} bytes" if at_origin == wanted else f"{at_origin} bytes, {wanted} once decoded,"
            return Void(
                "bytes-mismatch",
                f"{due} were due; the contestant says {self.claimed_bytes}, the origin {self.origin_bytes}",
            )
        return (
            self._wrong_parsing(parameters) or self._wrong_connections(parameters) or self._unacknowledged(parameters)
        )

    def _wrong_parsing(self, parameters: TurnsParameters) -> Void | None:
        """What was parsed, and the contestant's own times: no stage can have taken longer than all was seen to take."""
        if parameters.patients is None:
            return None
        wanted = self.repetitions * parameters.patients
        if self.records != wanted:
            return Void("wrong-records", f"{wanted} records were due; the contestant says {self.records}")
        if self.staged_ns is None:
            return Void("wrong-stages", "it does not tell transfer_ns, decode_ns and parse_ns every time")
        if self.timed_ns is not None and self.staged_ns > self.timed_ns:
            return Void(
                "wrong-stages", f"its stages took {self.staged_ns} ns by its own word, and all of it {self.timed_ns} ns"
            )
        return None

    def _wrong_connections(self, parameters: TurnsParameters) -> Void | None:
        if parameters.connection == "new" and self.connections != self.repetitions:
            return Void(
                "wrong-connections",
                f"{self.connections} connections for {self.repetitions} repetitions; one each is due",
            )
        if parameters.connection == "keep" and 2 * self.connections > self.repetitions:
            return Void(
                "wrong-connections",
                f"{self.connections} new connections for {self.repetitions} repetitions; one was to be kept",
            )
        return None

    def _unacknowledged(self, parameters: TurnsParameters) -> Void | None:
        if parameters.direction == "upload" or self.acked_bytes is None:
            return None
        slack = ACKNOWLEDGEMENT_SLACK * (1 + self.connections)
        body_bytes = self.encoded_bytes or parameters.bytes
        slack += self.windows * min(ACKNOWLEDGEMENT_SLACK, body_bytes)
        if self.acked_bytes + slack >= self.origin_bytes:
            return None
        return Void(
            "bytes-mismatch",
            f"the origin sent {self.origin_bytes} bytes, of which {self.acked_bytes} were acknowledged",
        )


def counts(found: Mapping[str, int]) -> str:
    """Each with its number, in words; empty if there are none."""
    return ", ".join(f"{name} {count} times" for name, count in sorted(found.items()))
