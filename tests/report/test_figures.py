import pytest
from hypothesis import given
from hypothesis import strategies as st

from photofinish.report.figures import (
    aligned,
    column_scale,
    duration,
    number,
    percent,
    probability,
    ratio_as_percent,
    scale_for,
)


@pytest.mark.parametrize(
    ("unit", "value", "low", "high", "shown"),
    [
        ("µs", 7.1234, 7.09, 7.15, "7.12 µs [7.09, 7.15]"),
        ("µs", 61.3, 60.1, 62.6, "61.3 µs [60.1, 62.6]"),
        ("ns", 123456.0, 120000.0, 130000.0, "123 µs [120, 130]"),
        ("ns", 2_345_678.0, None, None, "2.35 ms"),
        ("s", 0.0123, None, None, "12.3 ms"),
        ("B", 8_000_000.0, None, None, "7.63 MiB"),
        ("B", 12.0, None, None, "12 B"),
        ("1/s", 52341.0, 51400.0, 53200.0, "52,300 1/s [51,400, 53,200]"),
        ("", 1.51, 1.5, 1.52, "1.51 [1.50, 1.52]"),
        ("µs", 5.0, 5.0, 5.0, "5.00 µs [5.00, 5.00]"),
        ("µs", 0.0, None, None, "0.00 µs"),
        ("µs", None, None, None, "–"),
    ],
)
def test_figures_have_sensible_digits_and_units(
    unit: str, value: float | None, low: float | None, high: float | None, shown: str
) -> None:
    digits = 0 if unit in {"B", "1/s"} else 2
    assert scale_for(unit, [value], digits).full(value, low, high) == shown


def test_figures_of_one_magnitude_share_their_decimals_in_a_column() -> None:
    column = [(4.311, 4.300, 4.322), (4.32, 4.29, 4.34), (61.3, 60.1, 62.5), (None, None, None)]
    scale = column_scale("µs", column)
    assert [scale.figure(*row) for row in column] == ["4.31", "4.32", "61.3", "–"]


def test_figures_align_on_their_points() -> None:
    assert aligned(["3.92", "10.7", "1,200", "–"]) == ["3.92", "10.7 ", "1,200   ", "–"]
    assert aligned(["3", "10", "–"]) == ["3", "10", "–"]
    assert aligned(["3.9", "10"], proportional=True) == ["3.9", "10\u2008\u2007"]
    assert aligned([]) == []


@pytest.mark.parametrize(
    ("ratio", "low", "high", "shown"),
    [
        (1.045, 1.041, 1.049, "+4.5 % [+4.1, +4.9]"),
        (0.955, 0.951, 0.959, "−4.5 % [−4.9, −4.1]"),
        (8.5, 8.4, 8.7, "8.50× [8.40, 8.70]"),
        (0.25, 0.24, 0.26, "0.250× [0.240, 0.260]"),
        (1.05, None, None, "+5.0 %"),
        (None, None, None, "–"),
    ],
)
def test_ratios_read_as_differences(ratio: float | None, low: float | None, high: float | None, shown: str) -> None:
    assert ratio_as_percent(ratio, low, high) == shown


def test_small_words_for_numbers() -> None:
    assert number(-1234.5, 1) == "−1,234.5"
    assert number(-0.001, 1).lstrip("−") == "0.0"
    assert percent(-0.00001, signed=True) == "0.0 %"
    assert percent(None) == "–"
    assert [probability(p) for p in (None, 0.0001, 0.04)] == ["–", "< 0.001", "0.040"]
    assert [duration(s) for s in (None, 12.5, 75.0, 3725.0)] == ["–", "12.5 s", "1 min 15 s", "1 h 2 min"]


@given(
    st.floats(min_value=1e-9, max_value=1e15),
    st.floats(min_value=1e-6, max_value=0.5),
    st.sampled_from(["µs", "B", "1/s", ""]),
)
def test_what_is_shown_lies_near_the_figure(value: float, share: float, unit: str) -> None:
    low, high = value * (1 - share), value * (1 + share)
    scale = scale_for(unit, [value])
    shown = float(scale.figure(value, low, high).replace(",", "").replace("−", "-")) * scale.factor
    assert abs(shown - value) <= max(value * share, value * 0.006)
