"""Parameters laid over parameters."""

from collections.abc import Mapping
from typing import Any


def lay_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """``above`` over ``below``; tables are merged key by key, all else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = lay_over(under, value) if isinstance(under, dict) and isinstance(value, Mapping) else value
    return merged
