"""From measured rounds to advice."""

from dataclasses import replace

import pytest

from photofinish.advice.advice import Prices, Question, advise, finalists, pays_from
from photofinish.advice.link import Link
from photofinish.advice.settings import settings
from photofinish.advice.view import Finding, as_document, sentence
from tests.advice.payloads import measured

SLOW, FAST = Question(Link(2e6)), Question(Link(10e9))


def test_the_slower_the_link_the_dearer_the_coding_that_pays() -> None:
    assert advise(measured(), Question(Link(0.5e6))).choice == "zstd-19"
    assert advise(measured(), Question(Link(20e6))).choice == "zstd-3"
    assert advise(measured(), FAST).choice == "identity"


def test_a_time_is_encoding_link_and_decoding() -> None:
    option = next(each for each in advise(measured(spread=0.0), SLOW).options if each.id == "zstd-3")
    assert option.link_ns == pytest.approx(1e9 * 8 * 28_700 / 2e6)
    assert option.time_ns.value == pytest.approx(option.encode_ns + option.link_ns + option.decode_ns)
    assert option.encode_ns == pytest.approx(405_000)


def test_of_candidates_that_can_not_be_told_apart_the_one_with_the_fewest_bytes_is_chosen() -> None:
    advice = advise(measured(), SLOW)
    assert set(advice.best) == {"br-4", "zstd-3"}
    assert advice.choice == "br-4"


def test_twins_are_controls_and_no_options() -> None:
    advice = advise(measured(), SLOW)
    assert {each.id for each in advice.options} == {"identity", "gzip-6", "br-4", "zstd-3", "zstd-19"}
    assert advice.delta >= 0.01


def test_only_finalists_are_compared_and_the_others_shown() -> None:
    question = Question(Link(20e6))
    best = finalists(measured(rounds=4, seed=9), question, 2)
    assert [each.id for each in best] == ["zstd-3", "br-4"]
    final = measured()
    kept = {each.id for each in best}
    fresh = replace(
        final,
        candidates=tuple(each for each in final.candidates if each.id in kept),
        rounds=tuple({each: cost for each, cost in one.items() if each in kept} for one in final.rounds),
    )
    advice = advise(fresh, question, measured(rounds=4, seed=9))
    assert {each.id for each in advice.options if each.is_screened} == {"gzip-6", "zstd-19"}
    assert not any(each.is_best for each in advice.options if each.is_screened)
    assert {name for pair in advice.pairs for name in (pair.a, pair.b)} == {"identity", "br-4", "zstd-3"}
    assert advice.choice == "zstd-3"


def test_prices_weigh_cpu_against_traffic() -> None:
    dear_cpu = Question(Link(20e6), Prices(cpu_hour=10.0, gigabyte=0.0), "price")
    dear_traffic = Question(Link(20e6), Prices(cpu_hour=0.01, gigabyte=1.0), "price")
    assert advise(measured(), dear_cpu).choice == "identity"
    assert advise(measured(), dear_traffic).choice == "zstd-19"
    option = next(each for each in advise(measured(spread=0.0), dear_traffic).options if each.id == "zstd-3")
    assert option.price == pytest.approx(1e6 * (0.01 * 405_000 / 3.6e12 + 28_700 / 1e9))


def test_a_coding_pays_from_the_size_on_at_which_all_larger_ones_agree() -> None:
    question = Question(Link(20e6))
    sizes = {size: advise(measured(size=size), question) for size in (256, 512, 1024, 4096, 100_000)}
    assert pays_from(sizes, "zstd-3") == 512
    assert pays_from({**sizes, 100_000: advise(measured(), FAST)}, "zstd-3") is None


def test_each_server_gets_the_best_that_it_can_do() -> None:
    written = {each.server: each for each in settings(advise(measured(), Question(Link(20e6))), 512)}
    assert "brotli_comp_level 4;" in written["nginx"].text
    assert "no zstd" in written["nginx"].note
    assert written["Caddy"].text == "encode {\n    zstd default\n    minimum_length 512\n}"
    assert "level=3" in written["Starlette"].text
    assert all("leave compression off" in each.note for each in settings(advise(measured(), FAST), 512))


def test_the_sentence_names_the_choice_the_gain_and_the_size() -> None:
    advice = advise(measured(), Question(Link(20e6)))
    finding = Finding(measured(), Question(Link(20e6)), advice, 512, settings(advice, 512))
    told = sentence(finding)
    assert told.startswith("For 100,000 bytes over 20 Mbit/s use zstd-3: 12.0")
    assert "against 40.0" in told
    assert told.endswith("It pays from about 512 bytes on.")
    document = as_document(finding)
    assert document["schema"] == "photofinish.advice/1"
    assert document["left_out"] == {"br-11": "one encoding takes 2.1 s"}
