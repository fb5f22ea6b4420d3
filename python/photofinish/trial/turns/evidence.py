"""What both ends say about repetitions, compared. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    void = _said_no(parameters, answer, evidence)
    if void is None and saved is None:
        void = Void("nothing-saved", "it said that the body is saved, and there is no such file")
    if void is None and size != parameters.bytes:
        void = Void("wrong-bytes", f"it saved {size} bytes instead of {parameters.bytes}")
    if void is None and digest != wanted:
        void = Void("wrong-hash", f"it saved other bytes than were sent: SHA-256 {digest}, not {wanted}")
    return Proof(0, wanted, digest, details, void)


def _said_no(parameters: TurnsParameters, answer: Mapping[str, Any], evidence: Mapping[str, Any]) -> Void | None:
    """The contestant's own word first, then what the origin answered, then how often it was asked."""
    if answer.get("error") is not None:
        return Void("failed", f"it said: {words(answer['error'])}")
    status = answer.get("status")
    if not isinstance(status, int) or not 200 <= status < 300:
        return Void("wrong-status", f"it says that it was answered {words(status)}")
    if answer.get("bytes") != parameters.bytes:
        return Void("bytes-mismatch", f"it says {words(answer.get('bytes'))} bytes; the file has {parameters.bytes}")
    refused = evidence.get("refused") or {}
    if refused:
        return Void("wrong-status", f"the origin answered {_counts(refused)}, and the contestant says {status}")
    if evidence.get("completed") != 1:
        return Void(
            "bytes-mismatch",
            f"it says that one repetition is done; the origin saw {evidence.get('requests')} requests and"
            f" {evidence.get('completed')} whole ones",
        )
    return None


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

    def both_ends(self, parameters: TurnsParameters) -> dict[str, int | None]:
        """``sent`` and ``received``, each by the end that did it."""
        if parameters.direction == "upload":
            return {"sent": self.claimed_bytes, "received": self.origin_bytes}
        return {"sent": self.origin_bytes, "received": self.claimed_bytes}

    def void(self, parameters: TurnsParameters) -> Void | None:
        """What of it does not agree."""
        wanted = self.repetitions * parameters.bytes
        if self.refused:
            return Void("wrong-status", f"the origin answered {_counts(self.refused)}")
        if self.requests != self.repetitions or self.completed != self.repetitions:
            return Void(
                "bytes-mismatch",
                f"{self.repetitions} repetitions were commanded; the origin saw {self.requests} requests and"
                f" {self.completed} whole ones",
            )
        if self.claimed_bytes != wanted or self.origin_bytes != wanted:
            return Void(
                "bytes-mismatch",
                f"{wanted} bytes were due; the contestant says {self.claimed_bytes}, the origin {self.origin_bytes}",
            )
        others = {name: count for name, count in self.protocols.items() if name != parameters.protocol}
        if others:
            return Void("protocol-mismatch", f"asked for {parameters.protocol}; the origin saw {_counts(self.protocols)}")
        return self._wrong_connections(parameters) or self._unacknowledged(parameters)

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
        if self.acked_bytes + slack >= self.origin_bytes:
            return None
        return Void(
            "bytes-mismatch",
            f"the origin sent {self.origin_bytes} bytes, of which {self.acked_bytes} were acknowledged",
        )


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count} times" for name, count in sorted(found.items()))
