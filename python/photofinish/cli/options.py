"""Options that several commands share, and what they default to."""

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from photofinish.errors import InputError

StorePath = Annotated[
    Path | None,
    typer.Option(
        "--store", help="The store's file. [default: $PHOTOFINISH_STORE or runs/photofinish.sqlite]", show_default=False
    ),
]
JsonPath = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON to FILE; - is standard output.")
]

_DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?$")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_SHARE = re.compile(r"^(\d+(?:\.\d+)?)\s*(%)?$")


def store_path(given: Path | None) -> Path:
    """The store to use: the flag, the environment, the default."""
    if given is not None:
        return given
    return Path(os.environ.get("PHOTOFINISH_STORE") or "runs/photofinish.sqlite")


def seconds(text: str, flag: str) -> float:
    """``90``, ``90s``, ``1.5m``, ``2h`` → seconds."""
    match = _DURATION.match(text.strip())
    if match is None or float(match[1]) <= 0:
        raise InputError(f"{flag}: {text!r} is no duration; write it like 90s, 10m or 2h")
    return float(match[1]) * _SECONDS[match[2] or "s"]


def share(text: str, flag: str) -> float:
    """``5%`` or ``0.05`` → 0.05."""
    match = _SHARE.match(text.strip())
    if match is None:
        raise InputError(f"{flag}: {text!r} is no share; write it like 5% or 0.05")
    return float(match[1]) / (100.0 if match[2] else 1.0)


def write_text(target: str, text: str) -> None:
    """Writes to a file, or to standard output for ``-``; a full disk or a missing folder is one clear line."""
    if target == "-":
        typer.echo(text, nl=not text.endswith("\n"))
        return
    path = Path(target)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{target}: can't be written ({error.strerror}); name another file") from error
