"""One uploader and one sink against iperf3, over one connection each, on the same two CPUs and in the same rounds.

Ours is contestant ``limit`` of the uploads suite sending to ``photofinish origin`` in mode count, one connection kept; its time
runs from writing ``go`` to having the answer, so the whole HTTP exchange and two passes through a pipe are in it. iperf3's is its
own, of the receiving end (``sum_received``), so that starting the process and its control connection don't count.
"""

import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benches.goals import Goal, Measured, goals_table
from benches.peers.install import version
from benches.readme import table

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.placeholders import fill_all
from photofinish.testbed.build import Builder, BuildError
from photofinish.testbed.payload import payload_file
from photofinish.testbed.ports import Ports

SENDER_CPU, SINK_CPU = 0, 1
SIZES = (100 << 20, 1 << 30)
OURS, IPERF, ZEROCOPY = "limit → origin", "iperf3", "iperf3 -Z"
LEAST = 0.90
TRIAL = "bench"
TIMEOUT_S = 120
LEAST_COUNTED = 0.9
"""iperf3's receiver counts until it is told the end on another connection, and misses what its socket still holds then."""


@dataclass(frozen=True, slots=True)
class Run:
    """One transfer of a known number of bytes."""

    bytes_per_s: float
    retransmits: int | None = None
    """As iperf3 says; ours doesn't."""


Rounds = dict[str, list[Run]]
"""One run a round, by contestant."""


def on_cpu(cpu: int, *line: str | Path) -> list[str]:
    """A command kept on one CPU."""
    return ["taskset", "-c", str(cpu), *map(str, line)]


@contextmanager
def running(line: list[str], **options: object) -> Iterator[subprocess.Popen[str]]:
    """A process, ended and waited for afterwards."""
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    """Standard input and output of a process of ``running``."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process was started without pipes")
    return process.stdin, process.stdout


class Uploader:
    """Contestant ``limit`` with one connection to a counting origin. Raises SystemExit where what is said doesn't agree."""

    def __init__(self, process: subprocess.Popen[str], size: int) -> None:
        self._process = process
        self._into, self._out = pipes(process)
        self._size = size
        if self._line() != {"ready": True}:
            raise SystemExit("limit did not say that it is ready")

    def __call__(self) -> Run:
        """One upload."""
        began = time.perf_counter_ns()
        self._into.write("go\n")
        self._into.flush()
        answer = self._line()
        took = time.perf_counter_ns() - began
        if answer != {"bytes": self._size, "status": 200}:
            raise SystemExit(f"limit answered {answer}, not 200 with {self._size} bytes")
        return Run(self._size * 1e9 / took)

    def _line(self) -> object:
        line = self._out.readline()
        if not line:
            raise SystemExit(f"limit ended by itself with {self._process.wait()}")
        return json.loads(line)


def ask(port: int, method: str, path: str) -> str:
    """What the origin answers.

    Raises:
        SystemExit: with something other than 2xx.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    if answer.status // 100 != 2:
        raise SystemExit(f"origin answered {method} {path} with {answer.status}: {text}")
    return text


def limit_argv(engine: Path, work: Path) -> list[str]:
    """Contestant ``limit``, built as for a race.

    Raises:
        SystemExit: it can't be built.
    """
    contestant = load_all(load_suite("uploads"))["limit"]
    try:
        built = Builder(work / "build", engine).build(contestant)
    except BuildError as error:
        raise SystemExit(f"limit can't be built: {error}") from error
    return fill_all(contestant.manifest.start.argv, {"source": contestant.folder, "build": built.folder})


@contextmanager
def uploader(engine: Path, argv: list[str], file: Path) -> Iterator[Uploader]:
    """Origin and limit, up; afterwards the origin's count has to be what limit said it sent."""
    size = file.stat().st_size
    with ExitStack() as stack:
        origin = stack.enter_context(running(on_cpu(SINK_CPU, engine, "origin", "--port", "0")))
        port = int(json.loads(pipes(origin)[1].readline())["port"])
        ask(port, "PUT", f"/trials/{TRIAL}?mode=count")
        told = {
            "PHOTOFINISH_URL": f"http://127.0.0.1:{port}/upload?trial={TRIAL}",
            "PHOTOFINISH_FILE": str(file),
            "PHOTOFINISH_BYTES": str(size),
            "PHOTOFINISH_CONNECTION": "keep",
            "PHOTOFINISH_PROTOCOL": "http/1.1",
            "PHOTOFINISH_BUFFER": "65536",
        }
        limit = stack.enter_context(running(on_cpu(SENDER_CPU, *argv), env={**os.environ, **told}))
        yield Uploader(limit, size)
        evidence = json.loads(ask(port, "GET", f"/trials/{TRIAL}"))
        uploads = evidence["completed"]
        if evidence["connections"] != 1 or evidence["aborted"] or evidence["body_bytes"] <= uploads * size:
            raise SystemExit(f"origin did not see whole uploads over one connection: {evidence}")


def iperf(port: int, size: int, *flags: str) -> Run:
    """One run of iperf3's client.

    Raises:
        SystemExit: it failed, or its server counted far less than was asked for.
    """
    line = ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-n", str(size), "-P", "1", "-J", *flags]
    done = subprocess.run(on_cpu(SENDER_CPU, *line), capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    said = json.loads(done.stdout) if done.stdout else {}
    if done.returncode != 0 or "error" in said:
        raise SystemExit(f"`{' '.join(line)}` failed: {said.get('error') or done.stderr.strip()}")
    return read_iperf(said, size)


def read_iperf(said: dict[str, dict[str, dict[str, float]]], size: int) -> Run:
    """What iperf3's JSON says.

    Raises:
        SystemExit: far fewer bytes were counted than were asked for, more than a socket holds.
    """
    received, sent = said["end"]["sum_received"], said["end"]["sum_sent"]
    if received["bytes"] < LEAST_COUNTED * size:
        raise SystemExit(f"iperf3 received {received['bytes']} of {size} bytes")
    return Run(received["bytes"] / received["seconds"], int(sent["retransmits"]) if "retransmits" in sent else None)


def measure(engine: Path, argv: list[str], file: Path, rounds: int, seed: int) -> Rounds:
    """All rounds of one size; one run of each that doesn't count goes before them."""
    size = file.stat().st_size
    port = Ports().take()
    chance = random.Random(seed)  # noqa: S311 - an order, reproducible on purpose
    server_line = on_cpu(SINK_CPU, "iperf3", "-s", "-B", "127.0.0.1", "-p", str(port), "--forceflush")
    with running(server_line, stderr=subprocess.DEVNULL) as server, uploader(engine, argv, file) as upload:
        said = pipes(server)[1]
        while "listening" not in (line := said.readline()):
            if not line:
                raise SystemExit(f"iperf3's server ended by itself with {server.wait()}")
        # Its report of each run would fill the pipe; nobody reads it.
        drain = subprocess.Popen(["cat"], stdin=said, stdout=subprocess.DEVNULL)
        try:
            runs: dict[str, Callable[[], Run]] = {
                OURS: upload,
                IPERF: lambda: iperf(port, size),
                ZEROCOPY: lambda: iperf(port, size, "-Z"),
            }
            for once in runs.values():
                once()
            seen: Rounds = {name: [] for name in runs}
            for number in range(rounds):
                for name in chance.sample(list(runs), len(runs)):
                    seen[name].append(runs[name]())
                each = ", ".join(f"{name} {found[-1].bytes_per_s / 1e9:.2f}" for name, found in seen.items())
                print(f"{size >> 20} MiB, {number + 1}/{rounds}, GB/s: {each}", file=sys.stderr)
        finally:
            drain.terminate()
            drain.wait()
    return seen


def missing() -> str | None:
    """Why there is nothing to compare with; None if there is."""
    if shutil.which("iperf3") is None:
        return "iperf3 is not here; run `python -m benches.peers.install iperf3` as root on Debian, or install it"
    return None


def run(engine: Path, work: Path, rounds: int, seed: int) -> dict[int, Rounds]:
    """Every size.

    Raises:
        SystemExit: iperf3 isn't here.
    """
    if reason := missing():
        raise SystemExit(reason)
    argv = limit_argv(engine, work)
    folder = work / "run" / "payload"
    return {size: measure(engine, argv, payload_file(folder, size), rounds, seed) for size in SIZES}


def text(seen: dict[int, Rounds]) -> str:
    """The throughputs and the goal, for each size."""
    rows = []
    for size, rounds in seen.items():
        speeds = {name: [each.bytes_per_s for each in runs] for name, runs in rounds.items()}
        for name, runs in rounds.items():
            here = [speed / 1e9 for speed in speeds[name]]
            again = [each.retransmits for each in runs if each.retransmits is not None]
            ours = "–" if name == OURS else str(Measured.of_pairs(speeds[OURS], speeds[name]))
            rows.append(
                [
                    *(f"{size >> 20:,} MiB", name),
                    f"{statistics.median(here):.2f} ({min(here):.2f}–{max(here):.2f})",
                    f"{statistics.median(again):g}" if again else "–",
                    ours,
                ]
            )
    head = ["bytes", "pair", "GB/s: median (least–most)", "segments sent again, median", f"`{OURS}` against it [95 %]"]
    rounds_run = len(next(iter(next(iter(seen.values())).values())))
    said = f"{rounds_run} rounds; iperf3 {version('iperf3', Path('iperf3'))}, one connection."
    return "\n\n".join([said, table(head, rows), each_round(seen), goals_table(goal_rows(seen))])


def goal_rows(seen: dict[int, Rounds]) -> list[Goal]:
    """Ours against both of iperf3's ways, for each size."""
    found = []
    for size, rounds in seen.items():
        ours = [each.bytes_per_s for each in rounds[OURS]]
        for name in (IPERF, ZEROCOPY):
            ratio = Measured.of_pairs(ours, [each.bytes_per_s for each in rounds[name]])
            found.append(Goal(f"`{OURS}` against `{name}`, {size >> 20:,} MiB", LEAST, ratio, at_least=True))
    return found


def each_round(seen: dict[int, Rounds]) -> str:
    """The throughput of every round, folded away."""
    rows = [
        [f"{size >> 20:,} MiB", str(number), *(f"{runs[number - 1].bytes_per_s / 1e9:.2f}" for runs in rounds.values())]
        for size, rounds in seen.items()
        for number in range(1, len(next(iter(rounds.values()))) + 1)
    ]
    names = list(next(iter(seen.values())))
    whole = table(["bytes", "round", *(f"{name}, GB/s" for name in names)], rows)
    return f"<details><summary>each round</summary>\n\n{whole}\n\n</details>"
