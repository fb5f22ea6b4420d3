"""Snapshots: plain files beside the tests. ``PHOTOFINISH_UPDATE_SNAPSHOTS=1 pytest tests/report`` writes them anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def assert_snapshot(name: str, text: str) -> None:
    """Compares with the file of that name, byte for byte."""
    path = FOLDER / name
    if os.environ.get("PHOTOFINISH_UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, (
        f"{name} changed; if that is meant, set PHOTOFINISH_UPDATE_SNAPSHOTS=1"
    )
