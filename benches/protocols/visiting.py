"""Windows that alternate between servers: one visit of the engine, read as server CPU a request."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benches.protocols.servers import ADDRESS, BYTES, CLIENT_CPU, Place, Server

from photofinish.contest.order import orders
from photofinish.testbed.certificates import SERVER_NAME

WARMUP_CYCLES = 2
WINDOW_S = 0.04
"""One visit with what is around its window."""

NOTHING = "no window counts"


@dataclass(frozen=True, slots=True)
class Visit:
    """What all servers are asked for, and how long."""

    path: str
    connections: int
    streams: int
    cycles: int
    seed: int


def expected_s(targets: int, cycles: int) -> float:
    """Wall time of a visit."""
    return targets * (cycles + WARMUP_CYCLES) * WINDOW_S + 0.5


def document(place: Place, servers: Sequence[Server], asked: Visit) -> dict[str, Any]:
    """What the engine is told."""
    return {
        "schema": "photofinish.visit/1",
        "deadline_ms": 120_000,
        "backend": "auto",
        "threads": 1,
        "cpus": [CLIENT_CPU],
        "window_ms": 15,
        "settle_ms": 2,
        "drain_ms": 2000,
        "reconnect": True,
        "load": {"mode": "closed", "connections": asked.connections, "streams": asked.streams},
        "tls": {"ca": str(place.secured.ca), "server_name": SERVER_NAME},
        "request": {"method": "GET", "path": asked.path, "headers": []},
        "expect": {"status": 200, "body_bytes": BYTES[asked.path], "body_xxh3": None},
        "targets": [
            {
                "id": f"{at}-{server.name}",
                "address": f"{ADDRESS}:{server.port}",
                "cpu": {"kind": "processes", "root_pid": server.pid},
                "protocol": server.protocol,
            }
            for at, server in enumerate(servers)
        ],
        "phases": [
            {"name": "warmup", "order": orders(len(servers), WARMUP_CYCLES, asked.seed)},
            {"name": "measure", "order": orders(len(servers), asked.cycles, asked.seed + 50)},
        ],
    }


def visited(place: Place, servers: Sequence[Server], asked: Visit) -> list[tuple[float | None, str]]:
    """Server CPU µs a request, one figure a server, over all windows that no request failed in; without any, why.

    Raises:
        SystemExit: the engine refused or failed.
    """
    text = json.dumps(document(place, servers, asked))
    done = subprocess.run([str(place.engine), "visit"], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"`{place.engine} visit` ended with {done.returncode}: {done.stderr.strip()}")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    found, said = per_request(events), failures(events)
    return [(found.get(at), f"{server.name}: {said.get(at, NOTHING)}") for at, server in enumerate(servers)]


def failures(events: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The first failure of each target that had one, in words."""
    ends = (line for line in events if line["event"] == "target")
    return {line["target"]: line["failure_example"] for line in ends if line["failure_example"]}


def per_request(events: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """CPU µs a request by target from the lines of a visit; a window with a failure counts for nothing."""
    cpu: dict[int, int] = {}
    requests: dict[int, int] = {}
    for line in events:
        if line["event"] != "cycle" or line["phase"] != "measure":
            continue
        for window in line["windows"]:
            if not window["failed"] and window["cpu_ns"] is not None:
                target = window["target"]
                cpu[target] = cpu.get(target, 0) + window["cpu_ns"]
                requests[target] = requests.get(target, 0) + window["requests"]
    return {target: cpu[target] / requests[target] / 1000 for target in cpu if requests[target]}
