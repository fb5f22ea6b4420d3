"""The values of an axis compared, as people read it."""

from photofinish.report import html, markdown, terminal
from photofinish.report.contrast import contrast_tables, control_line, versus
from photofinish.verdict.judge import judge
from tests.report.snapshots import assert_snapshot
from tests.verdict.contrasts import contrast_race


def test_the_terminal_report_of_a_contrast_is_as_it_was() -> None:
    assert_snapshot("contrast-100.txt", terminal.to_text(terminal.render(judge(contrast_race())), width=100))


def test_the_markdown_report_of_a_contrast_is_as_it_was() -> None:
    assert_snapshot("contrast.md", markdown.render(judge(contrast_race())))


def test_tables_mark_what_no_other_value_beats_and_leave_out_what_is_not_offered() -> None:
    table = contrast_tables(judge(contrast_race(unable="gzip-6")))[0]
    rows = {row.value: row.cells for row in table.rows}
    assert table.contestants == ("origin", "slow")
    assert rows["zstd-3"][0].startswith("● ")
    assert not rows["identity"][0].startswith("●")
    assert rows["gzip-6"][1] == "–"


def test_contestants_are_compared_in_a_line_a_cell() -> None:
    verdict = judge(contrast_race(unable="gzip-6"))
    assert {line.cell for line in versus(verdict)} == {"1-identity", "1-zstd-3", "64-identity", "64-zstd-3"}
    assert all("origin wins" in line.sentence for line in versus(verdict))


def test_the_control_is_told_in_one_line() -> None:
    assert control_line(judge(contrast_race())).startswith("The control held on 6 of 6 cells; noise floor ")


def test_the_page_draws_the_front() -> None:
    race = contrast_race()
    page = html.render(judge(race), race)
    assert "front: zstd-3, identity" in page
    assert page.count("<svg") > 4
    assert "<script" not in page
