import errno
import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_
from photofinish.testbed.payload import PERIOD, difference, identity, payload_file, pieces, sha256
from photofinish.testbed.stop import Interrupted, StopFlag


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


def test_drafts_of_laboratories_that_were_killed_are_removed_and_those_of_living_ones_kept(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    left = tmp_path / f"payload-1000.{dead.pid}.new"
    others = [tmp_path / f"payload-1000.{os.getppid()}.new", tmp_path / f"payload-2000.{dead.pid}.new"]
    for each in (left, *others):
        each.touch()
    path = payload_file(tmp_path, 1000)
    assert set(tmp_path.iterdir()) == {path, *others}


def test_stopping_while_the_file_is_made_leaves_nothing(tmp_path: Path) -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Interrupted):
        payload_file(tmp_path, 1000, stop)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_the_same_until_it_is_touched_and_what_has_become_of_it_is_told(tmp_path: Path) -> None:
    path = payload_file(tmp_path, 1000)
    then = identity(path)
    path.read_bytes()
    assert difference(then, identity(path)) is None
    os.utime(path, ns=(0, 0))
    assert difference(then, identity(path)) == "it was written to"
    path.replace(tmp_path / "another")
    assert difference(then, identity(path)) == "it is gone"
    path.write_bytes((tmp_path / "another").read_bytes())
    assert difference(then, identity(path)) == "another file stands in its place"
    with path.open("ab") as file:
        file.write(b"x")
    assert difference(then, identity(path)) == "it grew from 1000 to 1001 bytes"
    os.truncate(path, 10)
    assert difference(then, identity(path)) == "it shrank from 1000 to 10 bytes"
