"""What this machine is: the fingerprint that is kept with every race, and without which its figures mean little."""

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from photofinish.testbed.cores import Cores
from photofinish.testbed.engine import probe
from photofinish.testbed.proc import available_bytes

DISTRIBUTION = "photofinish-lab"
CHECKOUT = Path(__file__).resolve().parents[3]
NOTABLE_FLAGS = (
    "hypervisor",
    "avx2",
    "avx512f",
    "aes",
    "vaes",
    "sha_ni",
    "bmi2",
    "invpcid",
    "constant_tsc",
    "tsc_adjust",
)
SYSCTLS = (
    "net.core.somaxconn",
    "net.core.busy_poll",
    "net.core.default_qdisc",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syncookies",
    "kernel.sched_autogroup_enabled",
    "kernel.perf_event_paranoid",
    "kernel.randomize_va_space",
    "vm.swappiness",
)


def package_version() -> str:
    """The version of the installed distribution; in a bare checkout that of its Cargo workspace."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        stated = re.search(r'^version = "([^"]+)"', _read(CHECKOUT / "Cargo.toml") or "", re.MULTILINE)
        return stated[1] if stated else "unknown"


def fingerprint(engine: Path | None, cores: Cores) -> dict[str, Any]:
    """Everything about this machine that may move a figure; what can't be known is None.

    Raises:
        EnvironmentError_: the engine does not answer.
    """
    available, total = available_bytes()
    return {
        "cpu": _cpu(),
        "cores": {
            "available": sorted(os.sched_getaffinity(0)),
            "contestants": list(cores.contestants),
            "engine": list(cores.engine),
            "shared": cores.shared,
        },
        "kernel": platform.release(),
        "kernel_build": platform.version(),
        "architecture": platform.machine(),
        "distribution": _distribution(),
        "libc": " ".join(platform.libc_ver()),
        "machine_kind": _machine_kind(),
        "mitigations": _mitigations(),
        "clock_source": _read(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        "memory_bytes": total,
        "memory_available_bytes": available,
        "transparent_huge_pages": _read(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
        "sysctls": {name: _sysctl(name) for name in SYSCTLS},
        "cgroup_mode": _cgroup_mode(),
        "load_average": list(os.getloadavg()),
        "steal_share_since_boot": _steal_share(),
        "python": platform.python_version(),
        "photofinish": package_version(),
        "source": _source(),
        "engine": probe(engine) if engine is not None else None,
    }


def _cpu() -> dict[str, Any]:
    text = _read(Path("/proc/cpuinfo")) or ""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    return {
        "model": fields.get("model name") or fields.get("CPU part") or platform.processor() or None,
        "online": os.cpu_count(),
        "cache": fields.get("cache size"),
        "microcode": fields.get("microcode"),
        "flags": [flag for flag in NOTABLE_FLAGS if flag in flags],
        "governor": _read(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "threads_per_core": _threads_per_core(),
        "boost": _read(Path("/sys/devices/system/cpu/cpufreq/boost")),
    }


def _threads_per_core() -> int | None:
    siblings = _read(Path("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"))
    if siblings is None:
        return None
    count = 0
    for part in siblings.split(","):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return count


def _mitigations() -> dict[str, str]:
    folder = Path("/sys/devices/system/cpu/vulnerabilities")
    if not folder.is_dir():
        return {}
    found = {path.name: _read(path) for path in sorted(folder.iterdir())}
    return {name: text for name, text in found.items() if text is not None and text != "Not affected"}


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _machine_kind() -> str:
    """A hint: container, virtual machine, or neither that we could see."""
    hints = []
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or os.environ.get("container"):  # noqa: SIM112
        hints.append("container")
    product = _read(Path("/sys/class/dmi/id/product_name"))
    if "hypervisor" in (_read(Path("/proc/cpuinfo")) or ""):
        hints.append(f"virtual machine ({product})" if product else "virtual machine")
    return ", ".join(hints) or "no sign of virtualisation"


def _cgroup_mode() -> str:
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return "v2"
    return "hybrid" if Path("/sys/fs/cgroup/unified").exists() else "v1"


def _steal_share() -> float | None:
    line = (_read(Path("/proc/stat")) or "").split("\n", 1)[0]
    ticks = [int(value) for value in line.split()[1:9]]
    total = sum(ticks)
    return ticks[7] / total if len(ticks) == 8 and total else None


def _sysctl(name: str) -> str | None:
    text = _read(Path("/proc/sys") / name.replace(".", "/"))
    return None if text is None else " ".join(text.split())


def _source() -> dict[str, Any] | None:
    """The commit of the checkout that this laboratory runs from; None where it is installed without one."""
    if not (CHECKOUT / ".git").exists():
        return None
    commit = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return None if commit is None else {"commit": commit, "dirty": bool(changes)}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(CHECKOUT), "--no-optional-locks", *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
