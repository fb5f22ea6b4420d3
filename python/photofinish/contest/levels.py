"""The levels that each content coding has, whoever implements it."""

from photofinish.contest.manifest import Coding

LEVELS: dict[Coding, tuple[int, int]] = {"gzip": (1, 9), "deflate": (1, 9), "br": (0, 11), "zstd": (1, 22)}
"""Lowest and highest; a coding that is not listed has none to choose."""


def level_problem(coding: Coding, level: int | None) -> str | None:
    """Why there is no such level of a coding, with those that there are; None: there is, or none is asked for."""
    if level is None:
        return None
    if coding not in LEVELS:
        return f"{coding} has no levels; leave level out"
    lowest, highest = LEVELS[coding]
    return None if lowest <= level <= highest else f"{coding} has no level {level}; it has {lowest} to {highest}"
