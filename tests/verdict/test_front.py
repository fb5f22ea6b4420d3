"""The Pareto front of two metrics."""

from photofinish.verdict.judge import judge
from tests.verdict.contrasts import contrast_race


def test_what_is_beaten_in_both_metrics_is_off_the_front() -> None:
    contrast = judge(contrast_race()).contrast
    assert contrast is not None
    assert {group.front for group in contrast.groups} == {("identity", "zstd-3")}


def test_a_difference_that_is_not_proven_takes_nothing_off_the_front() -> None:
    contrast = judge(contrast_race(rounds=2)).contrast
    assert contrast is not None
    assert {group.front for group in contrast.groups} == {("identity", "zstd-3", "gzip-6")}
