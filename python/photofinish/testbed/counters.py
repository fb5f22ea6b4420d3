"""The machine's own counters, read before and after a measurement: who else was at work?"""

import os
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")
ALL_TASKS = Path("/sys/fs/cgroup/cpuacct/cpuacct.usage")
"""Nanoseconds of all tasks, on the same base as a contestant's own, where there is a v1 hierarchy."""
PRESSURE = Path("/proc/pressure/cpu")


@dataclass(frozen=True, slots=True)
class Counters:
    """Sums over all CPUs since boot, in nanoseconds."""

    busy_ns: int
    """What tasks used: exactly where cgroup v1 tells it, else user, nice and system time by ticks. Interrupts are left
    out: our own packets cause most of them."""
    steal_ns: int
    """Time that the hypervisor gave to others."""
    pressure_ns: int | None
    """Time in which at least one task waited for a CPU; None without pressure-stall information."""
    cpus: int


def read_counters(stat: Path = STAT, pressure: Path = PRESSURE, all_tasks: Path = ALL_TASKS) -> Counters:
    """Reads them now; what comes from ``stat`` has a resolution of one tick (mostly 10 ms)."""
    first = stat.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    ticks = [int(value) for value in first]
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    user, nice, system = ticks[:3]
    steal = ticks[7] if len(ticks) > 7 else 0  # the eighth column
    guests = sum(ticks[8:10])  # counted in user and nice already
    try:
        busy = int(all_tasks.read_text(encoding="ascii"))
    except (OSError, ValueError):
        busy = (user + nice + system - guests) * tick_ns
    return Counters(busy, steal * tick_ns, _pressure(pressure), os.cpu_count() or 1)


def _pressure(path: Path) -> int | None:
    try:
        line = path.read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return None
    _, _, total = line.partition("total=")
    return int(total) * 1000 if total else None
