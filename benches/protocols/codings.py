"""JSON responses in each content coding: origin beside the published Hypercorn stack and nginx, raced by the laboratory.

Two races of the codings suite over HTTP/1.1: one in which each response is coded anew (``limit`` answers from a cache all the
same), one of bodies that are coded already, origin's cache (``limit``) beside nginx's stored files. The laboratory's own store
is all that is read here.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benches.goals import Goal, Measured
from benches.readme import table

from photofinish.store.records import Race
from photofinish.store.store import Store
from photofinish.verdict.readings import Readings, counted_rounds, read

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "suites" / "codings.toml"
SIZES = (1, 16, 64, 512)
FRESH_CODINGS, STORED_CODINGS = ("identity", "gzip-6", "br-4", "zstd-3"), ("gzip-9",)
ORIGIN, CACHED, HYPERCORN, NGINX, STORED = "origin", "limit", "fastapi-hypercorn", "nginx", "nginx-static"
FRESH_ENTRIES, STORED_ENTRIES = (ORIGIN, CACHED, NGINX, HYPERCORN), (CACHED, STORED)
METRIC = "server_cpu_us_per_response"
TIMES_HYPERCORN, TIMES_NGINX = 20.0, 1.0
WARMUP_S = 3.0
ROUND_S, STORED_ROUND_S = 24.0, 6.0
"""Wall time of a round of either race."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Both races; None where one could not be run."""

    fresh: Race | None
    stored: Race | None
    reasons: tuple[str, ...] = ()


def expected_s(rounds: int, *, quick: bool = False) -> float:
    """Wall time of this part, contestants built."""
    return rounds * (ROUND_S * (0.3 if quick else 1) + STORED_ROUND_S) + 10


def cells(sizes: Sequence[int], codings: Sequence[str]) -> list[str]:
    """Ids of the suite's cells over HTTP/1.1."""
    return [f"{size}-{coding}-h1" for size in sizes for coding in codings]


def shortened(kept: Path) -> Path:
    """The suite with a shorter warm-up: windows alternate, so that a cold one costs spread and no bias."""
    suite = SUITE.read_text(encoding="utf-8")
    contestants = f'driver = "visit"\ncontestants = "{ROOT / "contestants" / "codings"}"'
    suite = suite.replace('driver = "visit"', contestants, 1)
    lines = (f"warmup_s = {WARMUP_S}" if line.startswith("warmup_s") else line for line in suite.splitlines())
    path = kept / "codings.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Asked:
    """How to race."""

    work: Path
    """Folder for builds and runs."""
    kept: Path
    """Takes the stores."""
    rounds: int
    """Of each race."""
    quick: bool = False
    """Two sizes and two codings."""
    seed: int = 4
    """Of all orders."""


def measure(asked: Asked, say: Callable[[float], None]) -> Seen:
    """Runs both races; ``say`` is told the share that is done."""
    asked.kept.mkdir(parents=True, exist_ok=True)
    sizes = (1, 64) if asked.quick else SIZES
    codings = ("identity", "gzip-6") if asked.quick else FRESH_CODINGS
    found: list[Race | None] = []
    reasons = []
    for name, entries, chosen in (
        ("fresh", FRESH_ENTRIES, cells(sizes, codings)),
        ("stored", STORED_ENTRIES, cells(sizes, STORED_CODINGS)),
    ):
        raced, reason = race(asked, name, entries, chosen)
        found.append(raced)
        if reason:
            reasons.append(reason)
        say(ROUND_S / (ROUND_S + STORED_ROUND_S) if name == "fresh" else 1.0)
    return Seen(found[0], found[1], tuple(reasons))


def race(asked: Asked, name: str, entries: Sequence[str], chosen: Sequence[str]) -> tuple[Race | None, str]:
    """One race from its start to its store; None and the reason where there is none that counts."""
    store = asked.kept / f"{name}.sqlite"
    store.unlink(missing_ok=True)
    line = [sys.executable, "-m", "photofinish", "race", str(shortened(asked.kept)), "--quiet"]
    line += ["--cells", ",".join(chosen), "--only", ",".join(entries)]
    line += ["--rounds", str(asked.rounds), "--seed", str(asked.seed), "--work", str(asked.work), "--store", str(store)]
    done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return None, f"the race of {', '.join(entries)} ended with {done.returncode}: {said[-1] if said else 'no word'}"
    with Store.open(store, read_only=True) as opened:
        raced = opened.load(opened.resolve("latest"))
    if not counted_rounds(raced):
        return None, "no round of the race counts: others took the CPUs"
    return raced, ""


def readings(raced: Race) -> dict[str, Readings]:
    """Cell → what the race says of CPU a response."""
    plan, rounds = raced.run.plan, counted_rounds(raced)
    metric = next(metric for metric in plan.metrics if metric.name == METRIC)
    return {cell.id: read(plan, rounds, cell, metric) for cell in plan.cells}


def times(seen: Readings, entry: str, base: str) -> Measured | None:
    """How many times the base's responses an entry answers in a second of its CPU."""
    logs = seen.effects(entry, base)
    return None if logs is None else Measured.of_logs([float(one) for one in logs])


def goals(seen: Seen) -> list[Goal]:
    """One a cell and comparison that the goals speak of."""
    found = []
    if seen.fresh is not None:
        for cell, of_cell in readings(seen.fresh).items():
            for entry, how in ((ORIGIN, "coded anew"), (CACHED, "from cache")):
                what = f"responses a CPU second against {HYPERCORN}, {cell}, {how}"
                found.append(Goal(what, TIMES_HYPERCORN, times(of_cell, entry, HYPERCORN), at_least=True))
            if "gzip" in cell:
                what = f"responses a CPU second against {NGINX}, {cell}, coded anew"
                found.append(Goal(what, TIMES_NGINX, times(of_cell, ORIGIN, NGINX), at_least=True))
    if seen.stored is not None:
        for cell, of_cell in readings(seen.stored).items():
            what = f"responses a CPU second against {STORED}, {cell}, from cache"
            found.append(Goal(what, TIMES_NGINX, times(of_cell, CACHED, STORED), at_least=True))
    return found


def figures(seen: Seen) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Race → cell → contestant → CPU µs a response, a round each."""
    races = {"fresh": (seen.fresh, FRESH_ENTRIES), "stored": (seen.stored, STORED_ENTRIES)}
    return {
        name: {
            cell: {entry: list(of_cell.figures(entry)) for entry in entries}
            for cell, of_cell in readings(raced).items()
        }
        for name, (raced, entries) in races.items()
        if raced is not None
    }


def text(seen: Seen) -> str:
    """A row a cell, a column a contestant, and origin's multiples of the others."""
    parts = []
    if seen.fresh is not None:
        pairs = ((ORIGIN, HYPERCORN), (CACHED, HYPERCORN), (ORIGIN, NGINX))
        parts.append(_table(seen.fresh, FRESH_ENTRIES, pairs))
    if seen.stored is not None:
        parts.append(f"Bodies that are coded already:\n\n{_table(seen.stored, STORED_ENTRIES, ((CACHED, STORED),))}")
    return "\n\n".join([*parts, *(f"Without a figure: {reason}." for reason in seen.reasons)])


def _table(raced: Race, entries: Sequence[str], pairs: Sequence[tuple[str, str]]) -> str:
    head = ["cell", *(f"{entry}, CPU µs" for entry in entries)]
    head += [f"{entry} ÷ {base}, responses a CPU s [95 %]" for entry, base in pairs]
    rows = []
    for cell, seen in readings(raced).items():
        figures = [seen.figures(entry) for entry in entries]
        ratios = [times(seen, entry, base) for entry, base in pairs]
        middles = [f"{float(np.median(each)):,.1f}" if each else "–" for each in figures]
        rows.append([cell, *middles, *("–" if ratio is None else _coarse(ratio) for ratio in ratios)])
    rounds = len(counted_rounds(raced))
    return f"{rounds} of {len(raced.rounds)} rounds count.\n\n{table(head, rows)}"


def _coarse(ratio: Measured) -> str:
    ends = "" if ratio.low is None or ratio.high is None else f" [{ratio.low:.2f}, {ratio.high:.2f}]"
    return f"{ratio.value:.2f}{ends}"
