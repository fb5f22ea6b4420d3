import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photofinish.report.curves import curves, percentile_rows
from photofinish.report.plot.axis import axis_for, tick_text
from photofinish.report.plot.difference import difference_plot
from photofinish.report.plot.interval import interval_plot
from photofinish.report.plot.latency import Curve, latency_plot, nines
from photofinish.report.tables import cell_tables
from photofinish.store.histogram import Histogram, decode
from tests import factories
from tests.verdict_factory import verdict


def test_an_axis_is_logarithmic_only_where_figures_lie_far_apart() -> None:
    assert axis_for([1.0, 9.0], 0, 100).logarithmic
    assert not axis_for([1.0, 7.0], 0, 100).logarithmic
    assert axis_for([1.0, 7.0], 0, 100).low == 0
    assert axis_for([7.0, 7.2], 0, 100).low > 6


@given(st.lists(st.floats(min_value=1e-6, max_value=1e9), min_size=1, max_size=12))
def test_every_value_has_a_place_and_every_tick_lies_on_the_axis(values: list[float]) -> None:
    axis = axis_for(values, 10, 200)
    places = [axis.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(10 <= place <= 200 for place in places)
    assert all(axis.low * 0.999 <= tick <= axis.high * 1.001 for tick in axis.ticks())
    assert len(axis.ticks()) <= 40


def test_ticks_are_labelled_with_the_digits_they_need() -> None:
    assert [tick_text(tick) for tick in (0.0, 0.5, 20.0, 1000.0, 0.0002)] == ["0", "0.5", "20", "1,000", "0.0002"]


def test_the_percentile_axis_counts_nines() -> None:
    assert [round(nines(share), 6) for share in (0.0, 0.9, 0.99, 0.999)] == [0, 1, 2, 3]


def test_curves_merge_counted_rounds_only() -> None:
    race = factories.race(rounds=3, cycles=1)
    name, drawn = curves(race, "rate-10000", {"nginx": "nginx"})
    assert name == "response_ns"
    totals = {curve.name: curve.histogram.total for curve in drawn}
    assert totals["nginx"] == 2 * 2000, "the second round is void"
    assert totals["origin~twin"] == 2000, "and one of its trials is void too"
    assert curves(race, "saturated", {}) == ("", [])


def test_percentiles_of_the_table_are_those_of_the_histogram() -> None:
    curve = Curve("a", decode(factories.encode_histogram([1_000_000] * 99 + [5_000_000])))
    unit, rows = percentile_rows([curve])
    assert unit == "ms"
    assert rows == [("a", ["100", "1.00", "1.00", "1.00", "5.00", "5.00"])]


def test_a_plot_without_records_is_empty() -> None:
    assert latency_plot([Curve("a", Histogram())], "title", "name") == ""


@pytest.mark.parametrize("samples", [[5], [5, 5, 5], [1, 10**9]])
def test_tiny_histograms_can_be_drawn(samples: list[int]) -> None:
    markup = latency_plot([Curve("a", decode(factories.encode_histogram(samples)))], "title", "name")
    assert "nan" not in markup
    assert str(math.inf) not in markup


def test_the_finish_shows_only_those_near_the_leader() -> None:
    close = {"limit": 3.9, "origin": 7.1, "nginx": 7.3, "node": 61.0}
    markup = difference_plot(cell_tables(verdict(costs_us=close))[0], "finish")
    assert ">nginx<" in markup
    assert ">node<" not in markup
    apart = {"limit": 3.9, "nginx": 7.3, "node": 61.0, "origin": 30.0}
    assert ">node<" not in difference_plot(cell_tables(verdict(costs_us=apart))[0], "finish")


def test_a_plot_of_figures_names_every_entry_and_its_interval() -> None:
    table = cell_tables(verdict())[0]
    markup = interval_plot(table, "figures")
    for row in table.rows:
        assert f">{row.name}<" in markup
        assert row.headline.interval in markup
