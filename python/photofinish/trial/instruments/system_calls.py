"""System calls of a traced program, and what they copied: read from strace's own lines."""

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_READING = {"read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg"}
_WRITING = {"write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"}
COPYING = frozenset(_READING | _WRITING)
"""Calls whose bytes the kernel copies from or to the program; the result is their number."""
MOVING = frozenset({"sendfile", "splice", "tee", "copy_file_range"})
"""Calls that pass bytes on inside the kernel."""
UNSEEN = frozenset({"io_uring_enter"})
"""What is done through these does not show as system calls."""
_LINE = re.compile(
    r"^(?:\d+ +)?(?P<at>\d+\.\d+) (?:<\.\.\. )?(?P<call>\w+)(?: resumed>|\().* = (?P<result>-?\d+)(?:x[0-9a-f]+)?(?: .*)?$"
)
"""``strace -f -ttt``: process, seconds since 1970, call, result; the second half of a call that was cut in two as well.
The first half, ``<unfinished ...>``, has no result and is left out."""


def command(argv: Sequence[str], output: Path) -> list[str] | None:
    """A command that runs ``argv`` traced; None where there is no strace."""
    tracer = shutil.which("strace")
    if tracer is None:
        return None
    return [tracer, "-f", "-qq", "-ttt", "-s", "0", "-e", "signal=none", "-o", str(output), "--", *argv]


@dataclass(frozen=True, slots=True)
class Calls:
    """System calls in a span of time."""

    counts: Counter[str]
    copied_bytes: int | None
    """Copied between kernel and program; None if some of it can't be seen."""
    moved_bytes: int | None
    """Passed on inside the kernel; None likewise."""

    @property
    def total(self) -> int:
        """All calls."""
        return self.counts.total()


def read(lines: Iterable[str], begin_s: float, end_s: float) -> Calls:
    """Adds up a trace.

    Args:
        lines: of strace.
        begin_s: first moment that counts, in seconds since 1970.
        end_s: last one. A call counts by the time at its line's head: its begin, or its second half's.
    """
    counts: Counter[str] = Counter()
    copied = moved = 0
    for line in lines:
        found = _LINE.match(line)
        if found is None or not begin_s <= float(found["at"]) <= end_s:
            continue
        call, result = found["call"], int(found["result"])
        counts[call] += 1
        copied += max(result, 0) if call in COPYING else 0
        moved += max(result, 0) if call in MOVING else 0
    if UNSEEN & counts.keys():
        return Calls(counts, None, None)
    return Calls(counts, copied, moved)
