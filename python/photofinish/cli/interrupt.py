"""Ctrl-C, once and twice, and the terminal that goes away."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from photofinish.testbed.stop import StopFlag

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stoppable() -> Iterator[StopFlag]:
    """A flag that the first signal sets and that a second one makes urgent; the old handlers return afterwards."""
    flag = StopFlag()

    def handle(_number: int, _frame: FrameType | None) -> None:
        flag.set()

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield flag
    finally:
        for number, old in before.items():
            signal.signal(number, old)
