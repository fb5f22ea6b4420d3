import re
from pathlib import Path

import pytest

from photofinish.trial import gates
from photofinish.trial.gates import CODES, FAILURE_CODES, Bounds


def test_every_code_has_a_meaning_and_a_mend_and_reads_like_one() -> None:
    for code, told in CODES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
        assert told.meaning
        assert told.mend


def test_every_code_that_is_used_is_in_the_table() -> None:
    root = Path(gates.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for code in re.findall(r'(?:Void\(|labels\.append\(|code=)"([a-z-]+)"', text):
            assert code in CODES, f"{code} in {path.name}"
    assert set(FAILURE_CODES.values()) <= set(CODES)


@pytest.mark.parametrize("reason", ["status", "length", "hash", "malformed"])
def test_a_single_wrong_answer_voids_a_trial(reason: str) -> None:
    void = gates.failure_void({reason: 1}, 1_000_000, "404 Not Found")
    assert void is not None
    assert void.code == FAILURE_CODES[reason]
    assert "404 Not Found" in void.detail


@pytest.mark.parametrize("reason", ["reset", "closed-early", "connect"])
def test_one_broken_connection_in_a_thousand_is_let_pass_and_no_more(reason: str) -> None:
    assert gates.failure_void({reason: 1}, 1000, None) is None
    assert gates.failure_void({reason: 2}, 1000, None) is not None


def test_a_failure_of_an_unknown_kind_is_never_let_pass() -> None:
    void = gates.failure_void({"novel": 1}, 1000, None)
    assert void is not None
    assert void.code == "malformed"


def test_no_failures_void_nothing() -> None:
    assert gates.failure_void({}, 1000, None) is None
    assert gates.failure_void({"hash": 0}, 1000, None) is None


def test_no_answers_at_all_or_many_without_one_are_a_stall() -> None:
    assert gates.stall_void(0, 100, 100) is not None
    assert gates.stall_void(980, 1000, 20) is not None
    assert gates.stall_void(995, 1000, 5) is None


def test_the_engine_is_the_limit_only_if_it_is_saturated_while_the_contestant_rests() -> None:
    assert gates.generator_bound(0.99, 0.50)
    assert not gates.generator_bound(0.99, 0.97)
    assert not gates.generator_bound(0.80, 0.50)


def test_coming_close_to_a_reference_that_was_held_back_by_the_engine_is_no_figure() -> None:
    assert gates.under_a_false_ceiling(85, 100, reference_generator_bound=True)
    assert not gates.under_a_false_ceiling(75, 100, reference_generator_bound=True)
    assert not gates.under_a_false_ceiling(85, 100, reference_generator_bound=False)
    assert not gates.under_a_false_ceiling(85, None, reference_generator_bound=True)


@pytest.mark.parametrize(
    ("figure", "requests"), [("latency_p50_ns", 100), ("latency_p99_ns", 10_000), ("latency_p999_ns", 100_000)]
)
def test_a_percentile_needs_its_requests(figure: str, requests: int) -> None:
    assert gates.too_few(figure, requests - 1)
    assert not gates.too_few(figure, requests)
    assert not gates.too_few("pss_bytes", 0)


def test_interference_is_judged_by_the_machine_alone() -> None:
    bounds = Bounds(foreign=0.1, steal=0.05)
    assert gates.interference_void(0.1, 0.05, bounds) is None
    foreign, steal = gates.interference_void(0.2, 0, bounds), gates.interference_void(0, 0.06, bounds)
    assert foreign is not None
    assert "other programs" in foreign.detail
    assert steal is not None
    assert "the host" in steal.detail


def test_a_contestant_that_works_while_others_are_measured_is_void() -> None:
    assert gates.rest_void(0.14, Bounds()) is None
    void = gates.rest_void(0.16, Bounds())
    assert void is not None
    assert void.code == "noisy-at-rest"
