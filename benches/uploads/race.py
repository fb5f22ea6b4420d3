"""The uploads suite, raced by the laboratory, read against its goals: the laboratory's own store is all that is read here."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benches.goals import Goal, Measured, goals_table
from benches.readme import table

from photofinish.contest.suite import Cell
from photofinish.store.records import Race
from photofinish.store.store import Store
from photofinish.verdict.readings import Readings, counted_rounds, read

ROOT = Path(__file__).resolve().parents[2]
CELLS = ("10k-keep", "1m-keep", "100m-keep")
LARGEST = "100m-keep"
LIMIT, PIPE, OURS = "limit", "go-iopipe", "go-sendfile"
ENTRIES = (
    *(LIMIT, "rust-sendfile", "rust-uring-splice", OURS, "go-sendfile-generic"),
    *("go-splice", "go-multireader", "go-ospipe", PIPE, "go-buffer"),
)
BESIDE_ORIGIN = (LIMIT, "rust-sendfile", "go-multireader")
COST, ORIGIN = "cpu_ns_per_byte", "origin_cpu_ns_per_byte"
ALLOCATIONS, ALLOCATED = "allocations_per_upload", "allocated_bytes_per_upload"
MOST_OF_LIMIT, MOST_OF_PIPE = 1.2, 0.35
MOST_ALLOCATIONS, MOST_ALLOCATED = 65, 10 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One contestant on one cell; what isn't known is None."""

    entry: str
    cost: float
    """Its CPU, ns a byte."""
    to_limit: Measured | None
    to_pipe: Measured | None
    origin: float | None
    """The origin's CPU beside it, ns a byte."""
    origin_to_it: Measured | None
    allocations: float | None
    allocated: float | None


def sleeping(kept: Path) -> Path:
    """The suite with an origin that sleeps, whose own CPU can be known: what it costs besides is the uploaders' to pay."""
    suite = (ROOT / "suites" / "uploads.toml").read_text(encoding="utf-8")
    contestants = f'driver = "turns"\ncontestants = "{ROOT / "contestants" / "uploads"}"'
    suite = suite.replace('driver = "turns"', contestants, 1)
    suite = suite.replace("[parameters]", "[parameters]\norigin_spins = false\ninstruments = false", 1)
    path = kept / "sleeping.toml"
    path.write_text(suite, encoding="utf-8")
    return path


def race(work: Path, kept: Path, rounds: int, seed: int, *, origin_sleeps: bool = False) -> Race:
    """Races, with the result also as JSON in ``kept``, and reads the store.

    Args:
        work: folder for builds and runs.
        kept: takes the store and the JSON.
        rounds: of the race.
        seed: of all orders.
        origin_sleeps: a few uploaders against an origin that sleeps, for what that costs.

    Raises:
        SystemExit: the race failed, or not one round of it counts.
    """
    kept.mkdir(parents=True, exist_ok=True)
    name = "origin" if origin_sleeps else "race"
    store, document = kept / f"{name}.sqlite", kept / f"{name}.json"
    store.unlink(missing_ok=True)
    line = [
        sys.executable,
        "-m",
        "photofinish",
        "race",
        str(sleeping(kept)) if origin_sleeps else "uploads",
        "--cells",
        ",".join(CELLS),
        "--only",
        ",".join(BESIDE_ORIGIN if origin_sleeps else ENTRIES),
    ]
    line += ["--rounds", str(rounds), "--seed", str(seed), "--work", str(work)]
    line += ["--json", str(document), "--store", str(store)]
    done = subprocess.run(line, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise SystemExit(f"`{' '.join(line)}` ended with {done.returncode}")
    with Store.open(store, read_only=True) as opened:
        raced = opened.load(opened.resolve("latest"))
    if not counted_rounds(raced):
        raise SystemExit("no round of the race counts: others took the CPUs; quieten the machine and try again")
    return raced


def rows(raced: Race, cell: Cell) -> list[Row]:
    """All contestants of a cell that have a figure, the cheapest first."""
    plan, rounds = raced.run.plan, counted_rounds(raced)
    metrics = {metric.name: metric for metric in plan.metrics}
    seen = {name: read(plan, rounds, cell, metrics[name]) for name in (COST, ORIGIN, ALLOCATIONS, ALLOCATED)}
    found = []
    for entry in plan.entries:
        cost = middle(seen[COST].figures(entry.id))
        if entry.twin_of is not None or cost is None:
            continue
        found.append(
            Row(
                entry=entry.id,
                cost=cost,
                to_limit=against(seen[COST], entry.id, LIMIT),
                to_pipe=against(seen[COST], entry.id, PIPE),
                origin=middle(seen[ORIGIN].figures(entry.id)),
                origin_to_it=beside(seen[ORIGIN], seen[COST], entry.id),
                allocations=middle(seen[ALLOCATIONS].figures(entry.id)),
                allocated=middle(seen[ALLOCATED].figures(entry.id)),
            )
        )
    return sorted(found, key=lambda row: row.cost)


def middle(figures: Sequence[float]) -> float | None:
    """The median; None of nothing."""
    return float(np.median(figures)) if figures else None


def against(readings: Readings, entry: str, base: str) -> Measured | None:
    """How many times the base's cost an entry's is, by the paired windows of each round."""
    logs = readings.effects(base, entry) if entry != base else None
    return None if logs is None else Measured.of_logs([float(one) for one in logs])


def beside(origin: Readings, client: Readings, entry: str) -> Measured | None:
    """How many times the client's CPU the origin's is in the same rounds."""
    both = [
        (one[entry].figure, other[entry].figure)
        for one, other in zip(origin.rounds, client.rounds, strict=True)
        if entry in one and entry in other
    ]
    return Measured.of_pairs([one for one, _ in both], [other for _, other in both])


def origin_goals(by_cell: dict[str, list[Row]]) -> list[Goal]:
    """The origin's goal on each cell, held against what the rows say."""
    all_goals = []
    for cell, found in by_cell.items():
        fastest = found[0] if found else None
        what = f"origin's CPU against the cheapest uploader's ({fastest.entry if fastest else 'none'}), {cell}"
        all_goals.append(Goal(what, 1.0, fastest.origin_to_it if fastest else None, below=True))
    return all_goals


def goals(by_cell: dict[str, list[Row]]) -> list[Goal]:
    """The uploaders' goals, held against what the rows say."""
    named = {cell: {row.entry: row for row in found} for cell, found in by_cell.items()}
    largest = named.get(LARGEST, {}).get(OURS)
    all_goals = [
        Goal(f"{OURS} against {LIMIT}, CPU, {LARGEST}", MOST_OF_LIMIT, largest.to_limit if largest else None),
        Goal(f"{OURS} against {PIPE}, CPU, {LARGEST}", MOST_OF_PIPE, largest.to_pipe if largest else None),
    ]
    for cell, of_cell in named.items():
        ours = of_cell.get(OURS)
        counts = None if ours is None or ours.allocations is None else Measured(ours.allocations)
        sizes = None if ours is None or ours.allocated is None else Measured(ours.allocated)
        all_goals.append(Goal(f"{OURS}, allocations an upload, {cell}", MOST_ALLOCATIONS, counts, digits=0))
        all_goals.append(Goal(f"{OURS}, bytes allocated an upload, {cell}", MOST_ALLOCATED, sizes, digits=0))
    return all_goals


def text(raced: Race, held: Callable[[dict[str, list[Row]]], list[Goal]] = goals) -> str:
    """A table a cell, and the goals that they are held against."""
    by_cell = {cell.id: rows(raced, cell) for cell in raced.run.plan.cells}
    titles = {cell.id: cell.title for cell in raced.run.plan.cells}
    rounds, void = len(counted_rounds(raced)), sum(one.void is not None for one in raced.rounds)
    parts = [f"{rounds} rounds count, {void} are void; seed {raced.run.plan.seed}."]
    parts += [f"### {titles[cell]}\n\n{cell_table(found)}" for cell, found in by_cell.items()]
    return "\n\n".join([*parts, "### Goals", goals_table(held(by_cell))])


def cell_table(found: Iterable[Row]) -> str:
    """The rows of one cell, with the columns that anybody has a figure for."""
    head = ["uploader", "CPU, ns/byte", f"against {LIMIT} [95 %]", f"against {PIPE} [95 %]"]
    head += ["origin's CPU beside it, ns/byte", "allocations an upload", "bytes allocated an upload"]
    lines = [
        [
            row.entry,
            f"{row.cost:.4f}",
            "1" if row.entry == LIMIT else _or_dash(row.to_limit),
            "1" if row.entry == PIPE else _or_dash(row.to_pipe),
            _number(row.origin, 4),
            _number(row.allocations, 0),
            _number(row.allocated, 0),
        ]
        for row in found
    ]
    shown = [place for place in range(len(head)) if place == 0 or any(line[place] != "–" for line in lines)]
    return table([head[place] for place in shown], [[line[place] for place in shown] for line in lines])


def _or_dash(measured: Measured | None) -> str:
    return "–" if measured is None else str(measured)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
