"""What one request costs the servers: limit and origin on both back ends, the bare loops, and real servers beside them.

Three workloads, each with its own table: `GET /` over connections that stay, visited in windows of 15 ms in balanced orders
(`photofinish visit`); 16 pipelined requests; ten requests a connection. The last two are whole runs of `photofinish load`
in an order drawn by chance for each round. All servers have one worker on one CPU, the generator has another. Read: the
server's own CPU time over the responses that passed every check. Printed: medians of rounds, and the ratio to `limit` on
io_uring with the laboratory's exact paired interval.

    make bench-origin          # or: .venv/bin/python benches/origin/run.py [--rounds 12] [--only nginx hyper] [--quick]
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.order import orders
from photofinish.contest.placeholders import fill_all
from photofinish.contest.presence import ThisMachine, absence_of
from photofinish.testbed.build import Builder
from photofinish.testbed.engine import engine_path
from photofinish.testbed.ports import Ports
from photofinish.testbed.proc import cpu_ns
from photofinish.testbed.processes import answers_http
from photofinish.verdict.effects import effect

ROOT = Path(__file__).resolve().parents[2]
README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- results: begin (written by run.py) -->", "<!-- results: end -->"
SERVER_CPU, CLIENT_CPU = 1, 0
BASE = "limit, io_uring"
CONTESTANTS = ["nginx", "hyper", "actix-web", "may-minihttp", "go-fasthttp", "go-nethttp"]
LOADS = {
    "pipelined ×16": ["--pipeline", "16"],
    "10 requests a connection": ["--requests-per-connection", "10"],
}


@dataclass
class Server:
    """One server that runs: where, and the root of its processes."""

    name: str
    port: int
    pid: int


def commands(engine: Path, bare: Path, only: list[str], build: Path) -> dict[str, list[str]]:
    """Argv of each server by name, with `{port}` and `{run}` still to be filled in."""
    argvs: dict[str, list[str]] = {}
    for which in ("limit", "origin"):
        for backend in ("io_uring", "epoll"):
            argvs[f"{which}, {backend}"] = [str(engine), which, "--port", "{port}", "--backend", backend]
    if bare.is_file():
        for backend in ("io_uring", "epoll"):
            argvs[f"bare, {backend}"] = [str(bare), "server", "--port", "{port}", "--backend", backend]
    else:
        print(f"no bare loops: run `cargo build --release -p photofinish-bare` ({bare})", file=sys.stderr)
    builder = Builder(build, engine)
    found = load_all(load_suite("servers"))
    for name in only:
        contestant = found[name]
        absence = absence_of(contestant.manifest, ThisMachine())
        built, failed = ({}, [absence]) if absence else builder.build_all([contestant])
        if failed:
            print(f"{name} is left out: {failed[0].detail}", file=sys.stderr)
            continue
        values = {"source": contestant.folder, "build": built[name].folder, "engine": str(engine)}
        values |= {"address": "127.0.0.1", "workers": "1", "python": sys.executable, "port": "{port}", "run": "{run}"}
        argvs[name] = fill_all(contestant.manifest.start.argv, values)
    return argvs


@contextmanager
def running(argvs: dict[str, list[str]], ports: Ports) -> Iterator[list[Server]]:
    """All servers, fresh and answering; ended and waited for afterwards."""
    with ExitStack() as ending:
        servers = []
        for name, argv in argvs.items():
            run = ending.enter_context(tempfile.TemporaryDirectory(prefix="photofinish-origin-"))
            port = ports.take()
            filled = fill_all(tuple(argv), {"port": str(port), "run": run})
            process = subprocess.Popen(
                ["taskset", "-c", str(SERVER_CPU), *filled], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            ending.callback(process.wait)
            ending.callback(process.terminate)
            servers.append(Server(name, port, process.pid))
        for server in servers:
            for _ in range(250):
                if answers_http(("127.0.0.1", server.port), "/", 0.5):
                    break
                time.sleep(0.02)
            else:
                raise SystemExit(f"{server.name} does not answer on port {server.port}: {' '.join(argvs[server.name])}")
        yield servers


def visit(engine: Path, servers: list[Server], cycles: int, connections: int, seed: int) -> dict[str, float]:
    """One round of windows: server CPU µs a request by name, over all windows of the round."""
    targets = [
        {"id": each.name, "address": f"127.0.0.1:{each.port}", "cpu": {"kind": "processes", "root_pid": each.pid}}
        for each in servers
    ]
    document = {
        "schema": "photofinish.visit/1",
        "deadline_ms": 600_000,
        "backend": "auto",
        "threads": 1,
        "cpus": [CLIENT_CPU],
        "window_ms": 15,
        "settle_ms": 2,
        "drain_ms": 250,
        "reconnect": True,
        "load": {"mode": "closed", "connections": connections},
        "request": {"method": "GET", "path": "/", "headers": [["Accept", "*/*"]]},
        "expect": {"status": 200, "body_bytes": 12, "body_xxh3": None},
        "targets": targets,
        "phases": [
            {"name": "warmup", "order": orders(len(targets), 4, seed)},
            {"name": "measure", "order": orders(len(targets), cycles, seed + 1)},
        ],
    }
    done = subprocess.run(
        [str(engine), "visit"], input=json.dumps(document), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"visit failed: {done.stderr.strip()}")
    cpu, requests = [0] * len(servers), [0] * len(servers)
    for line in map(json.loads, done.stdout.splitlines()):
        if line["event"] == "cycle" and line["phase"] == "measure":
            for window in line["windows"]:
                if not window["failed"] and window["cpu_ns"] is not None:
                    cpu[window["target"]] += window["cpu_ns"]
                    requests[window["target"]] += window["requests"]
    return {each.name: cpu[at] / requests[at] / 1000 for at, each in enumerate(servers) if requests[at]}


def load(engine: Path, server: Server, flags: list[str], seconds: float, connections: int) -> float | None:
    """One run of the generator: server CPU µs a request; None if a response failed (no pipelining, say)."""
    before = cpu_ns(server.pid, None, None)
    argv = [str(engine), "load", f"http://127.0.0.1:{server.port}/", "-c", str(connections), "-d", f"{seconds}s"]
    argv += ["--cpus", str(CLIENT_CPU), "--json", "--quiet", *flags]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    spent = cpu_ns(server.pid, None, None) - before
    if done.returncode not in (0, 1):
        raise SystemExit(f"load failed: {done.stderr.strip()}")
    requests = json.loads(done.stdout)["requests"]
    return None if requests["failed_total"] else spent / requests["accepted"] / 1000


def loads_known(engine: Path) -> dict[str, list[str]]:
    """Those workloads whose flags this engine has."""
    text = subprocess.run([str(engine), "load", "--help"], capture_output=True, text=True, check=True).stdout
    for name, flags in LOADS.items():
        if flags[0] not in text:
            print(f"'{name}' is left out: this engine has no {flags[0]}", file=sys.stderr)
    return {name: flags for name, flags in LOADS.items() if flags[0] in text}


def table(title: str, rounds: list[dict[str, float]]) -> str:
    """One workload's costs as Markdown, the ratios with their intervals; a server without all rounds has no ratio."""
    lines = [f"### {title}", "", "| server | server CPU, µs/request (median) | against limit [95 % interval] |"]
    lines.append("| --- | --- | --- |")
    for name in {name: None for each in rounds for name in each}:
        costs = [each[name] for each in rounds if name in each]
        ratio = "1" if name == BASE else "–"
        if name != BASE and len(costs) == len(rounds):
            found = effect([math.log(each[name] / each[BASE]) for each in rounds], 0.05)
            ratio = f"{math.exp(found.estimate):.3f}"
            if found.low is not None and found.high is not None:
                ratio += f" [{math.exp(found.low):.3f}, {math.exp(found.high):.3f}]"
        lines.append(f"| {name} | {statistics.median(costs):.2f} | {ratio} |")
    return "\n".join(lines)


def main() -> None:
    """Run all workloads, print the tables, put them into README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--cycles", type=int, default=24, help="orders of visits a round")
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=1.0, help="of one run of the generator")
    parser.add_argument(
        "--only", nargs="*", default=CONTESTANTS, help="contestants beside limit, origin and the bare loops"
    )
    parser.add_argument("--bare", type=Path, default=ROOT / "target/release/photofinish-bare")
    parser.add_argument("--build", type=Path, default=ROOT / ".photofinish/build")
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement: nothing is written")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.cycles, options.seconds = 2, 4, 0.2
    engine = engine_path()
    argvs = commands(engine, options.bare, options.only, options.build)
    workloads = loads_known(engine)
    chance, ports = random.Random(1), Ports()  # noqa: S311 - an order, reproducible on purpose
    kept: list[dict[str, float]] = []
    whole: dict[str, list[dict[str, float]]] = {name: [] for name in workloads}
    for number in range(options.rounds):
        with running(argvs, ports) as servers:
            kept.append(visit(engine, servers, options.cycles, options.connections, 2 * number))
            for name, flags in workloads.items():
                costs = {each.name: 0.0 for each in servers if not each.name.startswith("bare")}
                for server in chance.sample(servers, len(servers)):
                    cost = None
                    if server.name in costs:
                        cost = load(engine, server, flags, options.seconds, options.connections)
                    if cost is None:
                        costs.pop(server.name, None)
                    else:
                        costs[server.name] = cost
                whole[name].append(costs)
        print(f"{number + 1}/{options.rounds}", file=sys.stderr)
    tables = [table(f"`GET /`, {options.connections} connections that stay", kept)]
    tables += [table(name, rounds) for name, rounds in whole.items()]
    text = "\n\n".join(tables)
    print(text)
    if not options.quick:
        before, begin, rest = README.read_text(encoding="utf-8").partition(BEGIN)
        _, end, after = rest.partition(END)
        README.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
