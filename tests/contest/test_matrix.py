"""Cells as products of axes, and cells chosen by patterns."""

from pathlib import Path

import pytest

from photofinish.contest.choice import chosen
from photofinish.contest.loading import load_suite
from photofinish.contest.matrix import Matrix, expand, repeated
from photofinish.contest.problems import similar
from photofinish.errors import InputError

MATRIX = Matrix.model_validate(
    {
        "parameters": {"request": {"path": "/"}, "cycles": 3},
        "axes": [
            {
                "name": "size",
                "title": "size",
                "values": [
                    {"id": "s", "title": "small", "parameters": {"request": {"path": "/s"}}},
                    {"id": "l", "title": "large", "parameters": {"cycles": 1}},
                ],
            },
            {
                "name": "coding",
                "title": "coding",
                "values": [{"id": "gzip-6", "title": "gzip 6"}, {"id": "br-4", "title": "br 4"}],
            },
        ],
    }
)


def test_a_matrix_is_every_combination_and_the_last_axis_runs_fastest() -> None:
    cells = list(expand(MATRIX))
    assert [cell.id for cell in cells] == ["s-gzip-6", "s-br-4", "l-gzip-6", "l-br-4"]
    assert cells[1].title == "small, br 4"
    assert cells[1].axes == {"size": "s", "coding": "br-4"}
    assert cells[0].parameters == {"request": {"path": "/s"}, "cycles": 3}
    assert cells[2].parameters == {"request": {"path": "/"}, "cycles": 1}


def test_names_that_stand_twice_are_found() -> None:
    axis = MATRIX.axes[0]
    assert repeated(MATRIX) == []
    assert repeated(Matrix(axes=(axis, axis))) == ["size", "size.s", "size.l"]


def test_patterns_stand_for_all_that_they_match_and_ids_for_themselves() -> None:
    known = ["64-br-4-h1", "64-zstd-3-h1", "64-br-4-h3", "1-br-4-h1"]
    assert chosen(["1-br-4-h1", "64-*-h1"], known) == (["1-br-4-h1", "64-br-4-h1", "64-zstd-3-h1"], [])
    assert chosen(["64-br-4-h1", "*-h1"], known)[0] == ["64-br-4-h1", "64-zstd-3-h1", "1-br-4-h1"]
    assert chosen(["512-*", "64-br-9-h1"], known) == ([], ["512-*", "64-br-9-h1"])


def test_a_contrast_needs_its_axis_and_cells_that_are_visited_together(tmp_path: Path) -> None:
    home = Path(__file__).parents[2] / "suites" / "codings.toml"
    text = home.read_text(encoding="utf-8").replace('contrast = "coding"', 'contrast = "colour"')
    bad = tmp_path / "codings.toml"
    bad.write_text(text.replace("interleaved = true", "interleaved = false"), encoding="utf-8")
    with pytest.raises(InputError, match=r"no cell has the axis 'colour'(.|\n)*set interleaved = true"):
        load_suite(bad)


def test_the_suite_of_codings_is_the_whole_product() -> None:
    suite = load_suite("codings")
    axes = {name: {cell.axes[name] for cell in suite.cells} for name in ("records", "coding", "protocol")}
    assert axes["records"] == {"1", "4", "16", "64", "512"}
    assert axes["protocol"] == {"h1", "h1-tls", "h2", "h2-tls", "h3"}
    assert len(suite.cells) == 5 * 5 * len(axes["coding"])
    assert suite.matrix == ()


def test_of_hundreds_of_names_only_some_are_listed() -> None:
    assert similar("zzz", [f"{place:03}" for place in range(500)]).endswith(", 022, 023 and 476 more")
