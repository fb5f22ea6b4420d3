"""What the kept lines say: tables for README.md, and the recording for the tests."""

import gzip
import json
import math
import statistics
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- results: begin (written by run.py) -->", "<!-- results: end -->"
SCHEMA = "photofinish.recorded-windows/1"
MOST_BYTES = 300 * 1024
Line = dict[str, Any]


def load(file: Path) -> list[Line]:
    """The lines that are whole; a last one that was broken off is dropped from the file."""
    if not file.exists():
        return []
    lines = []
    for text in file.read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:
            file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            break
    return lines


def text(lines: list[Line]) -> str:
    """All tables as Markdown, from whatever is there."""
    parts = [_races(lines), _spread(lines)]
    return "\n\n".join(part for part in parts if part) or "No results yet."


def _races(lines: list[Line]) -> str:
    rows = []
    names = {"aa": "two identical contestants", "slower": "one of them 2 % dearer"}
    for part, name in names.items():
        found = [line for line in lines if line["part"] == part]
        if not found:
            continue
        count = {outcome: sum(line["outcome"] == outcome for line in found) for outcome in ("a-wins", "b-wins")}
        others = sum(line["outcome"] not in {"a-wins", "b-wins"} for line in found)
        ratios = [line["ratio"] for line in found if line["ratio"] is not None]
        seen = f"{statistics.median(ratios):.4f} ({min(ratios):.4f}–{max(ratios):.4f})" if ratios else "none"
        longest = max(line["duration_s"] for line in found)
        rows.append(
            f"| {name} | {len(found)} | {count['a-wins']} | {count['b-wins']} | {others} | {seen} | {longest:.0f} s | {sum(line['repeated'] for line in found)} |"
        )
    if not rows:
        return ""
    head = (
        "| race | races | first wins | second wins | no winner | ratio: median (range) | longest race | run again, machine busy |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    return "\n".join([head, *rows])


def _spread(lines: list[Line]) -> str:
    rows = []
    names = {f"spread-{ms}": f"windows of {ms} ms, 4 s a pair" for ms in (10, 20, 100, 500)}
    names["spread-20-kept"] = "windows of 20 ms, 4 s a pair, the same connections all along"
    names["spread-whole"] = "fresh whole processes in turn, 2 s each"
    for part, name in names.items():
        ratios = [line["log_ratio"] for line in lines if line["part"] == part]
        if len(ratios) > 1:
            rows.append(f"| {name} | {len(ratios)} | {100 * statistics.stdev(ratios):.2f} % |")
    if not rows:
        return ""
    return "\n".join(["| design | fresh pairs | spread (sd) of the A/A ratio |", "| --- | --- | --- |", *rows])


def write_readme(file: Path, lines: list[Line]) -> None:
    """Put the tables between the markers.

    Raises:
        SystemExit: a marker is missing.
    """
    before, begin, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{file} lacks the lines {BEGIN!r} and {END!r}; put them back")
    file.write_text(f"{before}{BEGIN}\n\n{text(lines)}\n\n{END}{after}", encoding="utf-8")


def record(file: Path, lines: list[Line]) -> None:
    """Write the raw windows kept, compressed; the same lines give the same bytes.

    Raises:
        SystemExit: the recording would be larger than the tests' data may be.
    """
    kept = [
        {"part": line["part"], "index": line["index"], "rounds": line["windows"]} for line in lines if "windows" in line
    ]
    packed = gzip.compress(json.dumps({"schema": SCHEMA, "items": kept}, separators=(",", ":")).encode(), mtime=0)
    if len(packed) > MOST_BYTES:
        raise SystemExit(f"the recording has {math.ceil(len(packed) / 1024)} KiB, more than 300; record fewer items")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(packed)
