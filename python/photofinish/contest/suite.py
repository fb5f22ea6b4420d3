"""A suite: contestants + workload + metrics + one headline metric, as read from ``suites/<name>.toml``."""

from typing import Any, Literal

from pydantic import Field

from photofinish.contest.frozen import Frozen
from photofinish.contest.matrix import Matrix


class Metric(Frozen):
    """One figure, and where it is read.

    ``source = "windows"``: per window ``scale * numerator / denominator``; pairs are compared within each cycle, and a
    round's effect is the median over cycles of the log ratio. ``source = "trial"``: ``figures[name]``, one a round.
    """

    name: str
    title: str
    unit: str
    better: Literal["lower", "higher"] = "lower"
    source: Literal["windows", "trial"] = "trial"
    numerator: str | None = None
    denominator: str | None = None
    scale: float = 1.0
    headline: bool = False
    judged: bool = True
    """False: shown with its interval but never compared (a screening or a constant such as the binary's size)."""
    digits: int = 2


class Cell(Frozen):
    """One point of the workload matrix. ``parameters`` are the driver's own and opaque to everything else."""

    id: str
    title: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    """Names of the metrics that this cell yields; empty: all of the suite's."""
    axes: dict[str, str] = Field(default_factory=dict)
    """Axis → value, where cells are a product: cells that differ in one axis alone can be compared with each other."""
    titles: dict[str, str] = Field(default_factory=dict)
    """Axis → title of its value."""


class Profile(Frozen):
    """A named selection of a suite: ``quick``, ``full``."""

    contestants: tuple[str, ...] = ()
    """Ids; empty: all that are found."""
    cells: tuple[str, ...] = ()
    """Ids, or patterns such as ``64-*-h2``; empty: all."""
    rounds: int | None = None
    """None: the fewest rounds at which Holm can still name a winner among that many pairs."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Laid over each cell's parameters."""


class Suite(Frozen):
    """A whole suite file."""

    schema_: Literal[1] = Field(alias="schema")
    name: str
    title: str
    question: str
    driver: str
    """A built-in driver's name, or ``package.module:Class``."""
    reference: str | None = None
    """Contestant that figures are shown as a share of; never a winner."""
    twins: tuple[str, ...]
    """Contestants that are entered twice: the A/A control. At least one of them must be able to race."""
    alternating: bool = True
    """True: contestants alternate in windows, so the smallest difference judged is 1 %; else 2 %."""
    interleaved: bool = False
    """All cells of a round are visited in one tour, so that cells can be compared as contestants are."""
    contrast: str | None = None
    """Axis whose values are compared with each other, contestant by contestant; the cells have to be interleaved."""
    front: tuple[str, str] | None = None
    """Two metrics, of both of which less is better: which values of the contrast are beaten in both by none?"""
    cells: tuple[Cell, ...] = ()
    matrix: tuple[Matrix, ...] = ()
    """Further cells, as products; once loaded they stand among ``cells``."""
    metrics: tuple[Metric, ...]
    profiles: dict[str, Profile]
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The driver's parameters that hold for every cell."""
    contestants: str | None = None
    """Folder of the contestants; in a file relative to it, once loaded absolute. Default: ``../contestants/<name>``."""

    @property
    def headline(self) -> Metric:
        """The one metric that decides."""
        return next(metric for metric in self.metrics if metric.headline)
