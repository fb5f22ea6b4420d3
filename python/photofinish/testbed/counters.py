"""The machine's own counters, read before and after a measurement: who else was at work?"""

import os
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")
PRESSURE = Path("/proc/pressure/cpu")


@dataclass(frozen=True, slots=True)
class Counters:
    """Sums over all CPUs since boot, in nanoseconds."""

    busy_ns: int
    """User, nice and system time: what tasks used. Interrupts are left out: our own packets cause most of them."""
    steal_ns: int
    """Time that the hypervisor gave to others."""
    pressure_ns: int | None
    """Time in which at least one task waited for a CPU; None without pressure-stall information."""


def read_counters(stat: Path = STAT, pressure: Path = PRESSURE) -> Counters:
    """Reads them now; their resolution is one tick (mostly 10 ms)."""
    first = stat.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    ticks = [int(value) for value in first]
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    user, nice, system = ticks[:3]
    steal = ticks[7] if len(ticks) > 7 else 0  # the eighth column
    guests = sum(ticks[8:10])  # counted in user and nice already
    return Counters((user + nice + system - guests) * tick_ns, steal * tick_ns, _pressure(pressure))


def _pressure(path: Path) -> int | None:
    try:
        line = path.read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return None
    _, _, total = line.partition("total=")
    return int(total) * 1000 if total else None
