"""A client that decodes and parses over HTTP/1.1, clear or TLS, and does one thing wrong on purpose: ``decoder.py MODE``."""

import gzip
import http.client
import json
import os
import ssl
import sys
import time
import urllib.parse
from pathlib import Path

MODE = sys.argv[1]
URL = urllib.parse.urlsplit(os.environ["PHOTOFINISH_URL"])


def say(line: str) -> None:
    """One line, flushed."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def connect() -> http.client.HTTPConnection:
    """To the origin, trusting the laboratory's authority alone."""
    if URL.scheme == "http":
        return http.client.HTTPConnection(URL.hostname or "", URL.port)
    context = ssl.create_default_context(cafile=os.environ["PHOTOFINISH_CA"])
    return http.client.HTTPSConnection(URL.hostname or "", URL.port, context=context)


def repeat(connection: http.client.HTTPConnection, path: str | None) -> dict[str, object]:
    """One repetition."""
    began = time.monotonic_ns()
    wanted = "identity" if MODE == "ignores" else os.environ["PHOTOFINISH_ACCEPT_ENCODING"]
    connection.request("GET", f"{URL.path}?{URL.query}", headers={"Accept-Encoding": wanted})
    response = connection.getresponse()
    coding, sent = response.headers.get("Content-Encoding", "identity"), response.read()
    received = time.monotonic_ns()
    body = gzip.decompress(sent) if coding == "gzip" else sent
    decoded = time.monotonic_ns()
    records = len(json.loads(body))
    parsed = time.monotonic_ns()
    if path is not None:
        Path(path).write_bytes(sent if MODE == "undecoded" else body)
    stages = {"transfer_ns": received - began, "decode_ns": decoded - received, "parse_ns": parsed - decoded}
    if MODE == "endless":
        stages["parse_ns"] += 10**9
    return {
        "status": response.status,
        "bytes": len(body),
        "records": records - (MODE == "miscounts"),
        "coding": "identity" if MODE == "denies" else coding,
        **({} if MODE == "timeless" else stages),
    }


def main() -> None:
    connection = connect()
    say(json.dumps({"ready": True}))
    for line in sys.stdin:
        try:
            answer = repeat(connection, line.strip().removeprefix("save ") if line.startswith("save ") else None)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            answer = {"error": str(error)}
        say(json.dumps(answer))


main()
