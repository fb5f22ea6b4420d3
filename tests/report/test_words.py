from pathlib import Path

from photofinish.report.words import OUTCOMES, STANDINGS, VERDICT_CODES, explained
from photofinish.trial.gates import CODES

GUIDE = (Path(__file__).parents[2] / "docs" / "race-report.md").read_text(encoding="utf-8")


def test_the_guide_explains_every_word_and_every_code() -> None:
    missing = [word for word in (*STANDINGS, *OUTCOMES, *CODES, *VERDICT_CODES) if f"| `{word}` |" not in GUIDE]
    assert not missing


def test_a_code_of_another_version_stands_for_itself() -> None:
    assert explained("wrong-status") == CODES["wrong-status"].meaning
    assert explained("not-run") == VERDICT_CODES["not-run"]
    assert explained("moon-phase") == "moon-phase"
