"""Parameters of a visited cell, as they stand in the suite after merging."""

import math
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell, Frozen
from photofinish.errors import InputError
from photofinish.trial.gates import Bounds
from photofinish.trial.noise import LimitsOfNoise
from photofinish.trial.parameters import problems

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


class Open(Frozen):
    """Requests start when the schedule says so."""

    mode: Literal["open"]
    connections: int = Field(ge=1)
    rate: float = Field(gt=0)
    """Requests a second."""
    arrivals: Literal["constant", "poisson"] = "poisson"


class VisitParameters(Frozen):
    """All parameters of a visited cell."""

    request: Request = Request()
    expect: Expect = Expect()
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


def check(plan: Plan) -> None:
    """Reads the parameters of all cells.

    Raises:
        InputError: all that is wrong with them, one line a problem.
    """
    lines: list[str] = []
    for cell in plan.cells:
        try:
            parameters_of(cell)
        except ValidationError as error:
            lines += problems(plan, cell, error)
    if lines:
        raise InputError("\n".join(lines))
