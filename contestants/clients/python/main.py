"""Fetches one body per line of standard input, by the library that ``WAY`` names, and answers with a JSON line each."""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from settings import Settings


def main() -> int:
    """Answers line after line until the end of input."""
    # Only the chosen library is imported: the others would count as its memory and start-up.
    way = importlib.import_module(f"ways.{os.environ['WAY']}")
    fetcher = way.Fetcher(Settings.from_environment())
    answer({"ready": True})
    for line in sys.stdin:
        answer(attempt(fetcher, line.rstrip("\n")))
    fetcher.close()
    return 0


def attempt(fetcher: Any, command: str) -> dict[str, Any]:
    """Carries out one line; whatever goes wrong is told and ends only this repetition."""
    verb, _, path = command.partition(" ")
    try:
        if verb == "go":
            received, status = fetcher.fetch(None)
        elif verb == "save" and path:
            with Path(path).open("wb") as file:
                received, status = fetcher.fetch(file)
        else:
            return {"error": f"'{command}' is no command of a client; it knows 'go' and 'save PATH'"}
    except Exception as error:  # noqa: BLE001 - the contract: no failure ends the process
        return {"error": f"{type(error).__name__}: {error}"}
    return {"bytes": received, "status": status}


def answer(document: dict[str, Any]) -> None:
    """Writes one JSON line at once."""
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
