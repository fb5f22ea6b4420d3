"""The store: one SQLite file, to which every finished round is added in one transaction, and nothing is rewritten."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from photofinish.contest.plan import Plan
from photofinish.errors import InputError
from photofinish.store import ids
from photofinish.store.connection import connect, transaction, translated
from photofinish.store.packing import (
    pack_histogram,
    pack_windows,
    to_json,
    to_void,
    unpack_histogram,
    unpack_windows,
)
from photofinish.store.records import Race, Round, Run, Trial


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of ``photofinish runs``."""

    id: str
    created_at: str
    suite: str
    profile: str
    status: str
    version: str
    entries: int
    rounds_planned: int
    rounds_stored: int
    rounds_void: int
    """Of those stored: whole rounds that don't count."""


class Store:
    """A store that is open; a context manager. Not for use by several threads at once."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, patience_s: float = 10.0) -> Self:
        """Opens or creates a store, its folders included.

        Args:
            path: the file.
            read_only: don't create, migrate or write; works in a read-only folder.
            patience_s: how long to wait for another process that is writing.

        Raises:
            InputError: the file is no store, or a newer Photofinish wrote it.
            EnvironmentError_: it can't be created, read or written, or another process holds it.
        """
        return cls(connect(path, read_only=read_only, patience_s=patience_s), path)

    def close(self) -> None:
        """Closes the file; harmless when repeated."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def begin(self, run: Run) -> None:
        """Adds a run without rounds.

        Raises:
            InputError: a run of that id is there already.
        """
        plan = run.plan.model_dump_json(by_alias=True)
        row = (run.id, run.created_at, run.version, run.status, plan, to_json(run.environment))
        with translated(self._path), transaction(self._connection):
            if self._connection.execute("SELECT 1 FROM runs WHERE id = ?", (run.id,)).fetchone():
                raise InputError(f"run {run.id} is in the store already; a run is begun once")
            self._connection.execute(
                "INSERT INTO runs (id, created_at, version, status, plan, environment) VALUES (?, ?, ?, ?, ?, ?)", row
            )

    def add_round(self, run_id: str, round: Round) -> None:  # noqa: A002 - the glossary's word
        """Adds one finished round in one transaction: when this returns, it survives kill -9 and a power cut.

        Raises:
            InputError: the run is unknown or finished, or the round is there already.
            EnvironmentError_: full disk, lost right to write …; the store is as it was before.
        """
        with translated(self._path), transaction(self._connection):
            run, status = self._run(run_id)
            if status == "finished":
                raise InputError(f"run {run_id} is finished and takes no more rounds")
            if self._connection.execute(
                "SELECT 1 FROM rounds WHERE run = ? AND ordinal = ?", (run, round.index)
            ).fetchone():
                raise InputError(
                    f"round {round.index} of run {run_id} is in the store already; rounds are never rewritten"
                )
            self._connection.execute(
                "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    run,
                    round.index,
                    str(round.seed),
                    round.started_at,
                    float(round.duration_s),
                    to_json(round.facts),
                    round.void and round.void.code,
                    round.void and round.void.detail,
                ),
            )
            for trial in round.trials:
                self._add_trial(run, round.index, trial)

    def _add_trial(self, run: int, index: int, trial: Trial) -> None:
        cursor = self._connection.execute(
            "INSERT INTO trials (run, round, cell, entry, slot, figures, evidence, labels, voided, void_code, void_detail)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run,
                index,
                trial.cell,
                trial.entry,
                trial.slot,
                to_json(trial.figures),
                to_json(trial.evidence),
                to_json(trial.labels),
                to_json(trial.voided_figures),
                trial.void and trial.void.code,
                trial.void and trial.void.detail,
            ),
        )
        key = cursor.lastrowid
        if trial.windows:
            packed = pack_windows(trial.windows)
            self._connection.execute("INSERT INTO windows VALUES (?, ?, ?)", (key, len(trial.windows), packed))
        for name, text in trial.histograms.items():
            self._connection.execute("INSERT INTO histograms VALUES (?, ?, ?)", (key, name, pack_histogram(text)))

    def finish(self, run_id: str, status: str) -> None:
        """Moves a run's status forward: running → interrupted → finished. An interrupted run still takes rounds.

        Raises:
            InputError: the run is unknown, or the status would move back.
        """
        with translated(self._path), transaction(self._connection):
            run, _ = self._run(run_id)
            self._connection.execute("UPDATE runs SET status = ? WHERE ordinal = ?", (status, run))

    def runs(self) -> list[RunSummary]:
        """All runs, oldest first."""
        with translated(self._path):
            rows = self._connection.execute(
                "SELECT id, created_at, json_extract(plan, '$.suite.name'), json_extract(plan, '$.profile'), status, version,"
                " json_array_length(plan, '$.entries'), json_extract(plan, '$.rounds'),"
                " (SELECT count(*) FROM rounds WHERE run = runs.ordinal),"
                " (SELECT count(void_code) FROM rounds WHERE run = runs.ordinal)"
                " FROM runs ORDER BY ordinal"
            ).fetchall()
        return [RunSummary(*row) for row in rows]

    def resolve(self, wanted: str) -> str:
        """The id of the run that a prefix, its last three letters, ``latest`` or ``latest~N`` means.

        Raises:
            InputError: none or several fit; the text lists what comes near.
        """
        with translated(self._path):
            rows = self._connection.execute("SELECT id FROM runs ORDER BY ordinal").fetchall()
        return ids.resolve(wanted, [row[0] for row in rows])

    def load(self, run_id: str) -> Race:
        """A whole race, equal to what was added, rounds in order of their index.

        Raises:
            InputError: the run is unknown, or its plan is of another version.
        """
        with translated(self._path), _snapshot(self._connection):
            run, status = self._run(run_id)
            created_at, version, plan, environment = self._connection.execute(
                "SELECT created_at, version, plan, environment FROM runs WHERE ordinal = ?", (run,)
            ).fetchone()
            trials = self._trials(run)
            rows = self._connection.execute(
                "SELECT ordinal, seed, started_at, duration_s, facts, void_code, void_detail FROM rounds"
                " WHERE run = ? ORDER BY ordinal",
                (run,),
            ).fetchall()
        rounds = tuple(
            Round(
                index=index,
                seed=int(seed),
                started_at=started_at,
                duration_s=duration_s,
                trials=tuple(trials.get(index, ())),
                facts=json.loads(facts),
                void=to_void(code, detail),
            )
            for index, seed, started_at, duration_s, facts, code, detail in rows
        )
        try:
            decided = Plan.model_validate_json(plan)
        except ValidationError as error:
            raise InputError(f"run {run_id}: version {version} wrote its plan, and this one can't read it") from error
        return Race(Run(run_id, created_at, decided, json.loads(environment), status, version), rounds)

    def _run(self, run_id: str) -> tuple[int, str]:
        row = self._connection.execute("SELECT ordinal, status FROM runs WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise InputError(f"run {run_id} is not in {self._path}; all of them: photofinish runs")
        return int(row[0]), str(row[1])

    def _trials(self, run: int) -> dict[int, list[Trial]]:
        histograms: dict[int, dict[str, str]] = {}
        for key, name, encoded in self._connection.execute(
            "SELECT trial, name, encoded FROM histograms JOIN trials ON trials.id = trial WHERE run = ?", (run,)
        ):
            histograms.setdefault(key, {})[name] = unpack_histogram(encoded)
        found: dict[int, list[Trial]] = {}
        for row in self._connection.execute(
            "SELECT id, round, cell, entry, slot, figures, evidence, labels, voided, void_code, void_detail, packed"
            " FROM trials LEFT JOIN windows ON windows.trial = trials.id WHERE run = ? ORDER BY id",
            (run,),
        ):
            found.setdefault(row[1], []).append(_trial(row, histograms.get(row[0], {})))
        return found


def _trial(row: tuple[Any, ...], histograms: dict[str, str]) -> Trial:
    _, _, cell, entry, slot, figures, evidence, labels, voided, code, detail, packed = row
    return Trial(
        cell=cell,
        entry=entry,
        slot=slot,
        figures=json.loads(figures),
        windows=() if packed is None else unpack_windows(packed),
        evidence=json.loads(evidence),
        histograms=histograms,
        labels=tuple(json.loads(labels)),
        voided_figures=json.loads(voided),
        void=to_void(code, detail),
    )


class _snapshot:  # noqa: N801 - reads as a statement
    """Several reads of one state: a shared lock from the first read to the end."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN")

    def __exit__(self, *_: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
