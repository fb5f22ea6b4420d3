"""The plan of a race: everything that is decided before the first process starts. Pure, and kept in the store."""

from photofinish.contest.frozen import Frozen
from photofinish.contest.manifest import Manifest
from photofinish.contest.suite import Cell, Metric, Suite


class Entry(Frozen):
    """A contestant as it is entered in one race; a twin is a second entry of the same contestant."""

    id: str
    """The contestant's id, or ``<id>~twin``."""
    contestant: str
    title: str
    folder: str
    """Absolute path of the contestant's folder."""
    manifest: Manifest
    twin_of: str | None = None
    is_reference: bool = False
    """The suite's ``limit``: measured like the others, never judged."""


class Absence(Frozen):
    """A contestant that was asked for and can't race, with its reason code."""

    contestant: str
    code: str
    detail: str


class Plan(Frozen):
    """A race, decided: same plan and seed, same orders."""

    suite: Suite
    profile: str
    seed: int
    entries: tuple[Entry, ...]
    absent: tuple[Absence, ...] = ()
    cells: tuple[Cell, ...]
    """With suite's, cell's and profile's parameters merged, in the order in which a round visits them."""
    metrics: tuple[Metric, ...]
    rounds: int
    """Fixed number of rounds, or the most rounds if ``until_decided``."""
    until_decided: bool = False
    budget_s: float | None = None
    """With ``until_decided``: no round starts after this many seconds."""
    alpha: float = 0.05
    workers: int = 1
    notes: tuple[str, ...] = ()
    """What was decided otherwise than asked, one sentence each: another twin, no reference."""
