"""Cells chosen by id or by pattern."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

_SIGNS = frozenset("*?[")


def chosen(wanted: Iterable[str], known: Sequence[str]) -> tuple[list[str], list[str]]:
    """What ``wanted`` names, each once, in the order in which it is named; and what of it names nothing.

    A word with ``*``, ``?`` or ``[…]`` stands for every id that it matches, in the order of ``known``.
    """
    found: dict[str, None] = {}
    unknown = []
    for word in wanted:
        matches = [each for each in known if fnmatchcase(each, word)] if _SIGNS & set(word) else []
        if word in known:
            matches = [word]
        if not matches:
            unknown.append(word)
        found.update(dict.fromkeys(matches))
    return list(found), unknown
