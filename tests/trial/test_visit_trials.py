"""From the engine's lines to trials; no engine is needed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from photofinish.contest.suite import Cell
from photofinish.errors import EnvironmentError_
from photofinish.store.records import Trial
from photofinish.testbed.proc import Footprint
from photofinish.trial.engine import Said, Told
from photofinish.trial.visit.drive import read
from photofinish.trial.visit.parameters import VisitParameters
from photofinish.trial.visit.trials import Visited, trials_of
from tests import factories

CLOSED = VisitParameters.model_validate({"load": {"mode": "closed", "connections": 10}})
OPEN = VisitParameters.model_validate({"load": {"mode": "open", "connections": 10, "rate": 1000}})
CELL = Cell(id="saturated", title="", metrics=())
BEFORE = Footprint(processes=1, threads=1, rss_peak_bytes=1000, pss_bytes=900, stack_bytes=4096, context_switches=50)
AFTER = Footprint(processes=1, threads=2, rss_peak_bytes=2000, pss_bytes=1900, stack_bytes=8192, context_switches=1050)


def window(target: int, **changes: Any) -> dict[str, Any]:
    values = {
        "target": target,
        "position": target,
        "wall_ns": 10_000_000,
        "drain_ns": 100_000,
        "cpu_ns": 9_500_000,
        "requests": 1000,
        "body_bytes": 12_000,
        "wire_bytes": 100_000,
        "failed": {},
        "censored": 0,
        "connects": 0,
        "rest_cpu_ns": 0,
        "rest_wall_ns": 50_000_000,
        "offered": None,
        "engine_cpu_ns": 5_000_000,
        "engine_busy_ns": 1_000_000,
        "latency_sum_ns": 1,
        "settle_requests": 100,
    }
    return values | changes


def target(index: int, **changes: Any) -> dict[str, Any]:
    values = {
        "event": "target",
        "target": index,
        "id": str(index),
        "requests": 20_000,
        "sent": 20_000,
        "failed": {},
        "censored": 0,
        "connects": 0,
        "cpu_total_ns": 300_000_000,
        "requests_total": 30_000,
        "evidence": {"status": 200, "wire_bytes": 100},
        "failure_example": None,
        "histograms": {"response_ns": factories.encode_histogram([1000] * 19_000 + [5000] * 1000)},
    }
    return values | changes


def visit(*targets: dict[str, Any], windows: list[dict[str, Any]] | None = None, **end: Any) -> Told:
    made = windows or [window(each["target"]) for each in targets]
    cycles = [{"event": "cycle", "phase": "warmup", "cycle": 0, "windows": [{**each, "connects": 10} for each in made]}]
    cycles += [{"event": "cycle", "phase": "measure", "cycle": cycle, "windows": made} for cycle in range(20)]
    return Told(cycles, {each["target"]: each for each in targets}, {"aborted": None, **end}, 1.0, 0.0)


def visited(index: int, end: str | None = None) -> Visited:
    return Visited(f"e{index}", 7, index, BEFORE, AFTER, end, {"build_s": 1.5}, 1)


def one(
    parameters: VisitParameters = CLOSED,
    end: str | None = None,
    windows: dict[str, Any] | None = None,
    engine: dict[str, Any] | None = None,
    *,
    shared_core: bool = False,
    **changes: Any,
) -> Trial:
    """The trial of one target."""
    made = visit(target(0, **changes), windows=[window(0, **(windows or {}))], **(engine or {}))
    metrics = factories.METRICS
    return trials_of(
        CELL, parameters, made, [visited(0, end)], metrics=metrics, reference=None, shared_core=shared_core
    )[0]


def test_figures_are_those_of_the_phase_that_counts() -> None:
    trial = one()
    assert trial.void is None
    assert trial.labels == ()
    assert len(trial.windows) == 20
    assert trial.figures["cpu_us_per_request_round"] == 10.0
    assert trial.figures["context_switches_per_request"] == pytest.approx(1000 / (21 * 1100))
    assert trial.figures["latency_p50_ns"] == 1000
    assert trial.figures["latency_max_ns"] == pytest.approx(5000, rel=0.001)
    assert trial.figures["build_s"] == 1.5
    assert trial.evidence["wire_bytes"] == 100
    assert trial.evidence["reconnects"] == 0


def test_a_percentile_without_its_requests_is_void_and_the_trial_is_not() -> None:
    trial = one()
    assert trial.voided_figures == {"latency_p999_ns": "too-few-requests"}


def test_a_saturated_engine_voids_capacity_and_nothing_else() -> None:
    trial = one(windows={"engine_cpu_ns": 9_900_000, "cpu_ns": 5_000_000})
    assert trial.voided_figures["requests_per_s"] == "generator-bound"
    assert "cpu_us_per_request" not in trial.voided_figures
    assert trial.void is None


def test_an_engine_that_spins_is_judged_by_what_it_did() -> None:
    trial = one(windows={"engine_cpu_ns": 10_000_000, "cpu_ns": 5_000_000}, engine={"spin": True})
    assert "requests_per_s" not in trial.voided_figures


def test_an_open_loop_has_no_capacity_to_be_void() -> None:
    trial = one(OPEN, windows={"engine_cpu_ns": 9_900_000, "cpu_ns": 5_000_000, "offered": 1000})
    assert "requests_per_s" not in trial.voided_figures


def test_contestants_near_a_reference_that_the_engine_held_back_have_no_capacity() -> None:
    windows = [window(0, engine_cpu_ns=9_900_000, cpu_ns=1_000_000), window(1), window(2, requests=700)]
    made = visit(target(0), target(1), target(2), windows=windows)
    who = [visited(each) for each in range(3)]
    trials = trials_of(CELL, CLOSED, made, who, metrics=factories.METRICS, reference="e0", shared_core=False)
    assert ["requests_per_s" in trial.voided_figures for trial in trials] == [True, True, False]


def test_one_core_for_all_has_no_capacity_and_says_so() -> None:
    trial = one(shared_core=True)
    assert trial.labels == ("shared-core",)
    assert trial.voided_figures["requests_per_s"] == "generator-bound"


def test_a_rate_that_was_not_held_is_a_label() -> None:
    assert one(OPEN, windows={"offered": 1011}).labels == ("rate-not-held",)
    assert one(OPEN, windows={"offered": 1010}).labels == ()


def test_labels_tell_of_reconnects_rest_and_drains() -> None:
    assert one(windows={"connects": 10}).labels == ()
    assert one(windows={"connects": 11}).labels == ("reconnects",)
    kept = CLOSED.model_copy(update={"reconnect": False})
    assert one(kept, windows={"connects": 1}).labels == ("reconnects",)
    assert one(windows={"rest_cpu_ns": 2_000_000}).labels == ("restless",)
    assert one(censored=3).labels == ("drain-incomplete",)
    assert one(failed={"reset": 2}).labels == ("transport-failures",)


def test_a_trend_is_told_only_from_windows_with_enough_requests() -> None:
    made = visit(target(0))
    for place, cycle in enumerate(made.cycles):
        cycle["windows"] = [window(0, cpu_ns=9_500_000 * (2 if place < 10 else 1))]
    busy = trials_of(CELL, CLOSED, made, [visited(0)], metrics=(), reference=None, shared_core=False)[0]
    assert "warming-up" in busy.labels
    for cycle in made.cycles:
        cycle["windows"][0]["requests"] = 40
    idle = trials_of(CELL, CLOSED, replace(made), [visited(0)], metrics=(), reference=None, shared_core=False)[0]
    assert "warming-up" not in idle.labels


def test_a_death_tells_more_than_the_failures_that_it_caused() -> None:
    trial = one(end="it ended with status 7", failed={"reset": 500})
    assert trial.void is not None
    assert (trial.void.code, trial.void.detail) == ("crashed", "it ended with status 7")


def test_windows_with_failures_or_without_answers_do_not_count() -> None:
    assert one(windows={"failed": {"reset": 1}}).windows[0].void == "failed-requests"
    assert one(windows={"requests": 0}).windows[0].void == "no-requests"


def test_a_target_of_which_the_engine_says_nothing_is_not_measured() -> None:
    made = visit(target(0))
    trial = trials_of(CELL, CLOSED, made, [visited(3)], metrics=(), reference=None, shared_core=False)[0]
    assert trial.void is not None
    assert trial.void.code == "not-measured"


def test_only_the_figures_that_the_cell_yields_are_kept() -> None:
    cell = Cell(id="c", title="", metrics=("pss_bytes",))
    made = visit(target(0))
    trial = trials_of(cell, CLOSED, made, [visited(0)], metrics=factories.METRICS, reference=None, shared_core=False)[0]
    assert trial.figures == {"pss_bytes": 1900}
    assert trial.voided_figures == {}


def test_output_without_an_end_or_with_an_abort_is_an_error() -> None:
    lines = [json.dumps(target(0))]
    with pytest.raises(EnvironmentError_, match="without its last line"):
        read(Said("\n".join(lines).encode(), 1.0, 0.0))
    lines.append(json.dumps({"event": "end", "aborted": "deadline"}))
    with pytest.raises(EnvironmentError_, match="deadline"):
        read(Said("\n".join(lines).encode(), 1.0, 0.0))


def test_warming_up_fills_its_time_with_whole_cycles() -> None:
    assert CLOSED.warmup_cycles(11) * CLOSED.cycle_s(11) >= CLOSED.warmup_s
    assert (CLOSED.warmup_cycles(11) - 1) * CLOSED.cycle_s(11) < CLOSED.warmup_s


def test_a_backlog_beyond_the_rate_that_is_held_is_no_stall_and_has_no_percentiles() -> None:
    trial = one(OPEN, windows={"offered": 2000}, censored=500)
    assert trial.void is None
    assert "rate-not-held" in trial.labels
    assert trial.voided_figures["latency_p50_ns"] == "rate-not-held"
    held = one(OPEN, windows={"offered": 1000}, censored=500)
    assert held.void is not None
    assert held.void.code == "stalled"
