"""Uploads one file per line of standard input, by the library that ``WAY`` names, and answers with a JSON line each."""

import importlib
import json
import os
import sys
from typing import Any

from settings import Settings


def main() -> int:
    """Answers line after line until the end of input."""
    # Only the chosen library is imported: the others would count as its memory and start-up.
    way = importlib.import_module(f"ways.{os.environ['WAY']}")
    uploader = way.Uploader(Settings.from_environment())
    answer({"ready": True})
    for line in sys.stdin:
        answer(attempt(uploader, line.strip()))
    uploader.close()
    return 0


def attempt(uploader: Any, command: str) -> dict[str, Any]:
    """Carries out one line; whatever goes wrong is told and ends only this repetition."""
    if command != "go":
        return {"error": f"'{command}' is no command of an uploader; it knows 'go'"}
    try:
        sent, status = uploader.upload()
    except Exception as error:  # noqa: BLE001 - the contract: no failure ends the process
        return {"error": f"{type(error).__name__}: {error}"}
    return {"bytes": sent, "status": status}


def answer(document: dict[str, Any]) -> None:
    """Writes one JSON line at once."""
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
