"""Records ↔ columns of the store, without loss: what is loaded equals what was added."""

import base64
import json
import zlib
from typing import Any

from photofinish.errors import InputError
from photofinish.store.records import Void, Window


def to_json(value: Any) -> str:
    """Compact JSON in the given order of keys.

    Raises:
        InputError: the value holds NaN or an infinity; a missing value has to be None.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise InputError(f"a record holds a number that is none ({error}); a missing value has to be None") from error


def pack_windows(windows: tuple[Window, ...]) -> bytes:
    """One JSON column a value (like stands by like, so that zlib has something to find), compressed.

    Windows of one trial nearly always carry the same values; where they don't, each keeps its own.
    """
    names = list(windows[0].values) if windows else []
    document: dict[str, Any] = {
        "cycle": [window.cycle for window in windows],
        "position": [window.position for window in windows],
        "void": {str(place): window.void for place, window in enumerate(windows) if window.void is not None},
    }
    if all(list(window.values) == names for window in windows):
        document["columns"] = {name: [window.values[name] for window in windows] for name in names}
    else:
        document["rows"] = [window.values for window in windows]
    return zlib.compress(to_json(document).encode(), level=9)


def unpack_windows(packed: bytes) -> tuple[Window, ...]:
    """The reverse of :func:`pack_windows`."""
    document = json.loads(zlib.decompress(packed))
    cycles, positions, voids = document["cycle"], document["position"], document["void"]
    if "rows" in document:
        rows = document["rows"]
    else:
        columns = document["columns"]
        rows = [{name: column[place] for name, column in columns.items()} for place in range(len(cycles))]
    return tuple(
        Window(cycle=cycle, position=position, values=rows[place], void=voids.get(str(place)))
        for place, (cycle, position) in enumerate(zip(cycles, positions, strict=True))
    )


def pack_histogram(text: str) -> bytes:
    """Base64 → bytes; three quarters of the size.

    Raises:
        InputError: it is no canonical base64, so that it could not be given back as it came.
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise InputError(f"a histogram is no base64 ({error})") from error
    if base64.b64encode(raw).decode() != text:
        raise InputError("a histogram is no canonical base64")
    return raw


def unpack_histogram(raw: bytes) -> str:
    """The reverse of :func:`pack_histogram`."""
    return base64.b64encode(raw).decode()


def to_void(code: str | None, detail: str | None) -> Void | None:
    """Two columns → a reason, or none."""
    return None if code is None else Void(code=code, detail=detail or "")
