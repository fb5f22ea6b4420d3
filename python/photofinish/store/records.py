"""What the store keeps. Plain immutable data; units stand in the names of figures (``_ns``, ``_bytes``)."""

from dataclasses import dataclass, field
from typing import Any

from photofinish.contest.plan import Plan


@dataclass(frozen=True, slots=True)
class Void:
    """Why something does not count: a code for machines, a sentence for people."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Window:
    """One window of one trial: its place and what was read at its edges."""

    cycle: int
    position: int
    values: dict[str, float | None]
    void: str | None = None
    """Reason code of a window that does not count."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One entry's share of one round on one cell."""

    cell: str
    entry: str
    slot: int
    """Place of the entry in this round's order of starting."""
    figures: dict[str, float | None] = field(default_factory=dict)
    windows: tuple[Window, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    histograms: dict[str, str] = field(default_factory=dict)
    """Name → HdrHistogram V2, base64."""
    labels: tuple[str, ...] = ()
    """Codes that qualify without voiding: ``rate-not-held``, ``warming-up``, ``drain-incomplete`` …"""
    voided_figures: dict[str, str] = field(default_factory=dict)
    """Figure name → reason code, e.g. ``latency_p99_ns: too-few-requests``."""
    void: Void | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One set of fresh processes: the unit of statistics."""

    index: int
    seed: int
    started_at: str
    """ISO 8601, UTC."""
    duration_s: float
    trials: tuple[Trial, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    """Interference counters, engine's cost, laboratory's cost; for the record."""
    void: Void | None = None
    """The whole round is dropped, by a rule that does not look at the outcome."""


@dataclass(frozen=True, slots=True)
class Run:
    """One race: plan, environment, and how far it got."""

    id: str
    created_at: str
    plan: Plan
    environment: dict[str, Any]
    status: str
    """``running``, ``finished``, ``interrupted``."""
    version: str


@dataclass(frozen=True, slots=True)
class Race:
    """All that a verdict is a function of."""

    run: Run
    rounds: tuple[Round, ...]
