"""Does HTTP/1.1 cost what it cost before? The engine of today beside an earlier one: CPU in turns, and instructions counted.

The generator's rows are whole runs against one origin of today; the origin's are windows in which the generator of today
visits both origins by turns. Instructions are those of user space, by ``perf stat``: a run of many requests less one of few.
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
from benches.peers.commands import OURS, Job, argv
from benches.protocols.costs import Client, Series, notes, shuffled
from benches.protocols.servers import CLIENT_CPU, ORIGIN, SMALL, Place, Server, running
from benches.protocols.visiting import Visit, visited
from benches.protocols.visiting import expected_s as visit_s
from benches.readme import table

from photofinish.testbed.ports import Ports

BACKENDS = ("io_uring", "epoll")
NOW, BEFORE = "now", "before"
CONNECTIONS = 100
FEW, MANY = 20_000, 120_000
MOST = 1.02
"""A ratio above this is slower: the least difference that the laboratory calls one."""


@dataclass
class Seen:
    """CPU µs a request, and instructions a request, by (role, back end); each with the engines by name."""

    cpu: dict[tuple[str, str], Series] = field(default_factory=dict)
    instructions: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)


def expected_s(rounds: int, cycles: int, seconds: float) -> float:
    """Wall time of this part."""
    return rounds * (len(BACKENDS) * (2 * (seconds + 0.15) + visit_s(2, cycles)) + 1) + 10


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
            if number == 0 and shutil.which("perf"):
                for role in ("load", "origin"):
                    seen.instructions[role, backend] = counted(role, backend, engines, servers)
        say((number + (backend == BACKENDS[-1])) / rounds)
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


def counted(role: str, backend: str, engines: dict[str, Path], servers: dict[str, Server]) -> dict[str, float]:
    """Instructions a request, by engine: of the generator against the origin of today, or of each origin.

    Empty where the machine counts none.
    """
    found = {}
    for name, engine in engines.items():
        job = Job(servers[NOW if role == "load" else name].url(SMALL), CONNECTIONS, 10)
        program = engine if role == "load" else engines[NOW]
        pid = servers[name].pid if role == "origin" else None
        many, few = (_instructions(program, backend, replace(job, requests=count), pid) for count in (MANY, FEW))
        if many is not None and few is not None:
            found[name] = (many - few) / (MANY - FEW)
    return found


def _instructions(engine: Path, backend: str, job: Job, pid: int | None) -> int | None:
    """Those of the load itself, or of the process ``pid`` while it runs."""
    line = argv(OURS, engine, job) or []
    with tempfile.NamedTemporaryFile("r", suffix=".perf") as counts:
        perf = ["perf", "stat", "-x", ",", "-e", "instructions:u", "-o", counts.name]
        perf += ["-p", str(pid)] if pid is not None else []
        load = ["taskset", "-c", str(CLIENT_CPU), *perf, "--", *line, "--backend", backend]
        subprocess.run(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        said = re.search(r"^(\d+),[^,]*,instructions:u", counts.read(), re.MULTILINE)
    return int(said[1]) if said else None


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
