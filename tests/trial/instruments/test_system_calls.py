import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from photofinish.trial.instruments.system_calls import command, read

TRACE = """\
4711 1000.100000 read(3, ""..., 65536) = 65536
4711 1000.200000 write(5, ""..., 65600 <unfinished ...>
4712 1000.210000 futex(0x7f, FUTEX_WAIT_PRIVATE, 2, NULL) = -1 EAGAIN (Resource temporarily unavailable)
4711 1000.220000 <... write resumed>) = 65600
4711 1000.300000 sendfile(5, 7, [0] => [1048576], 1048576) = 1048576
4712 1000.400000 recvfrom(5, 0x7f00, 4096, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
4711 1000.500000 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f7f0000
4711 1002.000000 write(5, ""..., 10) = 10
4711 1002.100000 +++ exited with 0 +++
"""


def test_calls_within_the_span_are_counted_with_what_they_copied_and_moved() -> None:
    calls = read(TRACE.splitlines(), 1000.0, 1001.0)
    assert dict(calls.counts) == {"read": 1, "write": 1, "futex": 1, "sendfile": 1, "recvfrom": 1, "mmap": 1}
    assert (calls.total, calls.copied_bytes, calls.moved_bytes) == (6, 65536 + 65600, 1048576)


def test_what_goes_through_a_ring_is_not_guessed() -> None:
    lines = [*TRACE.splitlines(), "4711 1000.6 io_uring_enter(4, 1, 1, 0, NULL, 8) = 1"]
    calls = read(lines, 1000.0, 1001.0)
    assert (calls.copied_bytes, calls.moved_bytes) == (None, None)
    assert calls.total == 7


def test_lines_that_are_no_calls_are_left_out() -> None:
    assert read(["", "strace: hello", "1 2 3", "4711 1000.1 --- SIGCHLD ---"], 0.0, 1e12).total == 0


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: apt-get install strace")
def test_a_real_trace_of_a_copy_and_of_a_sendfile_tells_them_apart(tmp_path: Path) -> None:
    program = """
import os, sys
way, source, target = sys.argv[1:]
with open(source, "rb", buffering=0) as one, open(target, "wb", buffering=0) as other:
    if way == "copy":
        while piece := one.read(65536):
            other.write(piece)
    else:
        while os.sendfile(other.fileno(), one.fileno(), None, 1 << 20):
            pass
"""
    source = tmp_path / "source"
    source.write_bytes(b"x" * 1_000_000)
    found = {}
    for way in ("copy", "sendfile"):
        argv = command([sys.executable, "-S", "-c", program, way, str(source), str(tmp_path / way)], tmp_path / "trace")
        assert argv is not None
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"this machine does not let programs be traced: {done.stderr.strip()}")
        found[way] = read((tmp_path / "trace").read_text(encoding="utf-8").splitlines(), 0.0, 1e12)
    copy, sendfile = found["copy"], found["sendfile"]
    assert sendfile.moved_bytes == 1_000_000
    assert copy.moved_bytes == 0
    assert copy.copied_bytes is not None
    assert sendfile.copied_bytes is not None
    assert 1_900_000 < copy.copied_bytes - sendfile.copied_bytes < 2_100_000
