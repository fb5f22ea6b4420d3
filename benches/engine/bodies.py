"""What receiving large bodies, and keeping many connections, costs ``photofinish load`` beside wrk.

The server is ``photofinish origin`` on one CPU; the clients are whole processes on another, in turn and in an order drawn by
chance for each round. Read: bytes on the wire per second of the client's own CPU (its rusage), requests in flight at the
end included as far as the client counts them. Printed: medians, and the ratio to wrk with the exact paired interval.

    .venv/bin/python -m benches.engine.bodies [--rounds 8] [--seconds 2] [--keep]
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benches.engine.run import CLIENT_CPU, SERVER_CPU, ratio
from benches.peers.install import installed
from benches.readme import put, table

from photofinish.testbed.engine import engine_path

README = Path(__file__).parent / "README.md"
CASES = (("/test/100k", 50), ("/test/1m", 20), ("/test/1m", 50), ("/test/50m", 8), ("/test/50m", 20))
MANY, FEW = 10_000, 100
UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def run(line: list[str]) -> tuple[str, float]:
    """What a client prints, and its CPU time in s."""
    process = subprocess.Popen(
        ["taskset", "-c", str(CLIENT_CPU), *line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    text = process.stdout.read() if process.stdout is not None else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return text, usage.ru_utime + usage.ru_stime


def ours(engine: Path, backend: str, url: str, connections: int, seconds: int) -> float:
    """Bytes a CPU second."""
    line = [str(engine), "load", url, "-c", str(connections), "-d", f"{seconds}s", "--backend", backend]
    text, cpu_s = run([*line, "--json", "--quiet", "--no-self-check"])
    report = json.loads(text)
    seconds_sent = float(report["measured_ns"]) / 1e9
    return float(report["throughput"]["wire_bytes_per_s"]) * seconds_sent / cpu_s


def wrk(program: Path, url: str, connections: int, seconds: int) -> float:
    """Bytes a CPU second."""
    text, cpu_s = run([str(program), "-t1", f"-c{connections}", f"-d{seconds}s", url])
    found = re.search(r"requests in \S+, ([\d.]+)(\w+) read", text)
    if not found:
        raise SystemExit(f"wrk said nothing of bytes: {text[:200]!r}")
    return float(found[1]) * UNITS[found[2]] / cpu_s


def memory_kib(engine: Path, url: str, connections: int) -> float:
    """Resident memory of the load generator in mid-load, in KiB."""
    line = [str(engine), "load", url, "-c", str(connections), "-d", "6s", "--json", "--quiet", "--no-self-check"]
    process = subprocess.Popen(["taskset", "-c", str(CLIENT_CPU), *line], stdout=subprocess.DEVNULL)
    try:
        time.sleep(4)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    finally:
        process.wait()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return float(found[1]) if found else 0.0


def bodies(engine: Path, program: Path, base: str, rounds: int, seconds: int) -> str:
    """One row a size and number of connections."""
    rows = []
    chance = random.Random(1)  # noqa: S311 - an order, reproducible on purpose
    for path, connections in CASES:
        seen: dict[str, list[float]] = {"io_uring": [], "epoll": [], "wrk": []}
        for _ in range(rounds):
            for name in chance.sample(list(seen), len(seen)):
                if name == "wrk":
                    seen[name].append(wrk(program, base + path, connections, seconds))
                else:
                    seen[name].append(ours(engine, name, base + path, connections, seconds))
        print(f"{path}, {connections} connections", file=sys.stderr)
        medians = [f"{statistics.median(values) / 1e9:.2f}" for values in seen.values()]
        ratios = [ratio(seen[name], seen["wrk"]) for name in ("io_uring", "epoll")]
        rows.append([f"`{path}`", str(connections), *medians, *ratios])
    head = ["body", "connections", "io_uring, GB/CPU s", "epoll", "wrk", "io_uring/wrk [95 %]", "epoll/wrk [95 %]"]
    return table(head, rows)


def main() -> None:
    """Run all, print the tables, put them into the README."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="leave the README as it is")
    arguments = parser.parse_args()
    engine, program = engine_path(), installed().get("wrk")
    if program is None:
        raise SystemExit("wrk is not here: `make bench-tools` gets it")
    server = subprocess.Popen(
        ["taskset", "-c", str(SERVER_CPU), str(engine), "origin", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        port = json.loads(server.stdout.readline())["port"] if server.stdout is not None else 0
        base = f"http://127.0.0.1:{port}"
        text = bodies(engine, program, base, arguments.rounds, arguments.seconds)
        few, many = (memory_kib(engine, f"{base}/", connections) for connections in (FEW, MANY))
    finally:
        server.terminate()
        server.wait()
    each = (many - few) / (MANY - FEW)
    text += f"\n\nMemory of the generator: {many / 1024:.1f} MiB with {MANY:,} connections, {each:.2f} KiB for each."
    print(text)
    if not arguments.keep:
        put(README, "bodies", text)


if __name__ == "__main__":
    main()
