"""Every word and code that a report shows, in one sentence each. ``docs/race-report.md`` carries the same list."""

from photofinish.trial.gates import CODES

STANDINGS: dict[str, str] = {
    "win": "it beats every other entry: each difference is proven and larger than counts here",
    "tie": "nobody beats it, and it is proven equal, within what counts here, to all others that nobody beats",
    "undecided": "nobody beats it, but it is not proven to be ahead of all others that nobody beats",
    "beaten": "at least one entry is proven to be better by more than counts here",
    "noise-limited": "the A/A control saw differences where there are none, so no difference is believed",
    "limit": "the least program that can do the job; a reference line, never a winner",
    "twin": "the second entry of one contestant: the A/A control that yields the noise floor",
    "void": "no round of it counts; the reasons stand below",
    "shown": "this metric is shown and not judged",
}

OUTCOMES: dict[str, str] = {
    "a-wins": "the first entry is proven to be better",
    "b-wins": "the second entry is proven to be better",
    "tie": "proven equal within what counts here",
    "undecided": "neither proven to differ nor proven to be equal",
    "noise-limited": "they differ, but by no more than the A/A control does by itself",
    "no-data": "too few rounds count for both",
}

VERDICT_CODES: dict[str, str] = {
    "not-run": "the trial did not take place, in a round that was cut short",
    "no-figure": "the trial did not yield this figure",
    "no-windows": "no window of the trial counts",
    "too-short": "too few windows to tell whether its cost was steady",
}
"""Codes that arise where rounds are read; those of trials stand in :data:`photofinish.trial.gates.CODES`."""


def explained(code: str) -> str:
    """What a code means; the code itself where this version does not know it."""
    known = CODES.get(code)
    return known.meaning if known is not None else VERDICT_CODES.get(code, code)
