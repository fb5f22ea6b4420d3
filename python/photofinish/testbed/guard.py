"""Kills the command under way if the laboratory is gone, by whatever signal.

A guard is a process of its own, in a session of its own. It is told over a pipe which session runs now, and when it has
ended. At the pipe's end it kills what still runs. The command itself knows nothing of it and pays nothing for it. This
file is run as a script, without the package, so that it starts quickly.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

NOTHING = 0


class Guard:
    """The laboratory's end of the pipe; a context manager."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def watch(self, leader: int) -> None:
        """The session that runs from now on."""
        if self._process.stdin is not None:
            os.write(self._process.stdin.fileno(), f"{leader}\n".encode())

    def rest(self) -> None:
        """Nothing runs any more: its number may come back as somebody else's."""
        self.watch(NOTHING)


def watch_over(lines: int) -> int:
    """Reads numbers until the pipe ends; answers the last one."""
    pending = b""
    leader = NOTHING
    while chunk := os.read(lines, 4096):
        *whole, pending = (pending + chunk).split(b"\n")
        if whole:
            leader = int(whole[-1])
    return leader


if __name__ == "__main__":
    last = watch_over(sys.stdin.fileno())
    if last != NOTHING:
        with suppress(ProcessLookupError):
            os.killpg(last, signal.SIGKILL)
