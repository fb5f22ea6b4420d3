"""Installs the Debian packages that contestants want, without letting any of them start a service."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from photofinish.errors import EnvironmentError_

POLICY = Path("/usr/sbin/policy-rc.d")
DENY = (
    "#!/bin/sh\n# put here by photofinish while it installs packages, so that none of them starts a service\nexit 101\n"
)


@contextmanager
def _no_services() -> Iterator[None]:
    """Debian's own switch: while this file says 101, no package starts or restarts a service."""
    ours = not POLICY.exists() or POLICY.read_text(encoding="utf-8", errors="replace") == DENY  # ours: left by a kill
    if ours:
        POLICY.write_text(DENY, encoding="ascii")
        POLICY.chmod(0o755)
    try:
        yield
    finally:
        if ours:
            POLICY.unlink(missing_ok=True)


def apt_command(packages: list[str]) -> list[str]:
    """The one command that installs them."""
    return ["apt-get", "install", "-y", "--no-install-recommends", *packages]


def install(packages: list[str]) -> None:
    """Installs packages through apt as root; otherwise an error that holds the one command to run."""
    if not packages:
        return
    if shutil.which("apt-get") is None:
        raise EnvironmentError_(f"no apt-get here; install with this system's package manager: {' '.join(packages)}")
    if os.geteuid() != 0:
        raise EnvironmentError_(f"packages are missing; run: sudo {' '.join(apt_command(packages))}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1"}
    with _no_services():
        for command in (["apt-get", "update"], apt_command(packages)):
            done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
                raise EnvironmentError_(f"{' '.join(command)} failed: {last[0]}")
