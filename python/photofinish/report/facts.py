"""Nested facts (an environment, a trial's evidence) as lines for people."""

from collections.abc import Mapping
from typing import Any

from photofinish.report.figures import MISSING


def flat(document: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested facts as lines ``a.b``, value; lists joined, null as a dash."""
    lines: list[tuple[str, str]] = []
    for key, value in document.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            lines += flat(value, f"{name}.")
        elif isinstance(value, (list, tuple)):
            lines.append((name, ", ".join(told(one) for one in value) or MISSING))
        else:
            lines.append((name, told(value)))
    return lines


def told(value: object) -> str:
    """One fact: null as a dash, a truth value as yes or no."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
