import errno
import hashlib
import os
from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_
from photofinish.testbed.payload import PERIOD, payload_file, pieces, sha256


def splitmix(seed: int, count: int) -> list[int]:
    """The published algorithm, word by word."""
    words, state, mask = [], seed, (1 << 64) - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        words.append(mixed ^ (mixed >> 31))
    return words


def test_the_stream_is_splitmix64_of_our_seed() -> None:
    assert splitmix(0, 1) == [0xE220A8397B1DCDAF]  # as Java's SplittableRandom has it
    wanted = b"".join(word.to_bytes(8, "little") for word in splitmix(int.from_bytes(b"photofin", "big"), 300_000))
    assert b"".join(pieces(2_400_000)) == wanted


def test_a_size_that_is_no_multiple_of_anything_is_the_beginning_of_a_longer_one() -> None:
    long, short = b"".join(pieces(1_500_000)), b"".join(pieces(1_048_583))
    assert short == long[:1_048_583]
    assert sha256(1_048_583) == hashlib.sha256(short).hexdigest()
    assert b"".join(pieces(0)) == b""


def test_beyond_its_period_the_stream_begins_anew() -> None:
    begin, last = b"", b""
    for place, piece in enumerate(pieces(PERIOD + 1000)):
        begin = piece[:1000] if place == 0 else begin
        last = piece
    assert last == begin


def test_the_file_holds_real_bytes_and_is_made_once(tmp_path: Path) -> None:
    path = payload_file(tmp_path, 300_000)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256(300_000)
    assert path.stat().st_blocks * 512 >= 300_000
    made = path.stat().st_mtime_ns
    assert payload_file(tmp_path, 300_000) == path
    assert path.stat().st_mtime_ns == made


@pytest.mark.parametrize("harm", ["other bytes", "too short", "sparse"])
def test_a_file_that_was_harmed_is_made_again(tmp_path: Path, harm: str) -> None:
    path = payload_file(tmp_path, 300_000)
    if harm == "other bytes":
        path.write_bytes(b"x" * 300_000)
    else:
        os.truncate(path, 0)
        if harm == "sparse":
            os.truncate(path, 300_000)
    assert hashlib.sha256(payload_file(tmp_path, 300_000).read_bytes()).hexdigest() == sha256(300_000)


def test_a_full_disk_is_one_clear_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("photofinish.testbed.payload.os.fsync", full)
    with pytest.raises(EnvironmentError_, match=r"payload of 1000 bytes can't be written \(No space left.*free space"):
        payload_file(tmp_path, 1000)
    assert list(tmp_path.iterdir()) == []
