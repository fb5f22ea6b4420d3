"""Allocations through malloc, counted by a library that is loaded before the C library (``counter.c``)."""

import hashlib
import mmap
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

SOURCE = Path(__file__).with_name("counter.c")
VARIABLE = "PHOTOFINISH_ALLOCATIONS"
"""Names the file of counters to the library."""
_LAYOUT = struct.Struct("=4q")
_PEAK = struct.Struct("=q")
"""The last of them; written alone, as the others go on counting."""


@dataclass(frozen=True, slots=True)
class Allocated:
    """Counters of all processes that were given the same file."""

    calls: int
    bytes: int
    live_bytes: int
    peak_bytes: int
    """The most bytes that were live at once since the last ``Counters.forget_peak``."""


def library(folder: Path) -> Path | None:
    """The library, compiled into ``folder`` when first asked for; None where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    key = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    path = folder / f"allocations-{key}.so"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.new")
        argv = [compiler, "-O2", "-shared", "-fPIC", "-o", str(draft), str(SOURCE), "-ldl"]
        done = subprocess.run(argv, capture_output=True, check=False)
        if done.returncode != 0:
            draft.unlink(missing_ok=True)
            return None
        draft.replace(path)
    return path


class Counters:
    """The file of counters, which the program maps."""

    def __init__(self, path: Path) -> None:
        """Makes it, all zero.

        Raises:
            OSError: it can't be written.
        """
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(self._file, bytes(mmap.PAGESIZE), 0)
        except OSError:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def read(self) -> Allocated:
        """As they stand now; all zero if the program has cut the file off, which would kill whoever had mapped it."""
        return Allocated(*_LAYOUT.unpack(os.pread(self._file, _LAYOUT.size, 0).ljust(_LAYOUT.size, b"\0")))

    def forget_peak(self) -> None:
        """The peak begins anew from what is live now."""
        now = self.read()
        os.pwrite(self._file, _PEAK.pack(now.live_bytes), _LAYOUT.size - _PEAK.size)
