"""Does HTTP/1.1 cost what it cost before? The engine of today beside an earlier one: CPU in turns, and instructions counted.

The generator's rows are whole runs against one origin of today; the origin's are windows in which the generator of today
visits both origins by turns. Instructions are those of user space, by callgrind: a run of many requests less one of few.
"""

import random
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from benches.goals import Goal, Measured
from benches.peers.commands import OURS, Job, argv, read_ours
from benches.protocols.costs import Client, Series, notes, shuffled
from benches.protocols.servers import CLIENT_CPU, ORIGIN, SMALL, Place, Server, running
from benches.protocols.visiting import Visit, visited
from benches.protocols.visiting import expected_s as visit_s
from benches.readme import table

from photofinish.testbed.ports import Ports

BACKENDS = ("io_uring", "epoll")
NOW, BEFORE = "now", "before"
COUNTED = "epoll"
"""valgrind doesn't get a server on io_uring to its end."""
CONNECTIONS = 100
COUNTING_S = 60.0
FEW, MANY = 2_000, 12_000
MOST = 1.02
"""A ratio above this is slower: the least difference that the laboratory calls one."""


@dataclass
class Seen:
    """CPU µs a request, and instructions a request, by (role, back end); each with the engines by name."""

    cpu: dict[tuple[str, str], Series] = field(default_factory=dict)
    instructions: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)


def expected_s(rounds: int, cycles: int, seconds: float) -> float:
    """Wall time of this part."""
    return rounds * (len(BACKENDS) * (2 * (seconds + 0.15) + visit_s(2, cycles)) + 1) + 30


def measure(
    place: Place, before: Path, say: Callable[[float], None], *, rounds: int, cycles: int, seconds: float, seed: int = 5
) -> Seen:
    """Every round with fresh servers; ``before`` is the earlier engine."""
    chance, ports, seen = random.Random(seed), Ports(start=150), Seen()  # noqa: S311 - an order, reproducible on purpose
    engines = {NOW: place.engine, BEFORE: before}
    for key in product(("load", "origin"), BACKENDS):
        seen.cpu[key] = Series()
    for number, backend in ((number, backend) for number in range(rounds) for backend in BACKENDS):
        with both(place, engines, backend, ports) as servers:
            for name in shuffled(chance, list(engines)):
                client = Client(name, OURS, engines[name], ("--backend", backend))
                seen.cpu["load", backend].take(name, client, Job(servers[NOW].url(SMALL), CONNECTIONS, seconds))
            figures = visited(place, list(servers.values()), Visit(SMALL, CONNECTIONS, 1, cycles, number))
            for name, (figure, reason) in zip(servers, figures, strict=True):
                seen.cpu["origin", backend].add(name, figure, reason)
        say((number + (backend == BACKENDS[-1])) / rounds)
    if shutil.which("valgrind"):
        for role, backend in product(("load", "origin"), (COUNTED,)):
            counts = {
                name: counted(Counting(role, backend, replace(place, engine=engine), place), ports)
                for name, engine in engines.items()
            }
            seen.instructions[role, backend] = {name: each for name, each in counts.items() if each is not None}
    return seen


@contextmanager
def both(place: Place, engines: dict[str, Path], backend: str, ports: Ports) -> Iterator[dict[str, Server]]:
    """An origin of each engine, by name."""
    with ExitStack() as ending:
        servers = {}
        for name, engine in engines.items():
            its = replace(place, engine=engine, origin_flags=("--backend", backend))
            servers[name] = ending.enter_context(running([(ORIGIN, "http/1.1")], its, ports))[0]
        yield servers


@dataclass(frozen=True, slots=True)
class Counting:
    """What is counted: the generator or the origin of one engine, on one back end."""

    role: str
    backend: str
    place: Place
    """With the engine that is counted."""
    other: Place
    """With the engine of today, at the other end."""


def counted(counting: Counting, ports: Ports) -> float | None:
    """Instructions a request in user space, by callgrind; None where valgrind can't run it."""
    many, few = (_instructions(counting, count, ports) for count in (MANY, FEW))
    return None if many is None or few is None else (many - few) / (MANY - FEW)


def _instructions(counting: Counting, requests: int, ports: Ports) -> int | None:
    """Those of a process from its start to its end, with so many requests between."""
    flags = ("--backend", counting.backend)
    with tempfile.NamedTemporaryFile("r", suffix=".callgrind") as counts:
        wrapper = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={counts.name}")
        of_load = counting.role == "load"
        served = replace(counting.other if of_load else counting.place, origin_flags=flags)
        if not of_load:
            served = replace(served, wrapper=wrapper)
        with running([(ORIGIN, "http/1.1")], served, ports) as servers:
            generator = counting.place if of_load else counting.other
            job = Job(servers[0].url(SMALL), CONNECTIONS, 30, requests=requests)
            line = [*(argv(OURS, generator.engine, job) or []), *flags]
            whole = ["taskset", "-c", str(CLIENT_CPU), *(wrapper if of_load else ()), *line]
            done = subprocess.run(whole, capture_output=True, text=True, check=False, timeout=COUNTING_S)
        said = re.search(r"^(?:summary|totals): (\d+)", counts.read(), re.MULTILINE)
    accepted = read_ours(done.stdout).requests if done.returncode == 0 else None
    return int(said[1]) if said and accepted == requests else None


def goals(seen: Seen) -> list[Goal]:
    """One a role and back end, by CPU, and by instructions where they were counted."""
    found = []
    for (role, backend), series in seen.cpu.items():
        found.append(
            Goal(f"CPU a request against before, http/1.1, {role}, {backend}", MOST, series.ratio(NOW, BEFORE))
        )
        if counts := seen.instructions.get((role, backend)):
            ratio = Measured(counts[NOW] / counts[BEFORE]) if len(counts) == 2 else None
            found.append(Goal(f"instructions a request against before, http/1.1, {role}, {backend}", MOST, ratio))
    return found


def text(seen: Seen) -> str:
    """A row a role and back end."""
    rows = []
    for (role, backend), series in seen.cpu.items():
        ratio = series.ratio(NOW, BEFORE)
        figures = [series.figures(name) for name in (NOW, BEFORE)]
        cells = [role, backend, *(f"{statistics.median(each):.2f}" if each else "–" for each in figures)]
        cells.append("–" if ratio is None else str(ratio))
        counts = seen.instructions.get((role, backend), {})
        cells += [f"{counts[name]:,.0f}" if name in counts else "–" for name in (NOW, BEFORE)]
        rows.append(cells)
    head = [
        "role",
        "back end",
        "CPU µs/request, now",
        "before",
        "now ÷ before [95 %]",
        "instructions/request, now",
        "before",
    ]
    return f"`GET {SMALL}`, {CONNECTIONS} connections.\n\n{table(head, rows)}{notes(seen.cpu.values())}"
