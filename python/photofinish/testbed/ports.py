"""Ports for contestants, below the ephemeral range, so that no outgoing connection ever sits on one."""

import socket
from collections.abc import Iterator
from pathlib import Path

from photofinish.errors import EnvironmentError_

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST = 18_000


def ephemeral_range(path: Path = EPHEMERAL) -> tuple[int, int]:
    """First and last port that the kernel gives to outgoing connections; Linux's default if it can't be read."""
    try:
        first, last = path.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 32_768, 60_999
    return int(first), int(last)


def is_free(address: str, port: int) -> bool:
    """Can a server listen there now, by TCP and by UDP? Neither a listener nor a bound socket is in the way."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            if kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                return False
    return True


class Ports:
    """Hands out free ports, each once, until all have had their turn: no round meets its predecessor's sockets."""

    def __init__(self, address: str = "127.0.0.1", *, lowest: int = LOWEST, start: int = 0) -> None:
        """``start``: offset of the first one, so that two laboratories don't try the same ports in step."""
        first_ephemeral, last_ephemeral = ephemeral_range()
        self._address = address
        if first_ephemeral - lowest >= 1000:  # room for rounds of dozens of contestants
            self._candidates = range(lowest, first_ephemeral)
        else:  # a widened range: stay above it, or share what there is
            self._candidates = range(last_ephemeral + 1, 65_536) or range(lowest, 65_536)
        self._turn = self._cycle(start)

    def _cycle(self, start: int) -> Iterator[int]:
        count = len(self._candidates)
        place = start % count
        while True:
            yield self._candidates[place]
            place = (place + 1) % count

    def take(self) -> int:
        """The next free port.

        Raises:
            EnvironmentError_: all are in use.
        """
        for _ in range(len(self._candidates)):
            port = next(self._turn)
            if is_free(self._address, port):
                return port
        span = f"{self._candidates[0]}–{self._candidates[-1]}"
        raise EnvironmentError_(f"no free port on {self._address} in {span}; end what listens there")
