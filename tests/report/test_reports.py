import json as stdlib_json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from photofinish.report import html, json, markdown, terminal
from photofinish.report.html import CONTENT_SECURITY_POLICY
from photofinish.report.tables import cell_tables
from photofinish.verdict.model import Aside, RaceVerdict
from tests import factories
from tests.report.snapshots import assert_snapshot
from tests.verdict_factory import verdict

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "race-1.json"
HOSTILE = '<script>alert("x")</script> | `a` [b](http://c) \x1b[31m'


@pytest.mark.parametrize("width", [80, 100])
def test_the_terminal_report_is_as_it_was(width: int) -> None:
    assert_snapshot(f"race-{width}.txt", terminal.to_text(terminal.render(verdict()), width=width))


def test_the_markdown_report_is_as_it_was() -> None:
    assert_snapshot("race.md", markdown.render(verdict()))


def test_the_json_report_is_as_it_was() -> None:
    assert_snapshot("race.json", json.render(verdict()))


def test_the_html_report_is_as_it_was() -> None:
    assert_snapshot("race.html", html.render(verdict(), factories.race(cycles=1)))


def test_the_json_report_reads_back_as_the_same_verdict() -> None:
    assert RaceVerdict.model_validate_json(json.render(verdict())) == verdict()


def test_json_keys_are_sorted_everywhere() -> None:
    text = json.render(verdict())
    assert text == stdlib_json.dumps(stdlib_json.loads(text), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def test_the_published_schema_is_that_of_the_model() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == json.schema(), (
        "docs/schema/race-1.json has drifted from verdict/model.py"
    )


def test_no_line_of_the_terminal_report_is_wider_than_asked() -> None:
    for width in (60, 80, 100, 140):
        assert all(
            len(line) <= width for line in terminal.to_text(terminal.render(verdict()), width=width).splitlines()
        )


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    page = html.render(verdict(), factories.race(cycles=1))
    assert f'content="{CONTENT_SECURITY_POLICY}"'.replace("'", "&#39;") in page
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["'](?!#)""", page)
    assert "url(" not in page
    assert "@import" not in page


class Outline(HTMLParser):
    """Collects what a reader without eyes goes by."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.labelled: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name == "aria-labelledby" and value:
                self.labelled += value.split()


def test_the_page_can_be_read_without_eyes() -> None:
    outline = Outline()
    outline.feed(html.render(verdict(), factories.race(cycles=1)))
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.labelled) <= set(outline.ids)
    assert outline.tags.count("table") == outline.tags.count("caption")
    assert outline.tags.count("main") == 1
    assert outline.tags.count("h1") == 1
    assert outline.tags.count("svg") == 5, "two plots of figures, two of the finish, one of times"


def test_texts_from_outside_stay_texts() -> None:
    race = verdict(title=HOSTILE, question=HOSTILE, environment={HOSTILE: HOSTILE})
    page = html.render(race)
    assert "<script" not in page
    assert "<script" not in markdown.render(race).replace("\\<script", "")
    assert "](http" not in markdown.render(race)
    assert "\x1b" not in terminal.to_text(terminal.render(race))


def test_a_race_without_cells_still_renders() -> None:
    race = verdict(cells=(), twins=(), voids=(), absent=())
    for text in (terminal.to_text(terminal.render(race)), markdown.render(race), json.render(race), html.render(race)):
        assert race.run in text


def test_a_column_that_no_trial_filled_is_left_out_and_one_that_was_voided_is_not() -> None:
    made = verdict()
    (cell,) = cell_tables(made)[:1]
    emptied = {column.metric for column in cell.columns[:2]}
    assert len(emptied) == 2

    def without_values(code: str) -> set[str]:
        cells = tuple(
            one.model_copy(
                update={
                    "metrics": tuple(
                        metric.model_copy(
                            update={
                                "estimates": tuple(
                                    each.model_copy(
                                        update={"value": None, "low": None, "high": None, "voids": {code: 1}}
                                    )
                                    for each in metric.estimates
                                )
                            }
                        )
                        if metric.metric in emptied
                        else metric
                        for metric in one.metrics
                    )
                }
            )
            for one in made.cells
        )
        (first,) = cell_tables(made.model_copy(update={"cells": cells}))[:1]
        return {column.metric for column in first.columns}

    assert not emptied & without_values("no-figure")
    assert emptied <= without_values("generator-bound")


def test_who_stands_aside_is_named_below_the_table() -> None:
    made = verdict()
    first = made.cells[0]
    aside = (Aside(entry=made.entries[0].entry, reason="it speaks http/1.1, not h2"),)
    changed = made.model_copy(update={"cells": (first.model_copy(update={"aside": aside}), *made.cells[1:])})
    told = f"Not in this cell: {made.entries[0].title} (it speaks http/1.1, not h2)."
    assert cell_tables(changed)[0].aside == told
    assert told in markdown.render(changed)
    assert told in html.render(changed)
