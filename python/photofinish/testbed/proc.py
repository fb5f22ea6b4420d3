"""Figures of processes from ``/proc``: memory, context switches, members of a process tree."""

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Footprint:
    """Of all processes of a contestant together; None where nothing could be read."""

    processes: int
    threads: int
    rss_peak_bytes: int | None
    """Sum of the processes' own peaks (VmHWM): an upper bound, as pages may be shared and peaks differ in time."""
    pss_bytes: int | None
    """Proportional set size now: shared pages are divided among their users, so that the sum is true."""
    stack_bytes: int | None
    """Resident pages of the main threads' stacks: what they have touched at most, in whole pages."""
    context_switches: int
    """Voluntary and involuntary, of all live threads since their start."""


def parent_of(pid: int, proc: Path = PROC) -> int | None:
    """The parent's pid, or None if the process is gone."""
    try:
        stat = (proc / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    return int(stat.rsplit(")", 1)[1].split()[1])  # the name may itself hold spaces and brackets


def tree(root: int, proc: Path = PROC) -> list[int]:
    """``root`` and all its descendants, as far as they are still linked to it."""
    children: dict[int, list[int]] = defaultdict(list)
    for name in _names(proc):
        if name.isdigit() and (parent := parent_of(int(name), proc)) is not None:
            children[parent].append(int(name))
    found = [root] if (proc / str(root)).exists() else []
    for pid in found:  # grows while we walk
        found.extend(children.get(pid, ()))
    return found


def cgroup_members(path: str) -> list[int]:
    """Pids of a control group and those below it; empty if it is gone."""
    pids: list[int] = []
    for folder, _, files in os.walk(path):
        if "cgroup.procs" in files:
            try:
                pids += map(int, Path(folder, "cgroup.procs").read_text(encoding="ascii").split())
            except OSError:
                continue
    return pids


def is_alive(pid: int, proc: Path = PROC) -> bool:
    """True if the process exists and is no zombie."""
    try:
        stat = (proc / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in {"Z", "X"}


def footprint(pids: Iterable[int], proc: Path = PROC) -> Footprint:
    """Reads all figures of these processes; those that have ended meanwhile are left out."""
    processes = threads = switches = 0
    peak: int | None = None
    proportional: int | None = None
    stack: int | None = None
    for pid in pids:
        status = _fields(proc / str(pid) / "status")
        if not status:
            continue
        processes += 1
        if "VmHWM" in status:
            peak = (peak or 0) + _kib(status["VmHWM"])
        rollup = _fields(proc / str(pid) / "smaps_rollup")
        if "Pss" in rollup:
            proportional = (proportional or 0) + _kib(rollup["Pss"])
        if "VmStk" in status:  # a kernel thread has none
            stack = (stack or 0) + _stack_bytes(proc / str(pid) / "smaps")
        for name in _names(proc / str(pid) / "task"):
            thread = _fields(proc / str(pid) / "task" / name / "status")
            threads += bool(thread)
            switches += int(thread.get("voluntary_ctxt_switches", 0))
            switches += int(thread.get("nonvoluntary_ctxt_switches", 0))
    return Footprint(processes, threads, peak, proportional, stack, switches)


def cpu_ns(root: int, cpuacct: str | None, cgroup_v2: str | None, proc: Path = PROC) -> int:
    """CPU that a contestant has used, from the most exact source there is; 0 if it is gone."""
    try:
        if cpuacct is not None:
            return int(Path(cpuacct, "cpuacct.usage").read_text(encoding="ascii"))
        if cgroup_v2 is not None:
            return int(_fields(Path(cgroup_v2, "cpu.stat"), " ")["usage_usec"]) * 1000
    except (OSError, ValueError, KeyError):
        pass
    total = 0
    for pid in tree(root, proc):
        for name in _names(proc / str(pid) / "task"):
            try:
                total += int((proc / str(pid) / "task" / name / "schedstat").read_text(encoding="ascii").split()[0])
            except (OSError, IndexError, ValueError):
                continue
    return total


def available_bytes(proc: Path = PROC) -> tuple[int, int]:
    """Memory that can still be had without swapping, and all there is."""
    fields = _fields(proc / "meminfo")
    return _kib(fields["MemAvailable"]), _kib(fields["MemTotal"])


def _stack_bytes(smaps: Path) -> int:
    """Resident bytes of the mapping called ``[stack]``; 0 if it can't be read."""
    inside = False
    try:
        for line in smaps.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if inside and key == "Rss":
                return _kib(value)
            if "-" in key:  # the head of a mapping begins with its addresses
                inside = line.endswith("[stack]")
    except OSError:
        pass
    return 0


def _kib(value: str) -> int:
    return int(value.split(maxsplit=1)[0]) * 1024


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _fields(path: Path, separator: str = ":") -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(separator) for line in lines)}
