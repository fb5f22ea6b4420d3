"""Parameters of a cell of clients or uploaders, as they stand in the suite after merging."""

from typing import Literal

from pydantic import Field, ValidationError

from photofinish.contest.frozen import Frozen
from photofinish.contest.levels import level_problem
from photofinish.contest.manifest import CLEAR, Coding, Connections, Manifest, Protocol
from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell
from photofinish.errors import InputError
from photofinish.trial.gates import Bounds
from photofinish.trial.launch import corpus_of
from photofinish.trial.noise import LimitsOfNoise
from photofinish.trial.parameters import place, problems

START_S = 0.35
"""Guess for the start, the check and the end of one contestant."""
TURN_OVERHEAD_MS = 3.0
"""Settling and reading edges, a window; a guess for planning only."""
BYTES_PER_MS = 2 << 20
"""Guess for how fast a contestant is."""
PARSED_BYTES_PER_MS = 64 << 10
"""The same where it decodes and parses what it fetches."""


class TurnsParameters(Frozen):
    """All parameters of a cell."""

    direction: Literal["upload", "download"]
    bytes: int = Field(ge=1, le=8 << 30)
    """Of the file that is sent, or of the body that is fetched, its content coding undone."""
    connection: Connections = "keep"
    """``keep``: all repetitions over one connection; ``new``: a connection of its own for each."""
    protocol: Protocol = "http/1.1"
    cache: Literal["warm", "cold"] = "warm"
    """``cold``: the file's pages are dropped from the page cache before each repetition; uploads only."""
    buffer_bytes: int = Field(default=65_536, ge=1)
    """Told to the contestants, for buffers that can be set."""
    fault: str | None = None
    """What the origin does wrong, for trying contestants: ``close:N``, ``stall:N``, ``413:N``, ``status:404``."""
    patients: Literal[1, 4, 16, 64, 512] | None = None
    """Records of the frozen corpus that are fetched and parsed, instead of random bytes that are thrown away."""
    coding: Coding | None = None
    """Sent as Accept-Encoding, and demanded of the response; with ``patients``."""
    level: int | None = None
    """Of the coding; None: the origin's default."""
    fresh: bool = False
    """The origin codes each response anew, instead of sending what it coded once."""
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
        repetition_ms = self.bytes / (PARSED_BYTES_PER_MS if self.patients else BYTES_PER_MS)
        return (max(self.window_ms, repetition_ms) + self.settle * repetition_ms + TURN_OVERHEAD_MS) / 1000

    def expected_s(self, targets: int) -> float:
        """A guess for the whole cell of one round."""
        return targets * (START_S + (self.warmup_cycles + self.cycles) * self.window_s())

    def noise_bounds(self) -> Bounds:
        """The bounds, for the gates."""
        return self.bounds.as_bounds()

    @property
    def secure(self) -> bool:
        """Does it go over TLS or QUIC?"""
        return self.protocol not in CLEAR

    def route(self) -> str:
        """The path on the origin, without a query."""
        if self.path is not None:
            return self.path
        if self.patients is not None:
            return f"{'' if self.level is None else f'/level/{self.level}'}/patients/{self.patients}"
        return "/upload" if self.direction == "upload" else f"/test/{self.bytes}"

    def query(self) -> str:
        """What the origin has to know beside the trial, to be added to its query."""
        hashed = "&hash=sha256" if self.route() == "/upload" else ""
        cached = "&from=cache" if self.patients is not None and not self.fresh else ""
        return f"{hashed}{cached}" + (f"&fault={self.fault}" if self.fault else "")

    def content(self) -> str | None:
        """Name of the corpus file that is fetched; None: random bytes."""
        return None if self.patients is None else f"patients-{self.patients}.json"

    def unable(self, manifest: Manifest) -> str | None:
        """Why a contestant can't take part in this cell, by its manifest; None if it can."""
        if self.protocol not in manifest.protocols:
            return f"it speaks {' and '.join(manifest.protocols)}, not {self.protocol}"
        if self.coding is not None and self.coding not in manifest.codings:
            return f"it takes {' and '.join(manifest.codings)}, not {self.coding}"
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
        lines += [f"{where}.{problem}" for problem in _problems_of_content(plan, parameters)]
        if all(parameters.unable(entry.manifest) for entry in plan.entries if not entry.is_reference):
            lines.append(f"{where}: not one of the contestants can do it; choose another cell, or other contestants")
    if lines:
        raise InputError("\n".join(lines))


def _problems_of_content(plan: Plan, parameters: TurnsParameters) -> list[str]:
    """What is wrong with what is fetched, each beginning with the parameter's name."""
    name = parameters.content()
    if name is None:
        alone = {"coding": parameters.coding, "level": parameters.level, "fresh": parameters.fresh or None}
        return [f"{key}: only patients are coded; add patients" for key, value in alone.items() if value is not None]
    if parameters.direction == "upload":
        return ["patients: they are fetched; set direction to download"]
    found = []
    if parameters.coding is None:
        found.append("coding: patients are fetched in a coding; add one, identity for none")
    elif (problem := level_problem(parameters.coding, parameters.level)) is not None:
        found.append(f"level: {problem}")
    path = corpus_of(plan.suite) / name
    try:
        size = path.stat().st_size
    except OSError as error:
        return [*found, f"patients: {path} can't be read ({error.strerror}); restore the folder corpus"]
    return found if size == parameters.bytes else [*found, f"bytes: {name} has {size}; write that"]
