"""The bytes that are sent and fetched: the stream of the origin's ``/test/<size>``, made here by itself.

SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) seeded with ``SEED``, each word little-endian; beyond ``PERIOD`` bytes it
begins anew. Made apart from the engine on purpose: hashes of both ends are compared with these.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from photofinish.errors import EnvironmentError_
from photofinish.testbed.proc import is_alive
from photofinish.testbed.stop import StopFlag

SEED = 0x70686F746F66696E
"""The ASCII bytes of ``photofin``, big-endian."""
PERIOD = 100 << 20
"""Bytes after which the stream repeats itself: what the origin holds in memory."""
_GAMMA = 0x9E3779B97F4A7C15
_PIECE = 1 << 20
_WORD = 8
_SECTOR = 512


def pieces(size: int) -> Iterator[bytes]:
    """The first ``size`` bytes of the stream, at most 1 MiB at a time."""
    for start in range(0, size, _PIECE):
        yield _piece(start % PERIOD)[: size - start]


@cache
def sha256(size: int) -> str:
    """SHA-256 of the first ``size`` bytes, hexadecimal."""
    digest = hashlib.sha256()
    for piece in pieces(size):
        digest.update(piece)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells whether a file is still the one that it was, without reading it."""

    inode: int
    bytes: int
    changed_ns: int
    """Last change of its content, in ns since 1970."""


def identity(path: Path) -> Identity | None:
    """As it is now; None if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Identity(found.st_ino, found.st_size, found.st_mtime_ns)


def difference(then: Identity | None, now: Identity | None) -> str | None:
    """What has become of a file, in words; None: it is the same."""
    if then == now:
        return None
    if then is None or now is None:
        return "it is gone" if now is None else "it is there again"
    if now.bytes != then.bytes:
        return f"it {'shrank' if now.bytes < then.bytes else 'grew'} from {then.bytes} to {now.bytes} bytes"
    return "another file stands in its place" if now.inode != then.inode else "it was written to"


def payload_file(folder: Path, size: int, stop: StopFlag | None = None) -> Path:
    """A file with the first ``size`` bytes: made once, on disk for good (synchronised, not sparse), checked when found.

    Raises:
        EnvironmentError_: it can't be written; nothing half written is left.
        Interrupted: the stop flag was set; likewise.
    """
    path = folder / f"payload-{size}.bin"
    if _is_whole(path, size):
        return path
    draft = path.with_suffix(f".{os.getpid()}.new")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _forget_drafts(path)
        with draft.open("wb") as file:
            for piece in pieces(size):
                if stop is not None:
                    stop.check()
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise EnvironmentError_(
            f"{path}: the payload of {size} bytes can't be written ({error.strerror}); free space, or use --work"
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's content, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _forget_drafts(path: Path) -> None:
    """Removes what laboratories that were killed while they wrote have left."""
    for draft in path.parent.glob(f"{path.stem}.*.new"):
        writer = draft.name.removesuffix(".new").rpartition(".")[2]
        if writer.isdigit() and not is_alive(int(writer)):
            draft.unlink(missing_ok=True)


def _is_whole(path: Path, size: int) -> bool:
    try:
        found = path.stat()
        real = found.st_size == size and found.st_blocks * _SECTOR >= size
        return real and file_sha256(path) == sha256(size)
    except OSError:
        return False


def _piece(start: int) -> bytes:
    """1 MiB from ``start`` on; ``start`` is a multiple of 1 MiB."""
    first = start // _WORD
    with np.errstate(over="ignore"):
        index = np.arange(first + 1, first + 1 + _PIECE // _WORD, dtype=np.uint64)
        mixed = np.uint64(SEED) + index * np.uint64(_GAMMA)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed.astype("<u8").tobytes()
