"""start.py GRANIAN BUILD: starts one Granian for TLS and, once that listens, becomes the one for clear text."""

import os
import socket
import subprocess
import sys
import time

PATIENCE_S = 15.0
PAUSE_S = 0.05


def listens(address: str, port: int) -> bool:
    """Return whether a connection to the port is taken."""
    try:
        socket.create_connection((address, port), timeout=1.0).close()
    except OSError:
        return False
    return True


def main() -> None:
    """Start both; ends with status 1 if the one for TLS does not come up."""
    granian, build = sys.argv[1:]
    names = ("ADDRESS", "PORT", "TLS_PORT", "CERTIFICATE", "KEY", "WORKERS")
    told = {name: os.environ[f"PHOTOFINISH_{name}"] for name in names}
    shared = [granian, "--working-dir", build, "--interface", "asgi"]
    shared += ["--host", told["ADDRESS"], "--workers", told["WORKERS"]]
    secured = ["--port", told["TLS_PORT"], "--ssl-certificate", told["CERTIFICATE"], "--ssl-keyfile", told["KEY"]]
    server = subprocess.Popen([*shared, *secured, "app:app"])
    deadline = time.monotonic() + PATIENCE_S
    while not listens(told["ADDRESS"], int(told["TLS_PORT"])):
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"Granian does not listen on {told['ADDRESS']}:{told['TLS_PORT']} for TLS")
        time.sleep(PAUSE_S)
    os.execv(granian, [*shared, "--port", told["PORT"], "app:app"])


main()
