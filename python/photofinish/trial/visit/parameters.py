"""Parameters of a visited cell, as they stand in the suite after merging."""

import math
from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field, ValidationError

from photofinish.contest.frozen import Frozen
from photofinish.contest.levels import level_problem
from photofinish.contest.manifest import CLEAR, Coding, Manifest, Protocol
from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell, Suite
from photofinish.errors import InputError
from photofinish.trial.gates import Bounds
from photofinish.trial.noise import LimitsOfNoise
from photofinish.trial.parameters import place, problems

VISIT_OVERHEAD_MS = 6.0
"""Draining twice and reading edges, a visit; a guess for planning only."""


class Request(Frozen):
    """What is asked."""

    method: str = "GET"
    path: str = Field(default="/", pattern="^/")
    headers: tuple[tuple[str, str], ...] = ()


class Expect(Frozen):
    """What has to come back; null: as in the first accepted answer."""

    status: int = Field(default=200, ge=100, le=599)
    body_bytes: int | None = Field(default=None, ge=0)
    body_xxh3: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")


class Closed(Frozen):
    """Every connection asks again as soon as it is answered."""

    mode: Literal["closed"]
    connections: int = Field(ge=1)
    streams: int = Field(default=1, ge=1)
    """Requests in flight on each connection."""


class Open(Frozen):
    """Requests start when the schedule says so."""

    mode: Literal["open"]
    connections: int = Field(ge=1)
    streams: int = Field(default=1, ge=1)
    rate: float = Field(gt=0)
    """Requests a second."""
    arrivals: Literal["constant", "poisson"] = "poisson"


class VisitParameters(Frozen):
    """All parameters of a visited cell."""

    request: Request = Request()
    expect: Expect = Expect()
    protocol: Protocol = "http/1.1"
    coding: Coding | None = None
    """Asked for, alone, and demanded of each response; the expected body is the decoded one. None: nothing is said of codings."""
    level: int | None = Field(default=None, ge=0)
    """Asked for in the path, ``/level/LEVEL`` before the request's own; None: the contestant's default."""
    resume: bool = False
    """TLS sessions are resumed when connections are made anew."""
    link: Literal["loopback"] = "loopback"
    """What lies between engine and contestant."""
    load: Annotated[Closed | Open, Field(discriminator="mode")]
    window_ms: float = Field(default=15, ge=1, le=1000)
    settle_ms: float = Field(default=2, ge=0)
    drain_ms: float = Field(default=250, gt=0)
    reconnect: bool = True
    """Make the connections anew at each visit: a set of connections has a cost of its own, by where its state lies in
    memory, and one set a round would stay in every ratio of that round."""
    cycles: int = Field(default=40, ge=1)
    warmup_s: float = Field(default=3.0, ge=0)
    backend: Literal["auto", "io_uring", "epoll"] = "auto"
    bounds: LimitsOfNoise = LimitsOfNoise()

    def is_secure(self) -> bool:
        """Over TLS or QUIC."""
        return self.protocol not in CLEAR

    def path(self, query: str = "") -> str:
        """What is asked for, with a contestant's own query."""
        path = self.request.path if self.level is None else f"/level/{self.level}{self.request.path}"
        return f"{path}{'&' if '?' in path else '?'}{query}" if query else path

    def headers(self) -> list[tuple[str, str]]:
        """Fields of the request."""
        coding = [] if self.coding is None else [("Accept-Encoding", self.coding)]
        return [*self.request.headers, *coding]

    def unable(self, manifest: Manifest) -> str | None:
        """Why a contestant can't take part in this cell, by its manifest; None if it can."""
        if self.protocol not in manifest.protocols:
            return f"it speaks {' and '.join(manifest.protocols)}, not {self.protocol}"
        if self.coding is not None and self.coding not in manifest.codings:
            return f"it sends {' and '.join(manifest.codings)}, not {self.coding}"
        if self.coding is not None and self.level is not None:
            levels = manifest.levels.get(self.coding)
            if levels is None:
                return f"it has no level of {self.coding} to choose"
            if not levels[0] <= self.level <= levels[1]:
                return f"its levels of {self.coding} are {levels[0]} to {levels[1]}"
        return None

    def cycle_s(self, targets: int) -> float:
        """Length of a cycle in which each target is visited once."""
        return targets * (self.window_ms + self.settle_ms + VISIT_OVERHEAD_MS) / 1000

    def warmup_cycles(self, targets: int) -> int:
        """Cycles that fill the time of warming up."""
        return math.ceil(self.warmup_s / self.cycle_s(targets))

    def expected_s(self, targets: int) -> float:
        """Length of the whole visit."""
        return (self.warmup_cycles(targets) + self.cycles) * self.cycle_s(targets)

    def noise_bounds(self) -> Bounds:
        """The bounds, for the gates."""
        return self.bounds.as_bounds()


def parameters_of(cell: Cell) -> VisitParameters:
    """Reads a cell that ``check`` has accepted."""
    return VisitParameters.model_validate(cell.parameters)


def any_secure(suite: Suite) -> bool:
    """Whether one of a suite's cells, raced or not, is over TLS or QUIC: how a contestant starts depends on no choice of cells."""
    secure = (protocol for protocol in get_args(Protocol) if protocol not in CLEAR)
    asked = {cell.parameters.get("protocol", suite.parameters.get("protocol")) for cell in suite.cells}
    return not asked.isdisjoint(secure)


def tours(cells: Sequence[Cell], *, interleaved: bool) -> list[list[Cell]]:
    """The cells that are visited together: each alone, or all whose schedule of windows is the same."""
    if not interleaved:
        return [[cell] for cell in cells]
    own = {"request", "expect", "protocol", "coding", "level"}
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(parameters_of(cell).model_dump_json(exclude=own), []).append(cell)
    return list(found.values())


def check(plan: Plan) -> None:
    """Reads the parameters of all cells.

    Raises:
        InputError: all that is wrong with them, one line a problem.
    """
    lines: list[str] = []
    for cell in plan.cells:
        try:
            parameters = parameters_of(cell)
        except ValidationError as error:
            lines += problems(plan, cell, error)
            continue
        if (
            parameters.coding is not None
            and (problem := level_problem(parameters.coding, parameters.level)) is not None
        ):
            lines.append(f"{place(plan, cell)}.level: {problem}")
        elif all(parameters.unable(entry.manifest) for entry in plan.entries if not entry.is_reference):
            lines.append(
                f"{place(plan, cell)}: not one of the contestants can do it; choose another cell, or other contestants"
            )
    if lines:
        raise InputError("\n".join(lines))
