"""Contestants that say, fill or take away what they should not: each is void, and the race goes on."""

import math
from pathlib import Path

from tests.trial.turns.test_rounds import UPLOADER, codes, pytestmark, race, trials  # noqa: F401


def test_whatever_a_contestant_says_or_takes_away_voids_nobody_else(tmp_path: Path) -> None:
    wanted = {
        "babbles": "malformed-answer",
        "digs": "malformed-answer",
        "floods": "malformed-answer",
        "paints": "failed",
        "warns-first": "not-ready",
        "without-pipes": "not-ready",
    }
    made = race(tmp_path, UPLOADER, ["good", *wanted])
    found = codes(made)
    assert found.pop("one") is None
    assert found.pop("one~twin") is None
    assert found == wanted
    details = {entry: trial.void.detail for entry, trial in trials(made).items() if trial.void is not None}
    assert "warning: this library is deprecated" in details["warns-first"]
    assert details["paints"].startswith(r"it said: \ud800\x1b[31mred\n")
    assert all(text.isprintable() and len(text) < 1000 for text in details.values())


def test_counts_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    made = race(tmp_path, UPLOADER, ["good", "counts-nothing"], more="instruments = true")
    for trial in trials(made).values():
        assert trial.void is None
        assert all(value is None or (math.isfinite(value) and value >= 0) for value in trial.figures.values())
