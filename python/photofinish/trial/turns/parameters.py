"""Parameters of a cell of clients or uploaders, as they stand in the suite after merging."""

from typing import Literal

from pydantic import Field, ValidationError

from photofinish.contest.manifest import Connections, Manifest, Protocol
from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell, Frozen
from photofinish.errors import InputError
from photofinish.trial.gates import Bounds
from photofinish.trial.noise import LimitsOfNoise
from photofinish.trial.parameters import place, problems

START_S = 0.35
"""Guess for the start, the check and the end of one contestant."""
TURN_OVERHEAD_MS = 3.0
"""Settling and reading edges, a window; a guess for planning only."""
BYTES_PER_MS = 2 << 20
"""Guess for how fast a contestant is."""


class TurnsParameters(Frozen):
    """All parameters of a cell."""

    direction: Literal["upload", "download"]
    bytes: int = Field(ge=1, le=8 << 30)
    """Of the file that is sent, or of the body that is fetched."""
    connection: Connections = "keep"
    """``keep``: all repetitions over one connection; ``new``: a connection of its own for each."""
    protocol: Protocol = "http/1.1"
    cache: Literal["warm", "cold"] = "warm"
    """``cold``: the file's pages are dropped from the page cache before each repetition; uploads only."""
    buffer_bytes: int = Field(default=65_536, ge=1)
    """Told to the contestants, for buffers that can be set."""
    fault: str | None = None
    """What the origin does wrong, for trying contestants: ``close:N``, ``stall:N``, ``413:N``, ``status:404``."""
    path: str | None = Field(default=None, pattern="^/")
    """Instead of the suite's own route, for trying what happens elsewhere."""
    window_ms: float = Field(default=15, ge=1, le=1000)
    settle: int = Field(default=1, ge=0)
    """Repetitions before each window that don't count."""
    warmup_cycles: int = Field(default=10, ge=1)
    """Rounds of turns that don't count; they also tell how many repetitions fill a window."""
    cycles: int = Field(default=20, ge=1)
    most_repetitions: int = Field(default=400, ge=1, le=400)
    repetition_timeout_s: float = Field(default=30, gt=0)
    origin_spins: bool = True
    """The origin polls on a CPU that no contestant uses: a sleeping one would be woken at the contestants' expense. Its own
    CPU is known only while it sleeps. Of a round's cells the first one decides."""
    instruments: bool = True
    """Count system calls, copied bytes and allocations in passes of their own, beside the rounds."""
    bounds: LimitsOfNoise = LimitsOfNoise()

    def window_s(self) -> float:
        """A guess for one window with what belongs to it."""
        repetition_ms = self.bytes / BYTES_PER_MS
        return (max(self.window_ms, repetition_ms) + self.settle * repetition_ms + TURN_OVERHEAD_MS) / 1000

    def expected_s(self, targets: int) -> float:
        """A guess for the whole cell of one round."""
        return targets * (START_S + (self.warmup_cycles + self.cycles) * self.window_s())

    def noise_bounds(self) -> Bounds:
        """The bounds, for the gates."""
        return self.bounds.as_bounds()

    def route(self) -> str:
        """The path on the origin, without a query."""
        return self.path or ("/upload" if self.direction == "upload" else f"/test/{self.bytes}")

    def unable(self, manifest: Manifest) -> str | None:
        """Why a contestant can't take part in this cell, by its manifest; None if it can."""
        if self.protocol not in manifest.protocols:
            return f"it speaks {' and '.join(manifest.protocols)}, not {self.protocol}"
        if self.connection not in manifest.connections:
            policy = {"keep": "keep a connection", "new": "make a connection for each repetition"}[self.connection]
            return f"it can't {policy}"
        return None


def parameters_of(cell: Cell) -> TurnsParameters:
    """Reads a cell that ``check`` has accepted."""
    return TurnsParameters.model_validate(cell.parameters)


def check(plan: Plan) -> None:
    """Reads the parameters of all cells.

    Raises:
        InputError: all that is wrong with them, one line a problem.
    """
    lines = []
    for cell in plan.cells:
        where = place(plan, cell)
        try:
            parameters = parameters_of(cell)
        except ValidationError as error:
            lines += problems(plan, cell, error)
            continue
        if parameters.cache == "cold" and parameters.direction == "download":
            lines.append(f"{where}.cache: a download reads no file; leave out cold")
        if all(parameters.unable(entry.manifest) for entry in plan.entries if not entry.is_reference):
            lines.append(f"{where}: not one of the contestants can do it; choose another cell, or other contestants")
    if lines:
        raise InputError("\n".join(lines))
