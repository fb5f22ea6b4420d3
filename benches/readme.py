"""Tables between markers in a README."""

from collections.abc import Iterable, Sequence
from pathlib import Path


def put(path: Path, name: str, text: str) -> None:
    """Replaces what stands between ``<!-- NAME: begin … -->`` and ``<!-- NAME: end -->``; other text stays.

    Raises:
        ValueError: the markers aren't there.
    """
    before, begin, rest = path.read_text(encoding="utf-8").partition(f"<!-- {name}: begin")
    marker, close, rest = rest.partition("-->")
    _, end, after = rest.partition(f"<!-- {name}: end -->")
    if not (begin and close and end):
        raise ValueError(
            f"{path} has no markers called {name}: add `<!-- {name}: begin -->` and `<!-- {name}: end -->`"
        )
    path.write_text(f"{before}{begin}{marker}{close}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
