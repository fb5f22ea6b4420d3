"""What one request costs the load generators: `photofinish load` against wrk, in turn, on one server.

The server is `photofinish limit`, pinned to one CPU; the clients are whole processes on another, in turn and in an order
drawn by chance for each pair, 100 connections, closed loop. Read: the client's own CPU (its rusage when it has ended) over
the requests that it says it made. Printed: medians, and the ratio with the laboratory's exact paired interval.

    make build && .venv/bin/python benches/engine/run.py [--pairs 12] [--seconds 2]
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
from pathlib import Path

from photofinish.testbed.engine import engine_path
from photofinish.verdict.effects import effect

CONNECTIONS = 100
SERVER_CPU, CLIENT_CPU = 1, 0
README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- results: begin (written by run.py) -->", "<!-- results: end -->"


def cost_us(argv: list[str], requests_in: str) -> float:
    """CPU of one client run in µs a request; ``requests_in`` says how its output tells their number."""
    argv = ["taskset", "-c", str(CLIENT_CPU), *argv]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = process.stdout.read() if process.stdout is not None else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if requests_in == "json":
        requests = int(json.loads(output)["requests"]["accepted"])
    else:
        found = re.search(r"(\d+) requests in", output)
        requests = int(found[1]) if found else 0
    if not requests:
        raise SystemExit(f"{argv[3]} made no requests: {output[:200]!r}; is the server reachable?")
    return (usage.ru_utime + usage.ru_stime) * 1e6 / requests


def main() -> None:
    """Run all pairs, print the table, put it into README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=2)
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not on PATH; apt-get install wrk")
    engine = str(engine_path())
    argv = ["taskset", "-c", str(SERVER_CPU), engine, "limit", "--port", "0"]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        port = json.loads(server.stdout.readline())["port"] if server.stdout is not None else 0
        url = f"http://127.0.0.1:{port}/"
        load = [engine, "load", url, "-c", str(CONNECTIONS), "-d", str(arguments.seconds), "--json", "--quiet"]
        clients = {
            "photofinish load, io_uring": ([*load, "--backend", "io-uring"], "json"),
            "photofinish load, epoll": ([*load, "--backend", "epoll"], "json"),
            "wrk": (["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{arguments.seconds}s", url], "text"),
        }
        costs: dict[str, list[float]] = {name: [] for name in clients}
        chance = random.Random(1)  # noqa: S311 - an order, reproducible on purpose
        for pair in range(arguments.pairs):
            for name in chance.sample(list(clients), len(clients)):
                costs[name].append(cost_us(*clients[name]))
            print(f"{pair + 1}/{arguments.pairs}", file=sys.stderr)
    finally:
        server.terminate()
        server.wait()
    table = text(costs)
    print(table)
    before, begin, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    README.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")


def text(costs: dict[str, list[float]]) -> str:
    """The costs as a Markdown table, ratios to wrk with their intervals."""
    lines = ["| client | client CPU, µs/request (median) | against wrk [95 % interval] |", "| --- | --- | --- |"]
    for name, figures in costs.items():
        logs = [math.log(one / wrk) for one, wrk in zip(figures, costs["wrk"], strict=True)]
        found = effect(logs, 0.05) if name != "wrk" else None
        ratio = "1"
        if found is not None:
            ends = (
                ""
                if found.low is None or found.high is None
                else f" [{math.exp(found.low):.3f}, {math.exp(found.high):.3f}]"
            )
            ratio = f"{math.exp(found.estimate):.3f}{ends}"
        lines.append(f"| {name} | {statistics.median(figures):.2f} | {ratio} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
