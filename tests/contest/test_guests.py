"""The contestants that come with Photofinish: each can be read, and its README names all that it enters."""

from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_manifests, load_suite

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "contestants").glob("*/*/contestant.toml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_manifest_can_be_read_and_the_readme_names_each_contestant(folder: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    manifests = load_manifests(folder)
    assert {each.suite for each in manifests} == {folder.parent.name}
    untold = [each.id for each in manifests if each.variant_of and each.id not in readme and each.title not in readme]
    assert untold == []


@pytest.mark.parametrize("path", sorted((ROOT / "suites").glob("*.toml")), ids=lambda path: path.stem)
def test_a_suite_finds_all_contestants_that_it_names(path: Path) -> None:
    assert load_all(load_suite(path))
