"""What a race came to. These models are the JSON document of ``--json`` as well (``photofinish.race/1``)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Outcome = Literal["a-wins", "b-wins", "tie", "undecided", "noise-limited", "no-data"]


class Document(BaseModel):
    """Base of the verdict documents."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Estimate(Document):
    """One entry's figure for one metric on one cell, over all rounds that count."""

    entry: str
    value: float | None
    """Median over rounds, in the metric's unit."""
    low: float | None
    high: float | None
    """Distribution-free interval of the median at 1 − alpha (nearest attainable above; see ``attained``)."""
    attained: float | None
    rounds: int
    share_of_reference: float | None
    """The limit's figure as a share of this one (or the reverse where higher is better): 1.0 is the limit itself."""
    labels: tuple[str, ...] = ()
    voids: dict[str, int] = Field(default_factory=dict)
    """Reason code → number of rounds that it took away."""


class PairVerdict(Document):
    """Two entries compared: ``ratio`` is b's figure over a's."""

    a: str
    b: str
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    """Two-sided exact signed-rank p."""
    p_adjusted: float | None
    """Holm over all pairs of this cell and metric."""
    minimum_detectable_effect: float | None
    """As a share: 0.012 means that 1.2 % would have been found with a power of 80 %."""
    rounds: int
    bootstrap_low: float | None = None
    bootstrap_high: float | None = None
    outcome: Outcome
    is_twin: bool = False


class MetricVerdict(Document):
    """One metric on one cell."""

    metric: str
    title: str
    unit: str
    better: Literal["lower", "higher"]
    headline: bool
    judged: bool
    digits: int
    floor: float | None
    """Noise floor from the twins, as a share."""
    delta: float
    """Smallest difference that counts here: max(1 % or 2 %, floor)."""
    noise_limited: bool
    top_set: tuple[str, ...]
    """Entries that nobody beats; never the reference, never a twin's second entry."""
    estimates: tuple[Estimate, ...]
    pairs: tuple[PairVerdict, ...]
    note: str | None = None
    """One sentence for people: why there is no winner, what would be needed."""


class Aside(Document):
    """An entry that a cell is not for: no trial of it was made, and nothing is held against it."""

    entry: str
    reason: str


class CellVerdict(Document):
    """All metrics on one cell."""

    cell: str
    title: str
    metrics: tuple[MetricVerdict, ...]
    aside: tuple[Aside, ...] = ()
    """They are in no metric of this cell."""


class ContrastGroup(Document):
    """The values of one axis compared: one contestant, one combination of the other axes.

    In ``metrics`` the entries are the values of the axis, and ``VALUE~twin`` where the contestant was entered twice.
    """

    contestant: str
    axes: dict[str, str]
    """The other axes → value."""
    title: str
    metrics: tuple[MetricVerdict, ...]
    aside: tuple[Aside, ...] = ()
    front: tuple[str, ...] = ()
    """Values that no other is proven to beat in one of the two metrics without losing in the other."""


class ContrastVerdict(Document):
    """The values of one axis compared, contestant by contestant, over the same windows as the contestants."""

    axis: str
    values: tuple[str, ...]
    front_of: tuple[str, str] | None
    """The two metrics of the front."""
    groups: tuple[ContrastGroup, ...]


class VoidCount(Document):
    """What did not count, and why; shown, never hidden."""

    entry: str | None
    """None: a whole round."""
    cell: str | None
    code: str
    count: int
    example: str


class TwinVerdict(Document):
    """The A/A control on one cell and metric."""

    cell: str
    metric: str
    a: str
    b: str
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    rejected: bool
    """True: the design saw a difference where there is none."""
    spread: float | None
    """Standard deviation over rounds of the log ratio."""


class TrialEvidence(Document):
    """What proves one trial, or why it does not count."""

    round: int
    cell: str
    entry: str
    void: str | None
    """Reason code; that of a whole round stands at each of its trials."""
    evidence: dict[str, Any] = Field(default_factory=dict)


class EntryInfo(Document):
    """Who raced."""

    entry: str
    contestant: str
    title: str
    language: str
    version: str
    tuning: str
    twin_of: str | None
    is_reference: bool
    evidence: dict[str, Any] = Field(default_factory=dict)
    """Of its first counted trial: status, bytes on the wire, body hash."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """Build time, binary size, version found."""


class RaceVerdict(Document):
    """The whole result of a race; ``photofinish.race/1``."""

    schema_: Literal["photofinish.race/1"] = Field(default="photofinish.race/1", alias="schema")
    run: str
    created_at: str
    version: str
    status: str
    suite: str
    title: str
    question: str
    profile: str
    seed: int
    alpha: float
    rounds_planned: int
    rounds_counted: int
    duration_s: float
    environment: dict[str, Any]
    entries: tuple[EntryInfo, ...]
    absent: tuple[dict[str, str], ...]
    cells: tuple[CellVerdict, ...]
    voids: tuple[VoidCount, ...]
    twins: tuple[TwinVerdict, ...]
    trials: tuple[TrialEvidence, ...] = ()
    """All of them, whether they count or not, in the order of the rounds."""
    contrast: ContrastVerdict | None = None
    decided: bool
    """Every judged pair of the headline metric is won or tied."""
