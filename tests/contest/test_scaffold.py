import errno
from pathlib import Path

import pytest

from photofinish.contest import scaffold
from photofinish.contest.loading import load_manifests
from photofinish.errors import EnvironmentError_, InputError


@pytest.mark.parametrize(
    ("suite", "language"), [(suite, language) for suite in scaffold.suites() for language in scaffold.languages(suite)]
)
def test_what_is_written_is_a_contestant_with_a_readme(tmp_path: Path, suite: str, language: str) -> None:
    folder = scaffold.write(suite, "my-own", language, tmp_path)
    (manifest,) = load_manifests(folder)
    assert (manifest.id, manifest.suite) == ("my-own", suite)
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("# my-own")
    assert all("{{" not in path.read_text(encoding="utf-8") for path in folder.iterdir())


@pytest.mark.parametrize(
    ("suite", "name", "language", "told"),
    [
        ("upload", "one", "go", "did you mean 'uploads'"),
        ("uploads", "one", "cobol", "known are: go, node, python"),
        ("uploads", "One Two", "go", "small letters"),
        ("uploads", "../one", "go", "small letters"),
    ],
)
def test_what_can_not_be_written_is_told_with_its_mend(
    tmp_path: Path, suite: str, name: str, language: str, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        scaffold.write(suite, name, language, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    with pytest.raises(InputError, match="is there already"):
        scaffold.write("uploads", "one", "go", tmp_path)
    assert list((tmp_path / "one").iterdir()) == []


def test_a_place_that_takes_no_folder_is_an_error_with_a_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(EnvironmentError_, match="use --into another folder"):
        scaffold.write("uploads", "one", "go", tmp_path / "file")


def test_half_a_folder_is_not_left_in_the_way_of_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def full(path: Path, text: str, **more: str) -> int:
        if path.name == "README.md":
            return write(path, text, **more)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(EnvironmentError_, match="No space left"):
        scaffold.write("uploads", "one", "go", tmp_path)
    assert list(tmp_path.iterdir()) == []
