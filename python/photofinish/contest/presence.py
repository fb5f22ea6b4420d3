"""Whether what a contestant requires is on this machine. Only looks; nothing is installed."""

import shutil
import subprocess
from functools import cache
from typing import Protocol

from photofinish.contest.manifest import Manifest
from photofinish.contest.plan import Absence


class Machine(Protocol):
    """What can be asked of a machine before a race."""

    def has_tool(self, name: str) -> bool:
        """Is there a command of this name?"""
        ...

    def has_package(self, name: str) -> bool:
        """Is this Debian package installed?"""
        ...


class ThisMachine:
    """The machine that we run on."""

    def has_tool(self, name: str) -> bool:
        """True if the command is on PATH (or is the path of a program)."""
        return shutil.which(name) is not None

    def has_package(self, name: str) -> bool:
        """True if dpkg knows the package as installed; False where there is no dpkg."""
        return _installed(name)


@cache
def _installed(package: str) -> bool:
    try:
        query = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status}", "--", package],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    return query.returncode == 0 and query.stdout.strip() == "installed"


def absence_of(manifest: Manifest, machine: Machine) -> Absence | None:
    """Why a contestant can't even be built here, with the mend; None if nothing is missing."""
    tools = [tool for tool in manifest.requires.tools if not machine.has_tool(tool)]
    if tools:
        detail = f"not on PATH: {', '.join(tools)}; install what provides it, or leave out {manifest.id}"
        return Absence(contestant=manifest.id, code="missing-tool", detail=detail)
    packages = [package for package in manifest.requires.packages if not machine.has_package(package)]
    if packages:
        detail = f"not installed: {', '.join(packages)}; run `apt-get install {' '.join(packages)}`"
        return Absence(contestant=manifest.id, code="missing-package", detail=detail)
    return None
