"""What HTTP/3 costs the engine's load generator beside a plain quinn + h3 client, oha, and (if asked for) a quiche client."""

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from benches.goals import Goal
from benches.peers.commands import OURS, Job
from benches.peers.install import OHA_HTTP3, installed, version
from benches.protocols.costs import LINGER_S, Client, Series, notes, ours, shuffled
from benches.protocols.lingering import Lingering
from benches.protocols.servers import BYTES, LARGE, ORIGIN, QUIC_GO, SMALL, Place, running
from benches.readme import table

from photofinish.testbed.ports import Ports

SERVERS = (QUIC_GO, ORIGIN)
QUINN, QUICHE = "quinn-client", "quiche-client"
BOUNDS = {QUINN: 0.75, OHA_HTTP3: 0.6}


@dataclass(frozen=True, slots=True)
class Load:
    """So many streams of one body over one connection."""

    path: str
    streams: int

    @property
    def title(self) -> str:
        """``100 B × 64 streams``."""
        size = BYTES[self.path]
        return f"{f'{size >> 20} MiB' if size >= 1 << 20 else f'{size} B'} × {self.streams} streams"


LOADS = (Load(SMALL, 64), Load(LARGE, 2))
Seen = dict[tuple[str, Load], Series]


def peers(*, quiche: bool) -> tuple[str, ...]:
    """Who is compared with."""
    return (QUINN, OHA_HTTP3, QUICHE) if quiche else (QUINN, OHA_HTTP3)


def expected_s(rounds: int, seconds: float, *, quiche: bool) -> float:
    """Wall time of this part; a body of 10 MiB takes a while even in the short run, and oha is waited for at the end."""
    return rounds * len(SERVERS) * len(LOADS) * (1 + len(peers(quiche=quiche))) * (seconds + 0.3) + LINGER_S


def measure(
    place: Place, rounds: int, seconds: float, say: Callable[[float], None], *, quiche: bool = False, seed: int = 2
) -> Seen:
    """Every round with fresh servers; all clients take turns at each server and load, in an order drawn by chance."""
    clients = {OURS: ours(place.engine)}
    wanted = peers(quiche=quiche)
    clients |= {name: Client(name, name, path, lingers=name == OHA_HTTP3) for name, path in installed(wanted).items()}
    lingering = Lingering()
    chance, ports = random.Random(seed), Ports(start=50)  # noqa: S311 - an order, reproducible on purpose
    seen: Seen = {key: Series() for key in product(SERVERS, LOADS)}
    for number in range(rounds):
        with running([(name, "h3") for name in SERVERS], place, ports) as servers:
            there = {server.name: server for server in servers}
            for key in chance.sample(list(seen), len(seen)):
                name, load = key
                for client in shuffled(chance, (OURS, *wanted)):
                    if name not in there or client not in clients:
                        seen[key].add(client, None, f"{name if name not in there else client} is not here")
                        continue
                    ca = str(place.secured.ca)
                    url = there[name].url(load.path)
                    job = Job(url, 1, seconds, version="3", streams=load.streams, ca=ca)
                    if clients[client].lingers:
                        lingering.take(seen[key], clients[client], job)
                    else:
                        seen[key].take(client, clients[client], job)
        say((number + 1) / (rounds + 1))
    lingering.collect()
    say(1.0)
    return seen


def goals(seen: Seen) -> list[Goal]:
    """One a peer, load and server."""
    return [
        Goal(f"client CPU a request against {peer}, h3, {name}, {load.title}", bound, series.ratio(OURS, peer))
        for peer, bound in BOUNDS.items()
        for (name, load), series in seen.items()
    ]


def text(seen: Seen, *, quiche: bool = False) -> str:
    """A row a server, load and client."""
    names = (OURS, *peers(quiche=quiche))
    rows = []
    for (server, load), series in seen.items():
        for name in names:
            figures = series.figures(name)
            cells = [server, load.title, name, _shown(figures, BYTES[load.path])]
            rows.append([*cells, *(_ratio(series, name, base) for base in (QUINN, OHA_HTTP3))])
    head = ["server", "load", "client", "client CPU, µs/request", "against quinn-client [95 %]", "against oha [95 %]"]
    return f"{_versions(names[1:])}\n\n{table(head, rows)}{notes(seen.values())}"


def _shown(figures: Sequence[float], size: int) -> str:
    if not figures:
        return "–"
    middle = statistics.median(figures)
    return f"{middle:,.0f} ({1000 * middle / size:.3f} ns/byte)" if size >= 1 << 20 else f"{middle:.2f}"


def _ratio(series: Series, name: str, base: str) -> str:
    if name == base:
        return "1"
    found = series.ratio(name, base)
    return "–" if found is None else str(found)


def _versions(names: Sequence[str]) -> str:
    here = installed((*names, QUIC_GO))
    said = [f"{name} {version(name, here[name])}" if name in here else f"no {name} here" for name in (*names, QUIC_GO)]
    return f"One connection. {', '.join(said)}."
