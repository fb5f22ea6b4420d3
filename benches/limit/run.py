#!/usr/bin/env python3
"""What one request costs `limit`, `origin` and nginx, side by side.

All servers live at once, pinned to one CPU; `photofinish visit` on another CPU visits them in short windows, in
an order that is shuffled anew for each cycle and repeated backwards. Printed: the median over the windows of server
CPU µs per request, and the median, with its quartiles, of each server's ratio to `limit` within a cycle.

    cargo build --release && benches/limit/run.py [--engine PATH] [--rounds 5] [--cycles 40]

This orients; it is no race: rounds are pooled, and no interval is given.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

NGINX = """
daemon off; worker_processes 1; pid {run}/nginx.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; default_type text/plain;
  client_body_temp_path {run}/body; proxy_temp_path {run}/proxy; fastcgi_temp_path {run}/fastcgi;
  uwsgi_temp_path {run}/uwsgi; scgi_temp_path {run}/scgi;
  server {{ listen 127.0.0.1:{port}; location = / {{ return 200 "Hello World!"; }} }}
}}
"""


def free_port(start: int) -> int:
    """The first port from `start` on that nobody listens on; below the ephemeral range."""
    for port in range(start, 32_000):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SystemExit("no free port between 18000 and 32000")


def answers(port: int) -> bool:
    """Whether somebody takes connections there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.2):
            return True
    except OSError:
        return False


def commands(engine: Path, names: list[str], run: Path) -> dict[str, tuple[int, list[str]]]:
    """Port and argv of each server: `limit/epoll`, `origin/io_uring`, `nginx`, `limit+250` (extra ns), `limit@/other/build`."""
    result: dict[str, tuple[int, list[str]]] = {}
    port = 18_000
    for name in names:
        port = free_port(port + 1)
        if name == "nginx":
            config = run / "nginx.conf"
            config.write_text(NGINX.format(run=run, port=port))
            argv = ["nginx", "-p", str(run), "-c", str(config)]
        else:
            head, _, other = name.partition("@")
            head, _, spend = head.partition("+")
            which, _, backend = head.partition("/")
            argv = [
                other or str(engine),
                which.removesuffix("-twin"),
                "--port",
                str(port),
                "--backend",
                backend or "auto",
            ]
            argv += ["--spend-ns", spend or "0"]
        result[name] = (port, argv)
    return result


def schedule(count: int, cycles: int, shuffle: random.Random) -> list[list[int]]:
    """Orders of visits: each shuffled one is followed by its reverse, so that drift within a pair cancels."""
    order: list[list[int]] = []
    for _ in range(cycles // 2):
        turn = shuffle.sample(range(count), count)
        order += [turn, turn[::-1]]
    return order


def visit(options: argparse.Namespace, names: list[str], seed: int) -> list[dict[str, float]]:
    """One round with fresh processes: per cycle, server CPU µs a request by name."""
    shuffle = random.Random(seed)  # noqa: S311 - an order of visits, no secret
    with ExitStack() as ending:
        run = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="photofinish-limit-")))
        targets = []
        for name, (port, argv) in commands(options.engine, names, run).items():
            pinned = ["taskset", "-c", str(options.server_cpu), *argv]
            process = subprocess.Popen(pinned, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            ending.callback(process.wait)
            ending.callback(process.terminate)
            for _ in range(100):
                if answers(port):
                    break
                time.sleep(0.02)
            else:
                raise SystemExit(f"{name} does not listen on port {port}: try {' '.join(argv)}")
            cpu = {"kind": "processes", "root_pid": process.pid}
            targets.append({"id": name, "address": f"127.0.0.1:{port}", "cpu": cpu})
        document = {
            "schema": "photofinish.visit/1",
            "deadline_ms": 600_000,
            "backend": options.backend,
            "threads": 1,
            "cpus": [options.client_cpu],
            "window_ms": options.window_ms,
            "settle_ms": 2,
            "drain_ms": 250,
            "reconnect": True,
            "load": {"mode": "closed", "connections": options.connections},
            "request": {"method": "GET", "path": "/", "headers": [["Accept", "*/*"]]},
            "expect": {"status": 200, "body_bytes": 12, "body_xxh3": None},
            "targets": targets,
            "phases": [
                {"name": "warmup", "order": schedule(len(targets), 6, shuffle)},
                {"name": "measure", "order": schedule(len(targets), options.cycles, shuffle)},
            ],
        }
        done = subprocess.run(
            [str(options.engine), "visit"], input=json.dumps(document), capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise SystemExit(f"visit failed: {done.stderr.strip()}")
    cycles = []
    for line in map(json.loads, done.stdout.splitlines()):
        if line["event"] == "cycle" and line["phase"] == "measure":
            windows = [window for window in line["windows"] if window["requests"] and not window["failed"]]
            cycles.append({names[w["target"]]: w["cpu_ns"] / w["requests"] / 1000 for w in windows})
    return cycles


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", type=Path, default=ROOT / "target/release/photofinish")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cycles", type=int, default=40)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--window-ms", type=int, default=15)
    parser.add_argument("--backend", default="auto", help="of the generator")
    parser.add_argument("--server-cpu", type=int, default=1)
    parser.add_argument("--client-cpu", type=int, default=0)
    parser.add_argument(
        "servers", nargs="*", default=["limit/io_uring", "limit/epoll", "origin/io_uring", "origin/epoll", "nginx"]
    )
    options = parser.parse_args()
    names = [name for name in options.servers if name != "nginx" or shutil.which("nginx")]
    if len(names) < len(options.servers):
        print("nginx is not installed: left out (Debian: apt-get install nginx-light)", file=sys.stderr)
    if not options.engine.is_file():
        raise SystemExit(f"no engine at {options.engine}: run `cargo build --release`, or give --engine")
    cycles = [cycle for seed in range(options.rounds) for cycle in visit(options, names, seed)]
    base = names[0]
    print(f"{'server':<36}{'µs/request':>12}{'ratio to ' + base:>30}   quartiles")
    for name in names:
        costs = [cycle[name] for cycle in cycles if name in cycle]
        ratios = [cycle[name] / cycle[base] for cycle in cycles if name in cycle and base in cycle]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"{name:<36}{statistics.median(costs):>12.3f}{middle:>30.4f}   {low:.4f}–{high:.4f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
