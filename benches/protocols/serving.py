"""What an HTTP/2 request costs origin beside nghttpd and nginx: visited in windows by the engine, and loaded by h2load."""

import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

from benches.goals import Goal
from benches.peers.commands import Job
from benches.peers.install import installed
from benches.protocols.costs import Client, RunError, Series, notes, run
from benches.protocols.servers import BYTES, MEDIUM, NGHTTPD, NGINX_NAME, ORIGIN, SMALL, Place, Server, running
from benches.protocols.visiting import Visit, visited
from benches.protocols.visiting import expected_s as visit_s
from benches.readme import table

from photofinish.testbed.ports import Ports

SERVERS, PROTOCOLS = (ORIGIN, NGHTTPD, NGINX_NAME), ("h2", "h2+tls")
CONNECTIONS = 10
BOUND = 0.8
PEER = "h2load"


@dataclass(frozen=True, slots=True)
class Load:
    """So many streams a connection ask for one body."""

    path: str
    streams: int

    @property
    def title(self) -> str:
        """``100 B × 32 streams``."""
        return f"{BYTES[self.path]} B × {self.streams} stream{'s' if self.streams > 1 else ''}"


LOADS = (Load(SMALL, 1), Load(SMALL, 32), Load(MEDIUM, 32))


@dataclass
class Seen:
    """Server CPU µs a request: by protocol and load, windows of the engine and whole runs of h2load apart."""

    windows: dict[tuple[str, Load], Series] = field(default_factory=dict)
    runs: dict[tuple[str, Load], Series] = field(default_factory=dict)


def expected_s(rounds: int, cycles: int, seconds: float) -> float:
    """Wall time of this part."""
    targets = len(SERVERS) * len(PROTOCOLS)
    return rounds * (len(LOADS) * visit_s(targets, cycles) + len(LOADS) * targets * (seconds + 0.1) + 1)


def measure(
    place: Place, rounds: int, cycles: int, seconds: float, say: Callable[[float], None], *, seed: int = 3
) -> Seen:
    """Every round with fresh servers."""
    chance, ports, seen = random.Random(seed), Ports(start=100), Seen()  # noqa: S311 - an order, reproducible on purpose
    for key in product(PROTOCOLS, LOADS):
        seen.windows[key], seen.runs[key] = Series(), Series()
    peer = installed((PEER,)).get(PEER)
    for number in range(rounds):
        with running(list(product(SERVERS, PROTOCOLS)), place, ports) as servers:
            for at, load in enumerate(LOADS):
                asked = Visit(load.path, CONNECTIONS, load.streams, cycles, 100 * number + at)
                for server, (figure, reason) in zip(servers, visited(place, servers, asked), strict=True):
                    seen.windows[server.protocol, load].add(server.name, figure, reason)
                for server in chance.sample(servers, len(servers)):
                    series = seen.runs[server.protocol, load]
                    if peer is None:
                        series.add(server.name, None, f"{PEER} is not here")
                    else:
                        _by_run(series, Client(PEER, PEER, peer), server, load, seconds)
        say((number + 1) / rounds)
    return seen


def _by_run(series: Series, client: Client, server: Server, load: Load, seconds: float) -> None:
    job = Job(server.url(load.path), CONNECTIONS, seconds, version="2", streams=load.streams)
    try:
        spent = run(client, job, server.pid)
    except RunError as error:
        series.add(server.name, None, str(error))
    else:
        series.add(server.name, spent.server_cpu_us / spent.requests if spent.server_cpu_us else None)


def goals(seen: Seen) -> list[Goal]:
    """One a peer, protocol and load, by windows; and by h2load as a cross-check."""
    found = []
    for (protocol, load), series in seen.windows.items():
        for peer in (NGHTTPD, NGINX_NAME):
            what = f"origin's CPU a request against {peer}'s, {protocol}, {load.title}"
            found.append(Goal(what, BOUND, series.ratio(ORIGIN, peer)))
            other = seen.runs[protocol, load].ratio(ORIGIN, peer)
            found.append(Goal(f"{what}, under {PEER}", BOUND, other))
    return found


def text(seen: Seen) -> str:
    """A row a protocol, load and server; both ways to load them beside each other."""
    rows = []
    for key, windows in seen.windows.items():
        runs = seen.runs[key]
        for name in SERVERS:
            cells = [key[0], key[1].title, name]
            for series in (windows, runs):
                figures, ratio = series.figures(name), series.ratio(name, ORIGIN)
                cells.append(f"{statistics.median(figures):.2f}" if figures else "–")
                cells.append("1" if name == ORIGIN else "–" if ratio is None else str(ratio))
            rows.append(cells)
    head = ["protocol", "load", "server", "server CPU, µs/request", "against origin [95 %]"]
    head += [f"the same under {PEER}", "against origin [95 %]"]
    noted = notes([*seen.windows.values(), *seen.runs.values()])
    return f"{CONNECTIONS} connections.\n\n{table(head, rows)}{noted}"
