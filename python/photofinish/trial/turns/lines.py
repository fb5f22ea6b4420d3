"""Talking to one contestant by lines, outside windows: is it ready, and one repetition that is looked at closely."""

import json
import os
import select
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from photofinish.errors import EnvironmentError_
from photofinish.testbed.stop import StopFlag

LONGEST_LINE = 65_536
POLL_S = 0.1
End = Callable[[], str | None]
"""Answers how a contestant ended, in words; None while it runs."""


MOST_WORDS = 300
"""Characters of what a contestant says that are shown."""


class Silent(Exception):  # noqa: N818 - what it did, not what we did
    """No line came: the time is up, the process has ended, its pipes are gone, or what came is no line."""


class Garbled(Silent):
    """What came is no line of the contract, or more than was asked for."""


def words(said: object) -> str:
    """What a contestant says, fit to be stored and shown: cut, and without what a terminal would obey."""
    text = said if isinstance(said, str) else repr(said)
    shown = "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text[:MOST_WORDS]
    )
    return shown if len(text) <= MOST_WORDS else f"{shown}…"


@dataclass(frozen=True, slots=True)
class Pipes:
    """The two FIFOs of a contestant."""

    commands: Path
    answers: Path

    @classmethod
    def make(cls, folder: Path) -> "Pipes":
        """Makes them in a folder.

        Raises:
            EnvironmentError_: the file system has no room, or no FIFOs.
        """
        pipes = cls(folder / "commands", folder / "answers")
        for each in (pipes.commands, pipes.answers):
            try:
                os.mkfifo(each, 0o600)
            except OSError as error:
                mend = "free space, or put --work on a file system that has FIFOs"
                raise EnvironmentError_(f"{each}: the FIFO can't be made ({error.strerror}); {mend}") from error
        return pipes


class Talk:
    """A conversation; ``with`` closes its ends of the pipes."""

    def __init__(self, pipes: Pipes) -> None:
        """Opens both.

        Raises:
            Silent: one is gone, or is no FIFO any more; the contestant's own working directory holds them.
        """
        self._commands = _open(pipes.commands)
        try:
            self._answers = _open(pipes.answers)
        except Silent:
            os.close(self._commands)
            raise
        self._pending = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes our ends; the contestant does not notice."""
        os.close(self._commands)
        os.close(self._answers)

    def say(self, line: str) -> None:
        """Gives one command.

        Raises:
            Silent: the pipe is full, as it does not read its commands.
        """
        try:
            os.write(self._commands, line.encode() + b"\n")
        except BlockingIOError:
            raise Silent("it does not read its commands") from None

    @property
    def surplus(self) -> str | None:
        """What it said beyond the answers that were asked for, as far as that has been read; None: nothing."""
        return words(self._pending.decode(errors="replace")) if self._pending else None

    def hear(self, timeout_s: float, end_of: End, stop: StopFlag | None = None) -> dict[str, Any]:
        """The next line, parsed.

        Args:
            timeout_s: how long to wait.
            end_of: asked whether the contestant still runs.
            stop: looked at meanwhile.

        Raises:
            Silent: there was none; ``Garbled``: it is no JSON object. The text says which.
            Interrupted: the stop flag was set.
        """
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._pending:
            if stop is not None:
                stop.check()
            left = deadline - time.monotonic()
            if left <= 0:
                raise Silent(f"no answer within {timeout_s:g} s")
            readable, _, _ = select.select([self._answers], [], [], min(left, POLL_S))
            if readable:
                self._pending += os.read(self._answers, LONGEST_LINE)
            elif (end := end_of()) is not None:
                raise Silent(f"it {end}")
            if len(self._pending) > LONGEST_LINE:
                raise Garbled(f"a line of more than {LONGEST_LINE} bytes")
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Garbled(f"a line that is no JSON object: `{words(line.decode(errors='replace'))}`")
        return answer


def _open(fifo: Path) -> int:
    try:
        end = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise Silent(f"its FIFO {fifo.name} can't be opened ({error.strerror})") from error
    if not stat.S_ISFIFO(os.fstat(end).st_mode):
        os.close(end)
        raise Silent(f"its FIFO {fifo.name} is something else now")
    return end
