"""HdrHistogram V2: from the wire to counted values, and from there to percentiles.

Layout after the specification of the reference implementation (``ENCODING.rst`` of HdrHistogram): a cookie, seven
header fields, then ZigZag LEB128 counts in which a negative number stands for a run of empty slots. The compressed form
wraps the same bytes in zlib.
"""

import base64
import binascii
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from photofinish.errors import InputError

_COOKIE_V2 = 0x1C849303
_COOKIE_V2_COMPRESSED = 0x1C849304
_COOKIE_MASK = 0xFFFF_FF0F
"""The word size in the low byte says nothing in V2."""
_HEADER = struct.Struct(">iiiiqqd")
_OUTER = struct.Struct(">ii")
_MOST_BYTES = 64 * 1024 * 1024
"""Far above any histogram of three digits; keeps a damaged one from filling the memory."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Values from ``low`` to ``high``, both included, that the histogram can't tell apart, and how many there were."""

    low: int
    high: int
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """The slots that hold anything, ascending."""

    slots: tuple[Slot, ...] = ()

    @property
    def total(self) -> int:
        """Number of recorded values."""
        return sum(slot.count for slot in self.slots)

    def percentile(self, share: float) -> int | None:
        """The value that ``share`` (0 to 1) of the records do not exceed; None for an empty histogram.

        As in the reference implementation: the highest value of the slot in which the record of that rank lies.
        """
        wanted = max(1, min(self.total, round_half_up(share * self.total)))
        for slot, reached in zip(self.slots, accumulate(slot.count for slot in self.slots), strict=True):
            if reached >= wanted:
                return slot.high
        return None

    def steps(self) -> list[tuple[float, int]]:
        """The percentile curve: for every slot, the share of records at or below it, and its highest value."""
        total = self.total
        reached = accumulate(slot.count for slot in self.slots)
        return [(count / total, slot.high) for slot, count in zip(self.slots, reached, strict=True)]


def round_half_up(value: float) -> int:
    """The nearest whole number, halves upwards."""
    return int(value + 0.5)


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """All records of all histograms; those of equal resolution merge exactly."""
    counts: dict[tuple[int, int], int] = {}
    for histogram in histograms:
        for slot in histogram.slots:
            key = (slot.low, slot.high)
            counts[key] = counts.get(key, 0) + slot.count
    return Histogram(tuple(Slot(low, high, count) for (low, high), count in sorted(counts.items())))


def decode(text: str) -> Histogram:
    """Reads base64 of a V2 histogram, compressed or not.

    Raises:
        InputError: what stands there is no V2 histogram, or a damaged one.
    """
    try:
        return _decode(base64.b64decode(text, validate=True))
    except (binascii.Error, zlib.error, struct.error, IndexError, ValueError) as error:
        raise InputError(f"a histogram can't be read ({error}); it has to be HdrHistogram V2 in base64") from error


def _decode(raw: bytes) -> Histogram:
    cookie, length = _OUTER.unpack_from(raw)
    if cookie & _COOKIE_MASK == _COOKIE_V2_COMPRESSED:
        raw = zlib.decompressobj().decompress(raw[_OUTER.size : _OUTER.size + length], _MOST_BYTES)
    cookie, length, offset, digits, lowest, _highest, _ratio = _HEADER.unpack_from(raw)
    if cookie & _COOKIE_MASK != _COOKIE_V2:
        raise ValueError(f"cookie {cookie:#x} is not that of version 2")
    if offset != 0 or not 0 <= digits <= 5 or lowest < 1:
        raise ValueError("its header is out of bounds")
    payload = raw[_HEADER.size : _HEADER.size + length]
    if len(payload) != length:
        raise ValueError("it is cut short")
    return Histogram(tuple(_slots(payload, digits, lowest)))


def _slots(payload: bytes, digits: int, lowest: int) -> Iterable[Slot]:
    """Index → value range; an index is bucket × half + place, where bucket b is 2^b units wide a slot."""
    unit = lowest.bit_length() - 1
    half_bits = (2 * 10**digits - 1).bit_length() - 1
    half = 1 << half_bits
    index = at = 0
    while at < len(payload):
        number, at = _zigzag(payload, at)
        if number <= 0:
            index += max(1, -number)
            continue
        bucket = max(0, (index >> half_bits) - 1)
        place = index - bucket * half
        low = place << (bucket + unit)
        yield Slot(low, low + (1 << (bucket + unit)) - 1, number)
        index += 1


def _zigzag(payload: bytes, at: int) -> tuple[int, int]:
    """One ZigZag LEB128 number of at most nine bytes: (number, place of the next)."""
    value = shift = 0
    for ordinal in range(9):
        byte = payload[at]
        at += 1
        last = ordinal == 8
        value |= (byte if last else byte & 0x7F) << shift
        if last or byte < 0x80:
            break
        shift += 7
    return (value >> 1) ^ -(value & 1), at
