"""Fetches, decodes and parses one response per line of standard input, and answers with a JSON line each.

``WAY`` names the library that fetches. Every stage is timed apart by a clock that never goes back.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from decoding import decode
from settings import Settings

OK = 200


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
    if not (command == "go" or (verb == "save" and path)):
        return {"error": f"'{command}' is no command of a client; it knows 'go' and 'save PATH'"}
    try:
        return repeat(fetcher, Path(path) if verb == "save" else None)
    except Exception as error:  # noqa: BLE001 - the contract: no failure ends the process
        return {"error": f"{type(error).__name__}: {error}"}


def repeat(fetcher: Any, path: Path | None) -> dict[str, Any]:
    """One repetition; the decoded body is written to ``path``, if there is one, outside all stages."""
    began = perf_counter_ns()
    fetched = fetcher.fetch()
    received = perf_counter_ns()
    if fetched.status != OK:
        return {"status": fetched.status, "bytes": len(fetched.body)}
    body = decode(fetched.coding, fetched.body)
    decoded = perf_counter_ns()
    records = json.loads(body)
    parsed = perf_counter_ns()
    if path is not None:
        path.write_bytes(body)
    return {
        "status": fetched.status,
        "bytes": len(body),
        "records": len(records),
        "coding": fetched.coding,
        "transfer_ns": received - began,
        "decode_ns": decoded - received,
        "parse_ns": parsed - decoded,
    }


def answer(document: dict[str, Any]) -> None:
    """Writes one JSON line at once."""
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
