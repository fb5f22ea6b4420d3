"""Where the load generators are that the benches compare with, and getting those that are missing.

wrk and h2load come from Debian; bombardier and hey are built from the Go modules pinned by ``go.mod`` and ``go.sum``
beside this file; oha from its crate, in the version below. What is built goes to ``target/bench-tools``. Running this
file again does nothing that is done already.

    .venv/bin/python -m benches.peers.install [--only-say]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "target" / "bench-tools"
DEBIAN = {"wrk": "wrk", "h2load": "nghttp2-client"}
GO = {"bombardier": "github.com/codesenberg/bombardier", "hey": "github.com/rakyll/hey"}
OHA_VERSION = "1.16.0"
NAMES = (*DEBIAN, *GO, "oha")


def installed() -> dict[str, Path]:
    """The peers that are here, by name, in the order of ``NAMES``."""
    found: dict[str, Path] = {}
    for name in NAMES:
        built = TOOLS / "bin" / name
        path = built if os.access(built, os.X_OK) else shutil.which(name)
        if path:
            found[name] = Path(path)
    return found


def version(name: str, path: Path) -> str:
    """The version of a peer: as it says itself, or as it is pinned where it doesn't know."""
    if name in GO:
        pins = (Path(__file__).parent / "go.mod").read_text(encoding="utf-8")
        pinned = re.search(rf"{re.escape(GO[name])} (v\S+)", pins)
        return pinned[1] if pinned else "unknown"
    said = subprocess.run([str(path), "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"\d+(\.\d+)+\S*", said.stdout + said.stderr)
    return match[0] if match else "unknown"


def missing_because(name: str) -> str | None:
    """What keeps a peer from being installed here; None if nothing is known to."""
    if name in DEBIAN and (shutil.which("apt-get") is None or os.geteuid() != 0):
        return f"needs root on Debian: apt-get install {DEBIAN[name]}"
    if name in GO and shutil.which("go") is None:
        return "needs Go on PATH"
    if name == "oha" and shutil.which("cargo") is None:
        return "needs cargo on PATH"
    return None


def command(name: str) -> list[str]:
    """What installs one peer."""
    if name in DEBIAN:
        return ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", DEBIAN[name]]
    if name in GO:
        return ["go", "build", "-mod=readonly", "-trimpath", "-o", f"{TOOLS / 'bin'}/", GO[name]]
    build = ["--target-dir", str(TOOLS / "build")]
    return ["cargo", "install", "oha", "--version", OHA_VERSION, "--locked", "--root", str(TOOLS), *build]


def install(name: str) -> str | None:
    """Installs one peer at low priority; gives the reason where that fails."""
    if reason := missing_because(name):
        return reason
    (TOOLS / "bin").mkdir(parents=True, exist_ok=True)
    argv = ["nice", "-n", "10", *command(name)]
    done = subprocess.run(argv, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
    return f"`{' '.join(argv[3:])}` ended with {done.returncode}: {last}"


def main() -> int:
    """Install what is missing, say where each peer is; 0 even where some can't be had: the benches go without."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-say", action="store_true", help="install nothing")
    arguments = parser.parse_args()
    for name in NAMES:
        reason = None
        if name not in installed() and not arguments.only_say:
            print(f"{name}: installing", file=sys.stderr)
            reason = install(name)
        path = installed().get(name)
        print(
            f"{name:<12}{version(name, path)}  {path}" if path else f"{name:<12}not here: {reason or 'not installed'}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
