import json as stdlib_json

from photofinish.report import compare_view, runs_view
from photofinish.report.json import canonical
from photofinish.report.terminal import to_text
from photofinish.store import RunSummary
from photofinish.verdict.compare import Change, Comparison, Difference, Regression
from tests import factories
from tests.report.snapshots import assert_snapshot

SUMMARIES = [
    RunSummary("20260303-0000-aaa", "2026-03-03T00:00:00Z", "servers", "quick", "finished", "0.1.0", 8, 12, 12, 1),
    RunSummary("20260304-0506-k3f", "2026-03-04T05:06:07Z", "servers", "full", "interrupted", "0.1.0", 8, 20, 4, 0),
]


def difference(entry: str, change: Change, ratio: float) -> Difference:
    return Difference(
        entry=entry,
        cell="saturated",
        metric="cpu_us_per_request",
        title="server CPU per request",
        unit="µs",
        better="lower",
        basis="share-of-reference",
        before=7.1,
        after=7.1 * ratio,
        ratio=ratio,
        low=ratio - 0.004,
        high=ratio + 0.004,
        rounds=(12, 12),
        change=change,
    )


def test_runs_are_listed_newest_first() -> None:
    assert_snapshot("runs.txt", to_text(runs_view.runs(SUMMARIES), width=100))
    assert [run["id"] for run in runs_view.runs_json(SUMMARIES)["runs"]] == [one.id for one in SUMMARIES]


def test_an_empty_store_says_how_to_begin() -> None:
    assert "photofinish race" in to_text(runs_view.runs([]))


def test_a_run_is_shown_with_its_voids_and_their_reasons() -> None:
    race = factories.race(rounds=3, cycles=2)
    assert_snapshot("show.txt", to_text(runs_view.show(race), width=100))
    document = stdlib_json.loads(canonical(runs_view.show_json(race)))
    assert document["rounds"][1]["void"]["code"] == "interference"
    assert document["plan"]["suite"]["schema"] == 1


def test_a_comparison_tells_regressions_first() -> None:
    found = Comparison(
        before="20260303-0000-aaa",
        after="20260304-0506-k3f",
        differences=(
            difference("nginx", "unproven", 1.002),
            difference("h2o", "improved", 0.95),
            difference("node", "regressed", 1.08),
        ),
        only_before=("caddy",),
        only_after=(),
    )
    assert_snapshot("compare.txt", to_text(compare_view.comparison(found), width=110))
    assert stdlib_json.loads(canonical(compare_view.comparison_json(found)))["differences"][0]["entry"] == "nginx"


def test_a_gate_says_what_failed_and_by_how_much_at_least() -> None:
    failed = [Regression(difference("node", "regressed", 1.08), 0.076)]
    names = {"baseline": "20260303-0000-aaa", "run": "20260304-0506-k3f"}
    text = to_text(compare_view.gate(failed, **names, max_regression=0.05), width=110)
    assert "failed: in 20260304-0506-k3f 1 figure is proven to be more than 5.0 % worse" in text
    assert "node on saturated: at least 7.6 % worse" in text
    assert "passed" in to_text(compare_view.gate([], **names, max_regression=0.05))
    assert compare_view.gate_json(failed, **names, max_regression=0.05)["passed"] is False
