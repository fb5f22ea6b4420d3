"""What an HTTP/2 request costs the engine's load generator beside h2load, over streams, connections, servers, with and without TLS."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from benches.goals import Goal, Measured
from benches.peers.commands import OURS, Job
from benches.peers.install import installed, version
from benches.protocols.costs import Client, Series, logs, notes, ours, shuffled
from benches.protocols.servers import NGHTTPD, NGINX_NAME, ORIGIN, SMALL, Place, Server, running
from benches.readme import table

from photofinish.testbed.ports import Ports

SERVERS = (NGHTTPD, NGINX_NAME, ORIGIN)
PROTOCOLS = ("h2", "h2+tls")
STREAMS, CONNECTIONS = (1, 10, 32, 100), (1, 10, 100)
PEER = "h2load"
BOUND = 0.5
HANDSHAKE_S = 0.0015
SHORT_S = 0.08
"""The run with one request a connection, and starting both."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One server, one protocol, so many connections with so many streams each."""

    server: str
    protocol: str
    connections: int
    streams: int


Seen = dict[Cell, Series]


def cells(*, quick: bool = False) -> list[Cell]:
    """All of the grid, or its two ends."""
    streams, connections = ((1, 32), (1, 10)) if quick else (STREAMS, CONNECTIONS)
    return [Cell(*place) for place in product(SERVERS, PROTOCOLS, connections, streams)]


def expected_s(rounds: int, seconds: float, *, quick: bool = False) -> float:
    """Wall time of this part: two clients, each with a short run before."""
    each = (asked_s(cell, seconds) + SHORT_S for cell in cells(quick=quick))
    return rounds * 2 * sum(each)


def asked_s(cell: Cell, seconds: float) -> float:
    """How long a load lasts: handshakes get time of their own."""
    return seconds + (HANDSHAKE_S * cell.connections if cell.protocol == "h2+tls" else 0)


def measure(
    place: Place, rounds: int, seconds: float, say: Callable[[float], None], *, quick: bool = False, seed: int = 1
) -> Seen:
    """All cells, every round with fresh servers; in each cell both clients take turns in an order drawn by chance."""
    clients = {OURS: ours(place.engine)}
    if (peer := installed((PEER,)).get(PEER)) is not None:
        clients[PEER] = Client(PEER, PEER, peer)
    chance, ports = random.Random(seed), Ports()  # noqa: S311 - an order, reproducible on purpose
    seen: Seen = {cell: Series() for cell in cells(quick=quick)}
    for number in range(rounds):
        with running(list(product(SERVERS, PROTOCOLS)), place, ports) as servers:
            there = {(server.name, server.protocol): server for server in servers}
            order = chance.sample(list(seen), len(seen))
            for at, cell in enumerate(order):
                server = there.get((cell.server, cell.protocol))
                for name in shuffled(chance, list(clients)):
                    if server is None:
                        seen[cell].add(name, None, f"{cell.server} is not here")
                    else:
                        seen[cell].take(name, clients[name], job_of(cell, server, seconds, place))
                if at % 12 == 11:
                    say((number + (at + 1) / len(order)) / rounds)
        say((number + 1) / rounds)
    return seen


def job_of(cell: Cell, server: Server, seconds: float, place: Place) -> Job:
    """The load of a cell."""
    ca = str(place.secured.ca) if cell.protocol == "h2+tls" else None
    return Job(server.url(SMALL), cell.connections, asked_s(cell, seconds), version="2", streams=cell.streams, ca=ca)


def mean(seen: Seen, server: str, protocol: str) -> Measured | None:
    """The engine's cost over h2load's, the geometric mean of all cells of a server in each round."""
    by_cell = [series.costs for cell, series in seen.items() if (cell.server, cell.protocol) == (server, protocol)]
    found = [logs(costs, OURS, PEER) for costs in by_cell]
    whole = [row for row in zip(*found, strict=False) if row] if found else []
    return Measured.of_logs([sum(row) / len(row) for row in whole])


def goals(seen: Seen) -> list[Goal]:
    """One a server and protocol, over its cells."""
    found = []
    for server, protocol in product(SERVERS, PROTOCOLS):
        ratios = {
            cell: series.ratio(OURS, PEER)
            for cell, series in seen.items()
            if (cell.server, cell.protocol) == (server, protocol)
        }
        known = {cell: ratio for cell, ratio in ratios.items() if ratio is not None}
        what = f"client CPU a request against h2load, {protocol}, {server}: mean of {len(ratios)} cells"
        if known:
            worst = max(known, key=lambda cell: known[cell].value)
            within = sum(ratio.value <= BOUND for ratio in known.values())
            what += f" ({within} of {len(ratios)} within; worst {known[worst].value:.2f}"
            what += f" at {worst.connections} × {worst.streams})"
        found.append(Goal(what, BOUND, mean(seen, server, protocol)))
    return found


def text(seen: Seen) -> str:
    """A table a server and protocol: a row for so many connections, a column for so many streams."""
    parts = [_versions()]
    for server, protocol in product(SERVERS, PROTOCOLS):
        mine = {cell: series for cell, series in seen.items() if (cell.server, cell.protocol) == (server, protocol)}
        streams = sorted({cell.streams for cell in mine})
        rows = [
            [str(connections), *(_cell(mine[Cell(server, protocol, connections, each)]) for each in streams)]
            for connections in sorted({cell.connections for cell in mine})
        ]
        head = ["connections", *(f"{each} stream{'s' if each > 1 else ''}" for each in streams)]
        parts.append(f"**{server}, {protocol}**\n\n{table(head, rows)}{notes(mine.values())}")
    return "\n\n".join(parts)


def _cell(series: Series) -> str:
    ratio, mine, other = series.ratio(OURS, PEER), series.figures(OURS), series.figures(PEER)
    if ratio is None:
        return "–"
    return f"{ratio} · {_middle(mine):.2f} / {_middle(other):.2f}"


def _middle(figures: list[float]) -> float:
    ordered = sorted(figures)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _versions() -> str:
    names = (PEER, NGHTTPD, NGINX_NAME)
    here = installed(names)
    said = [f"{name} {version(name, here[name])}" if name in here else f"no {name} here" for name in names]
    return f"{', '.join(said)}. In each cell: engine over h2load [95 %] · µs of the engine / of h2load."
