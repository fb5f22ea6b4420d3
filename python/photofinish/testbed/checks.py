"""What this machine can and can't do, and how to mend it. Reads only; see ``mend.py`` for what changes something."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from photofinish.contest.manifest import Manifest
from photofinish.contest.presence import Machine, ThisMachine, absence_of

Status = Literal["good", "limited", "missing"]
MIN_FREE_BYTES = 2 * 1024**3
MIN_AVAILABLE_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Check:
    """One fact about this machine: what was found, what follows, what mends it."""

    name: str
    status: Status
    found: str
    mend: str | None = None


def machine_checks(probe: dict[str, Any]) -> Iterator[Check]:
    """Checks of the machine itself; ``probe`` is the engine's own report on the kernel."""
    yield Check("python", "good", ".".join(map(str, sys.version_info[:3])))
    yield _cores()
    uring = probe.get("io_uring") or {}
    if uring.get("available"):
        yield Check("io_uring", "good", f"kernel {probe.get('kernel')}, back end {probe.get('backend')}")
    else:
        yield Check(
            "io_uring",
            "limited",
            f"{uring.get('reason')}; epoll is used",
            "allow io_uring (kernel ≥ 6.0, sysctl kernel.io_uring_disabled=0)",
        )
    if probe.get("cgroup_writable"):
        kind = "v1 cpuacct, nanoseconds" if probe.get("cgroup_cpuacct") else "v2 cpu.stat, microseconds"
        yield Check("cgroups", "good", kind)
    else:
        yield Check(
            "cgroups",
            "limited",
            "not writable; CPU is read from schedstat, thread by thread",
            "run as root, or delegate a cgroup to this user",
        )
    if not probe.get("schedstat", True):
        yield Check("schedstat", "missing", "/proc/self/schedstat can't be read", "a kernel with CONFIG_SCHED_INFO")
    yield _governor()
    yield _memory()
    yield _disk(Path.cwd())


def _cores() -> Check:
    cores = len(os.sched_getaffinity(0))
    if cores >= 2:
        return Check("cores", "good", f"{cores}: servers apart from the engine")
    return Check(
        "cores", "limited", "1: servers and engine share it, costs stay valid, latencies don't", "at least 2 cores"
    )


def _governor() -> Check:
    path = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    try:
        governor = path.read_text(encoding="ascii").strip()
    except OSError:
        return Check("frequency", "good", "no governor visible (virtual machine, or fixed)")
    if governor == "performance":
        return Check("frequency", "good", governor)
    return Check("frequency", "limited", f"governor {governor}", "cpupower frequency-set -g performance")


def _memory() -> Check:
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    available = int(fields["MemAvailable"].split()[0]) * 1024
    text = f"{available / 1024**3:.1f} GiB available"
    if available >= MIN_AVAILABLE_BYTES:
        return Check("memory", "good", text)
    return Check("memory", "limited", text, "free memory, or race fewer contestants with --only")


def _disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    text = f"{free / 1024**3:.1f} GiB free here"
    if free >= MIN_FREE_BYTES:
        return Check("disk", "good", text)
    return Check("disk", "limited", text, "free at least 2 GiB: contestants are built here")


def missing_packages(manifests: Iterable[Manifest], machine: Machine | None = None) -> list[str]:
    """Debian packages that contestants want and this machine lacks, sorted."""
    asked = machine or ThisMachine()
    wanted = {package for manifest in manifests for package in manifest.requires.packages}
    return sorted(package for package in wanted if not asked.has_package(package))


def contestant_checks(manifests: Iterable[Manifest], machine: Machine | None = None) -> Iterator[Check]:
    """One check a contestant: can it be built and started here?"""
    for manifest in sorted(manifests, key=lambda one: one.id):
        absence = absence_of(manifest, machine or ThisMachine())
        if absence is None:
            yield Check(manifest.id, "good", f"{manifest.language}, {manifest.title} {manifest.version}")
        else:
            found, _, mend = absence.detail.partition("; ")
            yield Check(manifest.id, "missing", found, mend)
