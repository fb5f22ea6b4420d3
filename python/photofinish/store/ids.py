"""Names of runs: sortable by time, short, and easy to type: ``20261121-2145-k3f``."""

import random
from datetime import UTC, datetime
from difflib import get_close_matches

from photofinish.errors import InputError

ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
"""Without 0, 1, i, l, o and u, which are read as each other or make words."""
_SHOWN = 5


def new_run_id(now: datetime, chance: random.Random) -> str:
    """A new name: UTC date, UTC time to the minute, and three letters that part runs of the same minute."""
    tail = "".join(chance.choice(ALPHABET) for _ in range(3))
    return f"{now.astimezone(UTC):%Y%m%d-%H%M}-{tail}"


def resolve(wanted: str, ids: list[str]) -> str:
    """The one run that ``wanted`` means.

    Args:
        wanted: a whole id, its beginning, its last three letters, ``latest``, or ``latest~N`` (the N-th before it).
        ids: all runs, oldest first.

    Raises:
        InputError: none or several fit; the text lists what comes near.
    """
    if not ids:
        raise InputError("the store holds no runs yet; start one with: photofinish race SUITE")
    if wanted == "latest" or wanted.startswith("latest~"):
        return _latest(wanted, ids)
    if wanted in ids:
        return wanted
    fitting = [run for run in ids if wanted and (run.startswith(wanted) or run.rpartition("-")[2] == wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InputError(f"run {wanted!r} fits {len(fitting)} runs: {_listed(fitting)}; type more of the one you mean")
    near = get_close_matches(wanted, ids, n=_SHOWN, cutoff=0.5) or ids[-_SHOWN:]
    raise InputError(f"no run is called {wanted!r}; near it: {_listed(near)}; all of them: photofinish runs")


def _latest(wanted: str, ids: list[str]) -> str:
    _, _, steps = wanted.partition("~")
    if steps and not (steps.isascii() and steps.isdigit()):
        raise InputError(f"{wanted!r}: write latest, or latest~1 for the run before it")
    back = int(steps or 0)
    if back >= len(ids):
        raise InputError(f"{wanted!r}: the store holds {len(ids)} runs, so the oldest is latest~{len(ids) - 1}")
    return ids[-1 - back]


def _listed(runs: list[str]) -> str:
    shown = ", ".join(runs[-_SHOWN:])
    return shown if len(runs) <= _SHOWN else f"{shown} and {len(runs) - _SHOWN} older"
