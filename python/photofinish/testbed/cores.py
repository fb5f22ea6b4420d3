"""Which cores serve and which drive."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cores:
    """A division of the cores that this process may use."""

    contestants: tuple[int, ...]
    engine: tuple[int, ...]
    """The laboratory's as well."""
    between: tuple[int, ...] = ()
    """Those that neither of the two uses."""

    @property
    def origin(self) -> tuple[int, ...]:
        """Where our own server works while clients are measured: a core of its own if there is one, else the engine's."""
        return self.between[:1] or self.engine

    @property
    def shared(self) -> bool:
        """True: one core for all; costs stay valid, latencies and capacity don't."""
        return self.contestants == self.engine


def divide(available: Sequence[int], workers: int = 1) -> Cores:
    """The last ``workers`` cores serve (as many as leave one), the first drives; a lone core does both."""
    cores = sorted(available)
    if len(cores) == 1:
        return Cores(contestants=(cores[0],), engine=(cores[0],))
    serving = min(workers, len(cores) - 1)
    return Cores(tuple(cores[-serving:]), (cores[0],), tuple(cores[1:-serving]))


def divide_mine(workers: int = 1) -> Cores:
    """``divide`` over the cores that this process may use."""
    return divide(sorted(os.sched_getaffinity(0)), workers)


@contextmanager
def pinned(cpus: Sequence[int]) -> Iterator[None]:
    """Keeps all of this process's threads on ``cpus`` for as long as the block lasts."""
    before = os.sched_getaffinity(0)
    for thread in _threads():
        _set(thread, set(cpus))
    try:
        yield
    finally:
        for thread in _threads():
            _set(thread, before)


def _threads() -> list[int]:
    return [int(path.name) for path in Path("/proc/self/task").iterdir()]


def _set(thread: int, cpus: set[int]) -> None:
    try:
        os.sched_setaffinity(thread, cpus)
    except ProcessLookupError:  # it ended meanwhile
        return
