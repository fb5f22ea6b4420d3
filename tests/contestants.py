"""Suites and contestants written to a folder, for tests of what is read from disk and of what really runs."""

import textwrap
from pathlib import Path
from typing import Any

METRIC = """
[[metrics]]
name = "cpu_us"
title = "CPU"
unit = "µs"
source = "windows"
numerator = "cpu_ns"
denominator = "{denominator}"
scale = 1e-3
headline = true
"""


def write_suite(
    root: Path, *, driver: str = "command", body: str = "", denominator: str = "runs", head: str = ""
) -> Path:
    """A suite called ``toy`` with one cell called ``only`` and a profile ``quick``."""
    path = root / "suites" / "toy.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    start = f"""
        schema = 1
        name = "toy"
        title = "Toys"
        question = "Which toy is cheapest?"
        driver = "{driver}"
        twins = ["one"]
    """
    cell = """
        [profiles.quick]

        [[cells]]
        id = "only"
        title = "the only one"
    """
    parts = [textwrap.dedent(start), head, textwrap.dedent(cell), body, METRIC.format(denominator=denominator)]
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def write_contestant(root: Path, name: str, argv: list[str], *, more: str = "", **changes: Any) -> Path:
    """A contestant of the suite ``toy``; strings in TOML and in JSON look alike, so that ``repr`` is not needed."""
    folder = root / "contestants" / "toy" / name
    folder.mkdir(parents=True, exist_ok=True)
    document = {"id": name, "title": name, "suite": "toy", "language": "sh", "version": "1", **changes}
    lines = ["schema = 1", *(f"{key} = {_toml(value)}" for key, value in document.items())]
    lines += [textwrap.dedent(more), "[start]", f"argv = {_toml(argv)}"]
    (folder / "contestant.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml(each) for each in value)}]"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
