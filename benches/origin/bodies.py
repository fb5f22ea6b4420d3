"""Ways for a body to leave a server over loopback: what one MiB costs the sender and the receiver.

`send` copies it from memory into the socket; `sendfile` and `splice` hand over the pages of a file in memory (memfd). Sender
and receiver are processes of their own, each on a CPU of its own; the order of the ways is drawn by chance for each round.
Printed: medians of rounds.

    .venv/bin/python benches/origin/bodies.py [--rounds 9]
"""

import argparse
import fcntl
import mmap
import os
import random
import socket
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- bodies: begin (written by bodies.py) -->", "<!-- bodies: end -->"
BODY_BYTES = 1 << 20
BODIES = 1500
SERVER_CPU, CLIENT_CPU = 1, 0
F_SETPIPE_SZ = 1031

Way = Callable[[socket.socket, int, memoryview, tuple[int, int]], int]


def by_send(to: socket.socket, _file: int, memory: memoryview, _pipe: tuple[int, int]) -> int:
    """As much of one body as fits, copied from memory."""
    return to.send(memory)


def by_sendfile(to: socket.socket, file: int, _memory: memoryview, _pipe: tuple[int, int]) -> int:
    """As much of one body as fits, by its pages."""
    return os.sendfile(to.fileno(), file, 0, BODY_BYTES)


def by_splice(to: socket.socket, file: int, _memory: memoryview, pipe: tuple[int, int]) -> int:
    """The same through a pipe that holds a whole body."""
    count = rest = os.splice(file, pipe[1], BODY_BYTES, offset_src=0)
    while rest:
        rest -= os.splice(pipe[0], to.fileno(), rest)
    return count


WAYS: dict[str, Way] = {"send (a copy)": by_send, "sendfile": by_sendfile, "splice": by_splice}


def receive(address: tuple[str, int], report: int) -> None:
    """Reads to the end and writes its CPU time in ns to ``report``; never returns."""
    os.sched_setaffinity(0, {CLIENT_CPU})
    buffer = bytearray(64 * 1024)
    with socket.create_connection(address) as stream:
        begun = time.process_time_ns()
        while stream.recv_into(buffer):
            pass
        os.write(report, str(time.process_time_ns() - begun).encode())
    os._exit(0)


def cost_us(way: Way, file: int, memory: memoryview) -> tuple[float, float]:
    """CPU µs a MiB of the sender and of the receiver."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            receive(listener.getsockname(), tell)
        stream, _ = listener.accept()
        pipe = os.pipe()
        fcntl.fcntl(pipe[0], F_SETPIPE_SZ, BODY_BYTES)
        with stream:
            begun, rest = time.thread_time_ns(), BODIES * BODY_BYTES
            while rest > 0:
                rest -= way(stream, file, memory, pipe)
            spent = time.thread_time_ns() - begun
        os.waitpid(child, 0)
        received = int(os.read(told, 64))
    for descriptor in (told, tell, *pipe):
        os.close(descriptor)
    return spent / BODIES / 1000, received / BODIES / 1000


def main() -> None:
    """Measure all ways in turn, print the table, put it into README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    os.sched_setaffinity(0, {SERVER_CPU})
    file = os.memfd_create("body")
    os.ftruncate(file, BODY_BYTES)
    mapping = mmap.mmap(file, BODY_BYTES)
    mapping[:] = random.Random(1).randbytes(BODY_BYTES)  # noqa: S311 - a body, no secret
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    chance = random.Random(2)  # noqa: S311 - an order, reproducible on purpose
    for number in range(options.rounds):
        for name in chance.sample(list(WAYS), len(WAYS)):
            costs[name].append(cost_us(WAYS[name], file, memoryview(mapping)))
        print(f"{number + 1}/{options.rounds}", file=sys.stderr)
    lines = ["| way | sender CPU, µs/MiB | receiver CPU, µs/MiB |", "| --- | --- | --- |"]
    for name, pairs in costs.items():
        sender, receiver = (statistics.median(each[side] for each in pairs) for side in (0, 1))
        lines.append(f"| {name} | {sender:.0f} | {receiver:.0f} |")
    table = "\n".join(lines)
    print(table)
    before, begin, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    README.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
