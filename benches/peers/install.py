"""Where the programs are that the benches compare with, and getting those that are missing.

wrk, h2load, nghttpd, nginx and iperf3 come from Debian; bombardier and hey are built from the Go modules pinned by ``go.mod``
and ``go.sum`` beside this file; oha from its crate, in the version below, and once more with HTTP/3; the plain clients and
the plain server of HTTP/3 from their sources under ``benches/protocols``. What is built goes to ``target/bench-tools``.
Running this file again does nothing that is done already.

    .venv/bin/python -m benches.peers.install [--only-say] [NAME…]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "target" / "bench-tools"
DEBIAN = {
    "wrk": "wrk",
    "h2load": "nghttp2-client",
    "nghttpd": "nghttp2-server",
    "nginx": "nginx-light",
    "iperf3": "iperf3",
}
GO = {"bombardier": "github.com/codesenberg/bombardier", "hey": "github.com/rakyll/hey"}
OHA_VERSION = "1.16.0"
NAMES = ("wrk", "h2load", *GO, "oha")
"""The load generators: what ``installed`` finds."""
OHA_HTTP3 = "oha-http3"
"""A build of its own: what HTTP/3 adds is not in the way of the other benches."""
RUST = ("quinn-client", "quiche-client")
GO_OF_OURS = ("quic-go-server",)
PROTOCOLS = ROOT / "benches" / "protocols"
"""Where the sources of those two kinds are, each in a folder of its name."""
OTHERS = ("iperf3", "nghttpd", "nginx", OHA_HTTP3, *RUST, *GO_OF_OURS)
"""Installed by name alone."""


def installed(names: Sequence[str] = NAMES) -> dict[str, Path]:
    """Those of ``names`` that are here, in their order."""
    found: dict[str, Path] = {}
    for name in names:
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
    if name in RUST:
        lock = (PROTOCOLS / name / "Cargo.lock").read_text(encoding="utf-8")
        locked = re.search(rf'name = "{name.removesuffix("-client")}"\nversion = "(.+)"', lock)
        return locked[1] if locked else "unknown"
    if name in GO_OF_OURS:
        pinned = re.search(r"quic-go/quic-go v(\S+)", (PROTOCOLS / name / "go.mod").read_text(encoding="utf-8"))
        return pinned[1] if pinned else "unknown"
    flag = "-v" if name == "nginx" else "--version"
    said = subprocess.run([str(path), flag], capture_output=True, text=True, check=False)
    match = re.search(r"\d+(\.\d+)+\S*", said.stdout + said.stderr)
    return match[0] if match else "unknown"


def missing_because(name: str) -> str | None:
    """What keeps a peer from being installed here; None if nothing is known to."""
    if name in DEBIAN and (shutil.which("apt-get") is None or os.geteuid() != 0):
        return f"needs root on Debian: apt-get install {DEBIAN[name]}"
    if name in (*GO, *GO_OF_OURS) and shutil.which("go") is None:
        return "needs Go on PATH"
    if name in ("oha", OHA_HTTP3, *RUST) and shutil.which("cargo") is None:
        return "needs cargo on PATH"
    if name == "quiche-client" and shutil.which("cmake") is None:
        return "needs cmake on PATH, for BoringSSL"
    return None


def command(name: str) -> list[str]:
    """What installs one peer."""
    if name in DEBIAN:
        return ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", DEBIAN[name]]
    if name in GO:
        return ["go", "build", "-mod=readonly", "-trimpath", "-o", f"{TOOLS / 'bin'}/", GO[name]]
    if name in GO_OF_OURS:
        return [
            "go",
            "build",
            "-C",
            str(PROTOCOLS / name),
            "-mod=readonly",
            "-trimpath",
            "-o",
            str(TOOLS / "bin" / name),
        ]
    if name in RUST:
        manifest = PROTOCOLS / name / "Cargo.toml"
        folder = TOOLS / "build" / name
        return [
            "cargo",
            "build",
            "--release",
            "--locked",
            "--manifest-path",
            str(manifest),
            "--target-dir",
            str(folder),
        ]
    build = ["--version", OHA_VERSION, "--locked", "--target-dir", str(TOOLS / "build")]
    if name == OHA_HTTP3:
        return ["cargo", "install", "oha", *build, "--features", "http3", "--root", str(TOOLS / OHA_HTTP3)]
    return ["cargo", "install", "oha", *build, "--root", str(TOOLS)]


def product(name: str) -> Path | None:
    """Where a build leaves what belongs into ``bin`` under the peer's name; None where it is put there."""
    if name == OHA_HTTP3:
        return TOOLS / OHA_HTTP3 / "bin" / "oha"
    return TOOLS / "build" / name / "release" / name if name in RUST else None


def is_stale(name: str) -> bool:
    """Have its sources changed since a peer of our own was built?"""
    built = TOOLS / "bin" / name
    if name not in (*RUST, *GO_OF_OURS) or not built.exists():
        return False
    sources = (path for path in (PROTOCOLS / name).rglob("*") if path.is_file())
    return any(path.stat().st_mtime > built.stat().st_mtime for path in sources)


def install(name: str) -> str | None:
    """Installs one peer at low priority; gives the reason where that fails."""
    if reason := missing_because(name):
        return reason
    (TOOLS / "bin").mkdir(parents=True, exist_ok=True)
    argv = ["nice", "-n", "10", *command(name)]
    done = subprocess.run(argv, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        if made := product(name):
            shutil.copyfile(made, TOOLS / "bin" / name)
            (TOOLS / "bin" / name).chmod(0o755)
        return None
    last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
    return f"`{' '.join(argv[3:])}` ended with {done.returncode}: {last}"


def main() -> int:
    """Install what is missing, say where each peer is; 0 even where some can't be had: the benches go without."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-say", action="store_true", help="install nothing")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join((*NAMES, *OTHERS))}; default: {', '.join(NAMES)}"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - {*NAMES, *OTHERS}:
        parser.error(f"there is no peer {', '.join(sorted(unknown))}; choose from {', '.join((*NAMES, *OTHERS))}")
    for name in arguments.names or NAMES:
        reason = None
        if (name not in installed((name,)) or is_stale(name)) and not arguments.only_say:
            print(f"{name}: installing", file=sys.stderr)
            reason = install(name)
        path = installed((name,)).get(name)
        print(
            f"{name:<16}{version(name, path)}  {path}" if path else f"{name:<16}not here: {reason or 'not installed'}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
