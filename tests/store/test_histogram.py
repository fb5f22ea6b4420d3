import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photofinish.errors import InputError
from photofinish.store.histogram import Histogram, Slot, decode, merge
from tests.factories import encode_histogram

# Written by the reference implementation's Python port: 1, 3 x 1000, 2 x 2047, 5 x 2048, 2049, 7 x 123456,
# 10 x 1000000, 987654321; from 1 ns to an hour, three digits.
KNOWN = "HISTFAAAADN4nJNpmSzMwMAAwiDADKUZgUw3gx0LGOw/QAWYTvOzrRZg4emP41trIPJxHiMTANK1CYo="


def test_a_known_encoding_yields_the_values_that_the_reference_implementation_reads() -> None:
    histogram = decode(KNOWN)
    assert [(slot.high, slot.count) for slot in histogram.slots] == [
        (1, 1),
        (1000, 3),
        (2047, 2),
        (2049, 6),
        (123519, 7),
        (1000447, 10),
        (987758591, 1),
    ]
    shares = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
    assert [histogram.percentile(share) for share in shares] == [1, 1000, 123519, 1000447, 987758591, 987758591]


@given(st.lists(st.integers(min_value=1, max_value=50_000_000_000), max_size=60))
def test_what_was_encoded_is_decoded_within_the_resolution(samples: list[int]) -> None:
    histogram = decode(encode_histogram(samples))
    assert histogram.total == len(samples)
    read = [slot for slot in histogram.slots for _ in range(slot.count)]
    for sample, slot in zip(sorted(samples), read, strict=True):
        assert slot.low <= sample <= slot.high
        assert slot.high - slot.low <= sample / 1000


@given(
    st.lists(st.integers(min_value=1, max_value=10**9), min_size=1), st.lists(st.integers(min_value=1, max_value=10**9))
)
def test_merging_equals_recording_into_one(first: list[int], second: list[int]) -> None:
    merged = merge([decode(encode_histogram(first)), decode(encode_histogram(second))])
    assert merged == decode(encode_histogram(first + second))


def test_an_empty_histogram_has_no_percentiles() -> None:
    assert decode(encode_histogram([])) == Histogram()
    assert Histogram().percentile(0.5) is None
    assert Histogram().steps() == []


def test_steps_end_at_the_whole() -> None:
    assert Histogram((Slot(1, 1, 3), Slot(5, 5, 1))).steps() == [(0.75, 1), (1.0, 5)]


@pytest.mark.parametrize(
    "text", ["", "!!", "AAAA", KNOWN[:24], base64.b64encode(b"\x1c\x84\x93\x14\0\0\0\x04abcd").decode()]
)
def test_a_damaged_histogram_is_one_clear_error(text: str) -> None:
    with pytest.raises(InputError, match="HdrHistogram V2"):
        decode(text)
