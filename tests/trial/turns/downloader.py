"""A downloader over a plain socket that does one thing wrong on purpose: ``downloader.py MODE``."""

import http.client
import json
import os
import sys
import urllib.parse
from pathlib import Path

MODE = sys.argv[1]
URL = urllib.parse.urlsplit(os.environ["PHOTOFINISH_URL"])


def say(line: str) -> None:
    """One line, flushed."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def download(connection: http.client.HTTPConnection, path: str | None) -> dict[str, object]:
    """One repetition."""
    if MODE == "lies" and path is None:
        return {"bytes": int(os.environ["PHOTOFINISH_BYTES"]), "status": 200}  # and nothing was fetched
    connection.request("GET", f"{URL.path}?{URL.query}")
    response = connection.getresponse()
    body = response.read()
    if path is not None and MODE != "saves-nothing":
        if MODE == "disk-full":
            Path("/dev/full").write_bytes(body)
        saved = {"other-bytes": bytes(len(body)), "short": body[:-1]}.get(MODE, body)
        Path(path).write_bytes(saved)
    return {"bytes": len(body) + (MODE == "boasts"), "status": response.status}


def main() -> None:
    connection = http.client.HTTPConnection(URL.hostname or "", URL.port)
    say(json.dumps({"ready": True}))
    for line in sys.stdin:
        path = line.strip().removeprefix("save ") if line.startswith("save ") else None
        try:
            answer = download(connection, path)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            answer = {"error": str(error)}
        if os.environ["PHOTOFINISH_CONNECTION"] == "new":
            connection.close()
        say(json.dumps(answer))


main()
