"""A certificate of the laboratory's own for servers that are raced over TLS and QUIC; no other machine trusts it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from photofinish.errors import EnvironmentError_

SERVER_NAME = "localhost"
"""Name that the certificate is for, beside 127.0.0.1 and ::1."""
TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Certificates:
    """Three PEM files."""

    ca: Path
    """What a client has to trust."""
    certificate: Path
    """The server's chain, its own first."""
    key: Path


def certificates(engine: Path, folder: Path) -> Certificates:
    """Those in ``folder``, made by the engine if they are not there yet.

    Raises:
        EnvironmentError_: they can't be made.
    """
    made = Certificates(folder / "ca.pem", folder / "certificate.pem", folder / "key.pem")
    if made.ca.is_file() and made.certificate.is_file() and made.key.is_file():
        return made
    try:
        folder.mkdir(parents=True, exist_ok=True)
        argv = [str(engine), "certificate", "--out", str(folder)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentError_(
            f"{folder}: no certificate could be made ({error}); free space, or use --work"
        ) from error
    if done.returncode != 0:
        words = done.stderr.strip() or f"exit status {done.returncode}"
        raise EnvironmentError_(
            f"{folder}: no certificate could be made: {words}; rebuild the engine with `make build`"
        )
    return made
