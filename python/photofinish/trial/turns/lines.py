"""Talking to one contestant by lines, outside windows: is it ready, and one repetition that is looked at closely."""

import json
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from photofinish.testbed.stop import StopFlag

LONGEST_LINE = 65_536
POLL_S = 0.1
End = Callable[[], str | None]
"""Answers how a contestant ended, in words; None while it runs."""


class Silent(Exception):  # noqa: N818 - what it did, not what we did
    """No line came: the time is up, the process has ended, or what came is no line."""


@dataclass(frozen=True, slots=True)
class Pipes:
    """The two FIFOs of a contestant."""

    commands: Path
    answers: Path

    @classmethod
    def make(cls, folder: Path) -> "Pipes":
        """Makes them in a folder."""
        pipes = cls(folder / "commands", folder / "answers")
        for each in (pipes.commands, pipes.answers):
            os.mkfifo(each, 0o600)
        return pipes


class Talk:
    """A conversation; ``with`` closes its ends of the pipes, which the contestant does not notice."""

    def __init__(self, pipes: Pipes) -> None:
        self._commands = os.open(pipes.commands, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._answers = os.open(pipes.answers, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._pending = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._commands)
        os.close(self._answers)

    def say(self, line: str) -> None:
        """Gives one command."""
        os.write(self._commands, line.encode() + b"\n")

    def hear(self, timeout_s: float, end_of: End, stop: StopFlag | None = None) -> dict[str, Any]:
        """The next line, parsed.

        Args:
            timeout_s: how long to wait.
            end_of: asked whether the contestant still runs.
            stop: looked at meanwhile.

        Raises:
            Silent: there was none, or it is no JSON object; the text says which.
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
                raise Silent(f"a line of more than {LONGEST_LINE} bytes")
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise Silent(f"a line that is no JSON object: {line[:200].decode(errors='replace')!r}")
        return answer
