"""Opening the file: is it ours, is it of this schema, can it be written; and every refusal as one clear error."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from photofinish.errors import EnvironmentError_, InputError, PhotofinishError

APPLICATION_ID = 0x50484F46
"""``PHOF`` in the header of the file: tells a store from any other SQLite database."""
_PATIENCE_S = 10.0
"""How long to wait for another process that is writing; a round is written in milliseconds."""


def migrations() -> list[tuple[int, str]]:
    """The numbered SQL files of this package, ascending: (number, text)."""
    folder = resources.files("photofinish.store") / "migrations"
    found = [
        (int(item.name[:4]), item.read_text(encoding="utf-8"))
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    ]
    return sorted(found)


def connect(path: Path, *, read_only: bool, patience_s: float = _PATIENCE_S) -> sqlite3.Connection:
    """Opens a store, brings its schema up to date, and returns a connection without implicit transactions.

    Rollback journal rather than WAL: a quiet store is one file that can be copied and read from a read-only folder, and
    there is one short write a round, so WAL's concurrency would buy nothing. ``synchronous = EXTRA``: a round that
    ``add_round`` has returned from survives kill -9 and a power cut, the removal of the journal included; it costs a
    few milliseconds between rounds that last seconds.
    """
    with translated(path):
        if read_only:
            if not path.exists():
                raise InputError(f"{path}: there is no store; name another with --store, or race first")
            target = f"{path.absolute().as_uri()}?mode=ro"
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            target = path.absolute().as_uri()
        connection = sqlite3.connect(target, uri=True, timeout=patience_s, isolation_level=None)
        try:
            _prepare(connection, path, read_only=read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    _check_ours(connection, path)
    connection.execute("PRAGMA foreign_keys = ON")
    newest = migrations()[-1][0]
    found = _schema(connection)
    if found > newest:
        raise InputError(
            f"{path}: a newer Photofinish wrote this store (schema {found}, known here: {newest}); upgrade this one"
        )
    if read_only:
        if found < newest:
            raise InputError(
                f"{path}: the store's schema is {found}, not {newest}; open it once where it can be written"
            )
        return
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA synchronous = EXTRA")
    if found < newest:
        _migrate(connection)


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    mark = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
    if mark != APPLICATION_ID and (mark != 0 or tables != 0):
        raise InputError(f"{path}: this is a database, but no Photofinish store; name another file with --store")


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection) -> None:
    """All missing migrations in one transaction; the version is read again under the lock, others may have been first."""
    with transaction(connection):
        found = _schema(connection)
        for number, text in migrations():
            if number > found:
                for statement in _statements(text):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _statements(text: str) -> Iterator[str]:
    """Splits a script; a trigger's inner semicolons don't end it."""
    collected = ""
    for line in text.splitlines(keepends=True):
        collected += line
        if sqlite3.complete_statement(collected):
            yield collected
            collected = ""


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; takes the write lock at once, so that nothing read inside can have changed."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # A full disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns what SQLite and the file system say into what a person can mend."""
    try:
        yield
    except PhotofinishError:
        raise
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    except OSError as error:
        raise EnvironmentError_(f"{path}: {error.strerror or error}; name another place with --store") from error


_EXPLAINED: dict[int, tuple[type[PhotofinishError], str]] = {
    sqlite3.SQLITE_FULL: (EnvironmentError_, "the disk is full; free some space; all rounds stored before are kept"),
    sqlite3.SQLITE_READONLY: (
        EnvironmentError_,
        "can't be written; make file and folder writable or name another with --store",
    ),
    sqlite3.SQLITE_PERM: (
        EnvironmentError_,
        "access is denied; make file and folder accessible or name another with --store",
    ),
    sqlite3.SQLITE_BUSY: (
        EnvironmentError_,
        "another process holds the store; wait for it, or name another with --store",
    ),
    sqlite3.SQLITE_LOCKED: (
        EnvironmentError_,
        "another process holds the store; wait for it, or name another with --store",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        EnvironmentError_,
        "can't be opened or created; check the folder, or name another with --store",
    ),
    sqlite3.SQLITE_NOTADB: (InputError, "this is no Photofinish store; name another file with --store"),
    sqlite3.SQLITE_CORRUPT: (
        EnvironmentError_,
        "the store is damaged; restore a copy, or save what is left: sqlite3 FILE .recover",
    ),
    sqlite3.SQLITE_IOERR: (
        EnvironmentError_,
        "reading or writing failed; check disk, space and limits; stored rounds are kept",
    ),
    sqlite3.SQLITE_CONSTRAINT: (InputError, "refused"),
}


def _explained(path: Path, error: sqlite3.Error) -> PhotofinishError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest its variant
    kind, text = _EXPLAINED.get(code, (EnvironmentError_, "SQLite gave up"))
    return kind(f"{path}: {text} ({error})")
