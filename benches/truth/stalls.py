"""How long the machine itself stands still: a program that does nothing but read the clock, alone on one CPU.

What it loses (to interrupts, to other guests of the same host) every load generator and every server loses too. A
percentile that lies beyond the share of time lost can't be measured to 50 µs here, by anything.
"""

import os
import time

LONG_NS = (50_000, 500_000, 2_000_000)


def stalls(cpu: int, seconds: float) -> tuple[list[int], int, float]:
    """How many gaps longer than each of ``LONG_NS``, the longest in ns, and the share of time in gaps beyond the first."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        gaps = gaps_of(seconds)
    finally:
        os.sched_setaffinity(0, before)
    return [sum(gap > limit for gap in gaps) for limit in LONG_NS], max(gaps, default=0), sum(gaps) / (seconds * 1e9)


def gaps_of(seconds: float) -> list[int]:
    """Gaps between two readings of the clock that are longer than the shortest of ``LONG_NS``."""
    shortest, now = LONG_NS[0], time.monotonic_ns
    gaps: list[int] = []
    last = now()
    end = last + int(seconds * 1e9)
    while last < end:
        at = now()
        if at - last > shortest:
            gaps.append(at - last)
        last = at
    return gaps


def rows(cpus: list[int], seconds: float) -> list[list[str]]:
    """One row a CPU."""
    table = []
    for cpu in cpus:
        counts, longest, share = stalls(cpu, seconds)
        figures = [f"{count / seconds:.1f}" for count in counts]
        table.append([str(cpu), *figures, f"{longest / 1e6:.1f} ms", f"{share:.2%}"])
    return table
