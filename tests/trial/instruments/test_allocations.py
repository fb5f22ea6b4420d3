import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from photofinish.trial.instruments.allocations import VARIABLE, Counters, library

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler: apt-get install gcc")

PROGRAM = """
import sys
sys.stdin.readline()
for _ in range(3):
    kept = bytearray(10_000_000)
    del kept
print("done", flush=True)
sys.stdin.readline()
"""


def test_a_programs_allocations_are_counted_from_outside_while_it_runs(tmp_path: Path) -> None:
    built = library(tmp_path / "instruments")
    assert built is not None
    path = tmp_path / "counters"
    environment = {**os.environ, "LD_PRELOAD": str(built), VARIABLE: str(path), "PYTHONMALLOC": "malloc"}
    with Counters(path) as counters:
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"done\n"
        after = counters.read()
        process.communicate(b"\n")
    assert after.calls > 1000  # an interpreter has started
    assert 30_000_000 <= after.bytes < 80_000_000
    assert 10_000_000 <= after.peak_bytes < 30_000_000
    assert after.live_bytes < 10_000_000 <= after.peak_bytes


def test_the_peak_can_begin_anew(tmp_path: Path) -> None:
    path = tmp_path / "counters"
    with Counters(path) as counters:
        with path.open("r+b") as file:
            file.write(b"".join(value.to_bytes(8, "little") for value in (5, 500, 70, 400)))
        assert counters.read().peak_bytes == 400
        counters.forget_peak()
        assert counters.read().peak_bytes == 70
        assert counters.read().calls == 5


def test_the_library_is_compiled_once(tmp_path: Path) -> None:
    first = library(tmp_path)
    assert first is not None
    made = first.stat().st_mtime_ns
    assert library(tmp_path) == first
    assert first.stat().st_mtime_ns == made


def test_without_a_compiler_there_is_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert library(tmp_path) is None


def test_a_file_that_the_program_cuts_off_reads_as_nothing_counted(tmp_path: Path) -> None:
    path = tmp_path / "counters"
    with Counters(path) as counters:
        os.truncate(path, 5)
        counters.forget_peak()
        os.truncate(path, 5)
        assert counters.read().calls == 0
