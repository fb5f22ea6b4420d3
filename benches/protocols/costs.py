"""What one process costs: its CPU over what it did, the start and the handshakes of its connections left out."""

import json
import math
import os
import random
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benches.goals import Measured
from benches.peers.commands import OURS, READERS, Job, argv, read_ours
from benches.protocols.servers import CLIENT_CPU

from photofinish.testbed.proc import cpu_ns

Costs = dict[str, list[float | None]]
"""By name, one figure a round; None where a round has none."""
WAIT_S = 8.0
"""Longer than its load no client works; h2load hangs for ever if its time is over before it has connected."""
LINGER_S = 35.0
"""The idle time after which a connection of QUIC ends, and a little."""
GIVEN_UP_AFTER = 2
"""Rounds without any figure."""


@dataclass(frozen=True, slots=True)
class Client:
    """A load generator: how its rows are called, and its program."""

    label: str
    name: str
    program: Path
    flags: tuple[str, ...] = ()
    lingers: bool = False
    """When all is done, it waits idly for the server to close."""


@dataclass(frozen=True, slots=True)
class Spent:
    """One run of a load generator."""

    requests: int
    cpu_us: float
    """The generator's own."""
    server_cpu_us: float | None = None
    """The server's meanwhile, if that was asked for."""


class RunError(Exception):
    """A load generator did nothing that counts; the text says what it said."""


@dataclass(frozen=True, slots=True)
class Running:
    """A load generator at work."""

    client: Client
    line: list[str]
    process: subprocess.Popen[str]


def start(client: Client, job: Job) -> Running:
    """Starts one load on the clients' CPU.

    Raises:
        RunError: it can't do such a load.
    """
    line = argv(client.name, client.program, job)
    if line is None:
        raise RunError(f"{client.label} has no such load")
    wait_s = WAIT_S + job.seconds + (LINGER_S if client.lingers else 0)
    process = subprocess.Popen(
        ["taskset", "-c", str(CLIENT_CPU), "timeout", str(wait_s), *line, *client.flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return Running(client, line, process)


def finish(running: Running) -> Spent:
    """Waits for its end.

    Raises:
        RunError: it failed, hung, or had no request answered.
    """
    process, line = running.process, running.line
    out, errors = _outputs(process)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    try:
        done = READERS.get(running.client.name, read_ours)(out).requests or 0
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"`{_shown(line)}` ended with {process.returncode}: {last_words(out, errors)}") from error
    if done == 0:
        raise RunError(f"`{_shown(line)}` had no request answered: {last_words(out, errors)}")
    return Spent(done, (usage.ru_utime + usage.ru_stime) * 1e6)


def run(client: Client, job: Job, server_pid: int | None = None) -> Spent:
    """Runs one load to its end; with the server's CPU meanwhile, if its process is told.

    Raises:
        RunError: it can't do such a load, failed, hung, or had no request answered.
    """
    before = cpu_ns(server_pid, None, None) if server_pid is not None else 0
    spent = finish(start(client, job))
    if server_pid is None:
        return spent
    return replace(spent, server_cpu_us=(cpu_ns(server_pid, None, None) - before) / 1000)


def _shown(line: Sequence[str]) -> str:
    """A command without the folders of its files."""
    return " ".join(Path(word).name if word.startswith("/") else word for word in line)


def last_words(out: str, errors: str) -> str:
    """What a load generator has to say of its failure, on one line: our own report's reasons, or its last line."""
    try:
        return json.dumps(json.loads(out)["requests"]["failed"])
    except (ValueError, KeyError, TypeError):
        lines = [line.strip() for line in (errors or out).splitlines() if line.strip()]
        return lines[-1][:200] if lines else "no word"


def _outputs(process: subprocess.Popen[str]) -> tuple[str, str]:
    """All of both outputs; what is said on standard error is short, so that reading one after the other can't block."""
    if process.stdout is None or process.stderr is None:
        raise RunError("there are no pipes to the load generator")
    return process.stdout.read(), process.stderr.read()


def steady_us(client: Client, job: Job) -> float:
    """CPU µs a request, beyond what starting, connecting, and the first request of each stream's place cost.

    Two runs: one with a request a connection, and the whole one. The difference of their CPU over the difference of
    their requests is what a request costs on connections that are there.

    Raises:
        RunError: one of the two failed, or the whole run did no more than the short one.
    """
    return of_two(client, run(client, begun(job)), run(client, job))


def begun(job: Job) -> Job:
    """The load that has hardly begun: one request a connection."""
    return replace(job, requests=job.connections, streams=1)


def of_two(client: Client, short: Spent, whole: Spent) -> float:
    """What a request costs that only the second of two runs has made.

    Raises:
        RunError: it did no more than the first.
    """
    if whole.requests <= short.requests or whole.cpu_us <= short.cpu_us:
        raise RunError(f"{client.label} did too little beside its start: {whole.requests} requests")
    return (whole.cpu_us - short.cpu_us) / (whole.requests - short.requests)


@dataclass
class Series:
    """Figures by name, a round each, and why a name has none."""

    costs: Costs = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, figure: float | None, reason: str = "") -> None:
        """One round's figure; without one the reason is kept, the first that there was."""
        self.costs.setdefault(name, []).append(figure)
        if figure is None and reason:
            self.reasons.setdefault(name, reason)

    def take(self, name: str, client: Client, job: Job) -> None:
        """Measures one round of a client; a failure is a round without a figure, two and nothing else are the end of it."""
        rounds = self.costs.get(name, [])
        if len(rounds) >= GIVEN_UP_AFTER and not self.figures(name):
            self.add(name, None)
            return
        try:
            self.add(name, steady_us(client, job))
        except RunError as error:
            self.add(name, None, str(error))

    def figures(self, name: str) -> list[float]:
        """Those that there are."""
        return [figure for figure in self.costs.get(name, []) if figure is not None]

    def missing(self) -> dict[str, str]:
        """Those without any figure, and why."""
        return {name: reason for name, reason in self.reasons.items() if not self.figures(name)}

    def ratio(self, name: str, base: str) -> Measured | None:
        """How many times the base's figure a name's is, by the rounds that have both."""
        return Measured.of_logs(logs(self.costs, name, base))


def logs(costs: Mapping[str, Sequence[float | None]], name: str, base: str) -> list[float]:
    """Log ratios of the rounds in which both have a figure."""
    pairs = zip(costs.get(name, []), costs.get(base, []), strict=False)
    return [math.log(one / other) for one, other in pairs if one and other]


def notes(all_series: Iterable[Series]) -> str:
    """Why names have no figure anywhere in a row, a paragraph each; empty where all have one."""
    reasons = sorted({reason for series in all_series for reason in series.missing().values()})
    return "".join(f"\n\nWithout a figure: {reason}." for reason in reasons)


def shuffled(chance: random.Random, things: Sequence[str]) -> list[str]:
    """An order drawn by chance."""
    return chance.sample(list(things), len(things))


def ours(engine: Path) -> Client:
    """The engine's load generator."""
    return Client(OURS, OURS, engine)
