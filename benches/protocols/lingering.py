"""A load generator that is idle for half a minute before it ends and says what it did: others go on meanwhile.

oha sends GOAWAY over HTTP/3 when its time is over and waits until the server has closed the connection. No server has to, so
that it waits for the connection's idle time. It uses no CPU meanwhile: once it has become quiet, the next client may begin.
"""

import time
from dataclasses import dataclass, field

from benches.peers.commands import Job
from benches.protocols.costs import Client, RunError, Running, Series, begun, finish, of_two, start

from photofinish.testbed.proc import cpu_ns

LOOK_S, QUIET_LOOKS = 0.04, 5
QUIET_NS = 200_000
"""CPU that a look may find used since the one before."""
MOST_S = 5.0


@dataclass
class _Pending:
    series: Series
    client: Client
    at: int
    runs: list[Running]


@dataclass
class Lingering:
    """Runs that have done their work and have not ended."""

    pending: list[_Pending] = field(default_factory=list)

    def take(self, series: Series, client: Client, job: Job) -> None:
        """Runs one round of a client as ``Series.take`` does; its figure comes with ``collect``."""
        runs = []
        for each in (begun(job), job):
            runs.append(start(client, each))
            _until_quiet(runs[-1], 0.0 if each.requests else job.seconds)
        series.add(client.name, None)
        self.pending.append(_Pending(series, client, len(series.costs[client.name]) - 1, runs))

    def collect(self) -> None:
        """Waits for the end of all, and puts their figures into their places."""
        for each in self.pending:
            try:
                short, whole = [finish(running) for running in each.runs]
                each.series.costs[each.client.name][each.at] = of_two(each.client, short, whole)
            except RunError as error:
                each.series.reasons.setdefault(each.client.name, str(error))
        self.pending.clear()


def _until_quiet(running: Running, at_least_s: float) -> None:
    """Returns when it has used no CPU for a while, or has ended."""
    time.sleep(at_least_s + LOOK_S * QUIET_LOOKS)
    deadline = time.monotonic() + MOST_S
    quiet, used = 0, cpu_ns(running.process.pid, None, None)
    while quiet < QUIET_LOOKS and time.monotonic() < deadline:
        time.sleep(LOOK_S)
        now = cpu_ns(running.process.pid, None, None)
        quiet = quiet + 1 if now - used < QUIET_NS else 0
        used = now
