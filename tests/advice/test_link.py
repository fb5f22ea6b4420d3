"""Links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photofinish.advice.link import Link, link_rate
from photofinish.errors import InputError


@pytest.mark.parametrize(
    ("text", "bits"),
    [("20mbit", 20e6), ("1.5 Gbit/s", 1.5e9), ("256kbit", 256e3), ("9600bps", 9600.0), ("10Mb/s", 10e6)],
)
def test_rates_are_read_as_people_write_them(text: str, bits: float) -> None:
    assert link_rate(text) == bits


@pytest.mark.parametrize("text", ["", "20", "fast", "0mbit", "-1mbit", "20MB/s", "1e400gbit"])
def test_what_is_no_rate_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="write it like 20mbit"):
        link_rate(text)


def test_a_round_trip_waits_once_for_each_window_that_is_spent() -> None:
    assert Link(1e9).seconds(125_000) == pytest.approx(0.001)
    fast = Link(1e12, rtt_s=0.04)
    assert fast.seconds(14_600) == pytest.approx(0.0, abs=1e-6)
    assert fast.seconds(14_601) == pytest.approx(0.04, rel=1e-3)
    assert fast.seconds(3 * 14_600 + 1) == pytest.approx(0.08, rel=1e-3)
    assert Link(1e6, rtt_s=0.04).seconds(100_000) == pytest.approx(0.8)


@given(st.integers(0, 10_000_000), st.integers(0, 10_000_000), st.floats(0, 1))
def test_more_bytes_never_take_less_time(one: int, other: int, rtt_s: float) -> None:
    link = Link(20e6, rtt_s)
    assert link.seconds(max(one, other)) >= link.seconds(min(one, other))
