"""What one request costs the load generators: ``photofinish load``, the bare loops, and the peers, in turn, on one server.

The server is ``photofinish limit``, pinned to one CPU; the clients are whole processes on another, in turn and in an order
drawn by chance for each round, 100 connections, closed loop. Read: the client's own CPU (its rusage when it has ended) over
the requests that it says it made. System calls are counted by strace in a pass of its own, with 16 connections. Printed:
medians, and the ratio to wrk with the laboratory's exact paired interval.

    make bench-engine
    .venv/bin/python -m benches.engine.run [--rounds 12] [--seconds 2] [--keep]
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benches.peers.commands import OURS, READERS, Job, argv
from benches.peers.install import installed, version
from benches.readme import put, table

from photofinish.testbed.engine import engine_path
from photofinish.verdict.effects import effect

CONNECTIONS, TRACED_CONNECTIONS = 100, 16
SERVER_CPU, CLIENT_CPU = 1, 0
BASE = "wrk"
READMES = (Path(__file__).parent / "README.md", Path(__file__).parents[1] / "README.md")
BACKENDS = ("io_uring", "epoll")


@dataclass(frozen=True, slots=True)
class Client:
    """A load generator: how its row is called, its program, and the flags that make it this one."""

    label: str
    name: str
    program: Path
    flags: tuple[str, ...] = ()


def bare_path(engine: Path) -> Path | None:
    """The program with the bare loops: beside the engine, or in ``target/release``."""
    for folder in (engine.parent, Path(__file__).resolve().parents[2] / "target" / "release"):
        if os.access(folder / "photofinish-bare", os.X_OK):
            return folder / "photofinish-bare"
    return None


def clients(engine: Path) -> list[Client]:
    """Everything that is here."""
    found = [Client(f"photofinish load, {one}", OURS, engine, ("--backend", one)) for one in BACKENDS]
    if bare := bare_path(engine):
        found += [Client(f"bare loop, {one} (checks nothing)", "bare", bare, ("--backend", one)) for one in BACKENDS]
    found += [Client(f"{name} {version(name, path)}", name, path) for name, path in installed().items()]
    return found


def command(client: Client, job: Job) -> list[str]:
    """The command line of one run."""
    if client.name == "bare":
        target = job.url.removeprefix("http://").rstrip("/")
        line = [str(client.program), "client", target, "-c", str(job.connections), "--seconds", f"{job.seconds:g}"]
    else:
        line = argv(client.name, client.program, job) or []
    return [*line, *client.flags]


def requests_of(client: Client, text: str) -> int:
    """How many requests a run says it made."""
    if client.name == "bare":
        return int(json.loads(text)["requests"])
    if client.name == OURS:
        return int(json.loads(text)["requests"]["accepted"])
    return READERS[client.name](text).requests or 0


def cost_us(client: Client, job: Job) -> float:
    """CPU of one run in µs a request."""
    line = ["taskset", "-c", str(CLIENT_CPU), *command(client, job)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    text = process.stdout.read() if process.stdout is not None else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    requests = requests_of(client, text)
    if not requests:
        raise SystemExit(f"{client.label} made no requests: {text[:200]!r}; is the server reachable?")
    return (usage.ru_utime + usage.ru_stime) * 1e6 / requests


def syscalls(client: Client, job: Job) -> float | None:
    """System calls a request, start and end of the process included; None without strace."""
    if shutil.which("strace") is None:
        return None
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as summary:
        line = ["taskset", "-c", str(CLIENT_CPU), "strace", "-c", "-f", "-o", summary.name, *command(client, job)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        total = re.search(r"^\s*[\d.]+\s+[\d.]+\s+\d*\s+(\d+)\s+(?:\d+\s+)?total$", summary.read(), re.MULTILINE)
    requests = requests_of(client, done.stdout)
    return int(total[1]) / requests if total and requests else None


def text(costs: dict[str, list[float]], calls: dict[str, float | None], base: str | None) -> str:
    """The costs as a Markdown table, ratios to ``base`` with their intervals."""
    lines = []
    for label, figures in costs.items():
        called = calls.get(label)
        cells = [label, f"{statistics.median(figures):.2f}", "–" if called is None else f"{called:.2f}"]
        lines.append([*cells, "1" if label == base else ratio(figures, costs[base]) if base else "–"])
    head = ["client", "client CPU, µs/request (median)", "system calls/request", "CPU against wrk [95 % interval]"]
    return table(head, lines)


def ratio(figures: list[float], base: list[float]) -> str:
    """The paired ratio with its interval."""
    found = effect([math.log(one / other) for one, other in zip(figures, base, strict=True)], 0.05)
    ends = ""
    if found.low is not None and found.high is not None:
        ends = f" [{math.exp(found.low):.3f}, {math.exp(found.high):.3f}]"
    return f"{math.exp(found.estimate):.3f}{ends}"


def main() -> None:
    """Run all rounds, print the table, put it into both READMEs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="leave the READMEs as they are")
    arguments = parser.parse_args()
    engine = engine_path()
    found = clients(engine)
    base = next((client.label for client in found if client.name == BASE), None)
    if base is None:
        print("wrk is not here, so there is no ratio: `make bench-tools` gets it", file=sys.stderr)
    line = ["taskset", "-c", str(SERVER_CPU), str(engine), "limit", "--port", "0"]
    server = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    costs: dict[str, list[float]] = {client.label: [] for client in found}
    try:
        port = json.loads(server.stdout.readline())["port"] if server.stdout is not None else 0
        url = f"http://127.0.0.1:{port}/"
        calls = {client.label: syscalls(client, Job(url, TRACED_CONNECTIONS, 1)) for client in found}
        chance = random.Random(1)  # noqa: S311 - an order, reproducible on purpose
        for turn in range(arguments.rounds):
            for client in chance.sample(found, len(found)):
                costs[client.label].append(cost_us(client, Job(url, CONNECTIONS, arguments.seconds)))
            print(f"{turn + 1}/{arguments.rounds}", file=sys.stderr)
    finally:
        server.terminate()
        server.wait()
    result = text(costs, calls, base)
    print(result)
    if not arguments.keep:
        for readme in READMES:
            put(readme, "engine", result)


if __name__ == "__main__":
    main()
