"""What it costs to throw TCP input away on loopback: every sink against every sender, bare, without HTTP.

One run of ``photofinish-bare transfer`` after the other, in an order drawn by chance for each round; sender and sink have a
CPU each. CPU time is each thread's own; what the kernel does for the one on the other's CPU is charged to the other, hence
both are shown.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benches.goals import Measured
from benches.readme import table

ROOT = Path(__file__).resolve().parents[2]
BYTES = 512 << 20
BUDGET_S = 80.0
"""No round is begun after so long."""
TIMEOUT_S = 60
SENDERS = {"sendfile": "sendfile", "copy": "read and send, 64 KiB"}
BASE = "recv, 64 KiB"
SINKS: dict[str, tuple[str, ...]] = {
    BASE: ("--sink", "recv"),
    "recv, 1 MiB": ("--sink", "recv", "--piece-bytes", "1048576"),
    "recv MSG_TRUNC, 64 KiB": ("--sink", "trunc"),
    "recv MSG_TRUNC, woken for 1 MiB (origin, epoll)": (
        *("--sink", "trunc", "--piece-bytes", "8388608", "--low-water-bytes", "1048576"),
    ),
    "splice to /dev/null, 64 KiB": ("--sink", "splice"),
    "io_uring MSG_TRUNC, 64 KiB": ("--sink", "ring-trunc"),
    "io_uring MSG_TRUNC, woken for 1 MiB": (
        *("--sink", "ring-trunc", "--piece-bytes", "1048576", "--low-water-bytes", "1048576"),
    ),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one transfer cost, in ns of CPU a byte."""

    sink: float
    sender: float

    @property
    def both(self) -> float:
        """Of both ends."""
        return self.sink + self.sender


Key = tuple[str, str]
"""Sender and sink, as their rows are called."""


def bare_path() -> Path:
    """The program with the bare loops.

    Raises:
        SystemExit: it isn't built.
    """
    path = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "photofinish-bare"
    if not os.access(path, os.X_OK):
        raise SystemExit(f"{path} is not there: run `cargo build --release --package photofinish-bare`")
    return path


def transfer(bare: Path, file: Path, key: Key, size: int) -> Cost:
    """One run.

    Raises:
        SystemExit: it failed, or didn't throw away what was sent.
    """
    sender, sink = key
    line = [str(bare), "transfer", "--file", str(file), "--bytes", str(size), "--sender", sender, *SINKS[sink]]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SystemExit(f"`{' '.join(line)}` failed: {done.stderr.strip()}")
    said = json.loads(done.stdout)
    if said["bytes"] != size:
        raise SystemExit(f"`{' '.join(line)}` took {said['bytes']} of {size} bytes")
    return Cost(said["sink_cpu_ns"] / size, said["sender_cpu_ns"] / size)


def run(file: Path, rounds: int, seed: int) -> dict[Key, list[Cost]]:
    """All rounds, or as many as the budget allows: costs by sender and sink, one a round."""
    bare, began = bare_path(), time.monotonic()
    seen: dict[Key, list[Cost]] = {(sender, sink): [] for sender in SENDERS for sink in SINKS}
    chance = random.Random(seed)  # noqa: S311 - an order, reproducible on purpose
    for number in range(rounds):
        if number and time.monotonic() - began > BUDGET_S:
            print(f"sinks: {number} rounds, then the time was up", file=sys.stderr)
            break
        for key in chance.sample(list(seen), len(seen)):
            seen[key].append(transfer(bare, file, key, BYTES))
        print(f"sinks: {number + 1}/{rounds}", file=sys.stderr)
    return seen


def text(seen: dict[Key, list[Cost]]) -> str:
    """One table: medians, and the ratios to the plain receive with the same sender."""
    rows = []
    for (sender, sink), costs in seen.items():
        base = seen[sender, BASE]
        cells = [SENDERS[sender], sink]
        cells += [
            f"{statistics.median(figures):.4f}" for figures in zip(*((c.sink, c.sender) for c in costs), strict=True)
        ]
        if sink == BASE:
            rows.append([*cells, "1", "1"])
            continue
        ratios = (
            Measured.of_pairs([c.sink for c in costs], [c.sink for c in base]),
            Measured.of_pairs([c.both for c in costs], [c.both for c in base]),
        )
        rows.append([*cells, *(str(ratio) for ratio in ratios)])
    head = ["sender", "sink", "sink CPU, ns/byte", "sender CPU, ns/byte"]
    rounds = len(next(iter(seen.values())))
    head += [f"sink against `{BASE}` [95 %]", "both ends against it [95 %]"]
    return f"{rounds} rounds, {BYTES >> 20} MiB each.\n\n{table(head, rows)}"
