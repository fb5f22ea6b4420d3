"""What a suite offers: contestants, cells, profiles."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from photofinish.contest.loading import Contestant
from photofinish.contest.presence import Machine, absence_of
from photofinish.contest.suite import Suite
from photofinish.report.terminal import plain_table


@dataclass(frozen=True, slots=True)
class Offered:
    """A contestant of a suite, as this machine sees it."""

    id: str
    title: str
    language: str
    version: str
    tuning: str
    quick: bool
    """Part of the quick profile."""
    absent: str | None
    """Why it can't race here, with the mend."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One suite."""

    suite: str
    title: str
    question: str
    profiles: tuple[str, ...]
    cells: dict[str, str]
    """Id → title."""
    contestants: tuple[Offered, ...]


def listing(suite: Suite, found: Iterable[Contestant], machine: Machine) -> Listing:
    """Describes a suite on a machine."""
    quick = suite.profiles["quick"].contestants if "quick" in suite.profiles else ()
    offered = []
    for manifest in (each.manifest for each in found):
        absence = absence_of(manifest, machine)
        offered.append(
            Offered(
                manifest.id,
                manifest.title,
                manifest.language,
                manifest.version,
                manifest.tuning,
                quick=manifest.id in quick,
                absent=absence.detail if absence else None,
            )
        )
    cells = {cell.id: cell.title for cell in suite.cells}
    return Listing(suite.name, suite.title, suite.question, tuple(suite.profiles), cells, tuple(offered))


def render(one: Listing) -> RenderableType:
    """A suite for the terminal."""
    contestants = plain_table("contestants (* in the quick profile)")
    for column in ("id", "language", "version", "tuning", "here"):
        contestants.add_column(column, overflow="fold")
    for each in one.contestants:
        here = Text(each.absent, style="yellow") if each.absent else Text("can race", style="green")
        mark = " *" if each.quick else ""
        contestants.add_row(Text(each.id + mark), each.language, Text(each.version), each.tuning, here)
    cells = plain_table("cells")
    cells.add_column("id")
    cells.add_column("workload", overflow="fold")
    for cell, title in one.cells.items():
        cells.add_row(Text(cell), Text(title))
    head = Text(f"{one.suite}: {one.title}. {one.question}", style="bold")
    profiles = Text(f"profiles: {', '.join(one.profiles)}")
    return Group(head, profiles, Text(), contestants, Text(), cells)
