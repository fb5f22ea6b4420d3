"""What users type into flags."""

from pathlib import Path

import pytest

from photofinish.cli.options import seconds, share, store_path, write_text
from photofinish.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"), [("90", 90.0), ("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0), ("250ms", 0.25)]
)
def test_durations_are_read_with_their_units(text: str, expected: float) -> None:
    assert seconds(text, "--budget") == expected


@pytest.mark.parametrize("text", ["", "soon", "-3s", "0", "3 days"])
def test_what_is_no_duration_is_told_with_the_flag_and_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"--budget: .*10m"):
        seconds(text, "--budget")


@pytest.mark.parametrize(("text", "expected"), [("5%", 0.05), ("0.05", 0.05), ("2.5 %", 0.025)])
def test_shares_are_read_as_percent_or_fraction(text: str, expected: float) -> None:
    assert share(text, "--max-regression") == pytest.approx(expected)


def test_the_store_is_the_flags_before_the_environments_before_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOTOFINISH_STORE", "elsewhere.sqlite")
    assert store_path(Path("mine.sqlite")) == Path("mine.sqlite")
    assert store_path(None) == Path("elsewhere.sqlite")
    monkeypatch.delenv("PHOTOFINISH_STORE")
    assert store_path(None) == Path("runs/photofinish.sqlite")


def test_a_file_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="name another file"):
        write_text(str(tmp_path / "folder"), "text")
