"""A race from its first round to its last: every finished round is stored at once, and stopping loses at most one."""

import fcntl
import hashlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from photofinish.contest.loading import Contestant
from photofinish.contest.plan import Absence, Plan
from photofinish.errors import EnvironmentError_, InputError, PhotofinishError
from photofinish.store.records import Race, Round, Run
from photofinish.testbed.build import Builder, BuildProgress, Built
from photofinish.testbed.cores import Cores, divide_mine, pinned
from photofinish.testbed.engine import engine_path
from photofinish.testbed.environment import fingerprint, package_version
from photofinish.testbed.ports import Ports
from photofinish.testbed.stop import Interrupted, StopFlag
from photofinish.trial.driver import Bench, Driver, RoundTask, load_driver
from photofinish.verdict.judge import STANDS_ASIDE
from photofinish.verdict.sequential import decided, looks

MOST_ROUNDS_FACTOR = 2
"""Void rounds are made up for, until there have been this many times the planned ones."""

SAME_THROUGHOUT: tuple[str, ...] = ("cpu", "kernel", "cores", "photofinish", "engine")
"""Parts of the fingerprint that must be the same for all rounds of a race."""


class Rounds(Protocol):
    """What a race needs of a store."""

    def begin(self, run: Run) -> None:
        """Adds a run without rounds."""
        ...

    def add_round(self, run_id: str, round: Round, /) -> None:  # noqa: A002 - the glossary's word
        """Adds one finished round, durably."""
        ...

    def finish(self, run_id: str, status: str) -> None:
        """Sets the run's status."""
        ...

    def load(self, run_id: str) -> Race:
        """The run and all its rounds."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a race is."""

    round: int
    """From 1."""
    rounds: int
    phase: str
    cell: str | None
    done: float
    """Share of the whole, 0 to 1."""
    eta_s: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything outside the plan that its rounds need, built and found."""

    work: Path
    engine: Path | None
    cores: Cores
    builds: Mapping[str, Built]
    failed: tuple[Absence, ...] = ()
    """Contestants whose build failed; plan again with them as ``absent``."""


def prepare(
    plan: Plan,
    found: Mapping[str, Contestant],
    work: Path,
    stop: StopFlag | None = None,
    progress: BuildProgress | None = None,
) -> Workshop:
    """Checks the plan's parameters, finds the engine, builds every contestant of the plan.

    Args:
        plan: a plan; contestants whose build fails are told in ``Workshop.failed``.
        found: all contestants, by id.
        work: folder for builds and for what runs, such as ``.photofinish``.
        stop: looked at while building.
        progress: called before each build.

    Raises:
        InputError: the driver or its parameters are wrong.
        EnvironmentError_: the engine is missing.
        Interrupted: the stop flag was set.
    """
    driver = load_driver(plan.suite.driver)
    driver.check(plan)
    engine = _engine(driver)
    ids = dict.fromkeys(entry.contestant for entry in plan.entries)
    builds, failed = Builder(work / "build", engine, stop).build_all([found[each] for each in ids], progress)
    return Workshop(work.resolve(), engine, divide_mine(plan.workers), builds, tuple(failed))


def _engine(driver: Driver) -> Path | None:
    try:
        return engine_path()
    except EnvironmentError_:
        if driver.needs_engine:
            raise
        return None


def begin(store: Rounds, plan: Plan, workshop: Workshop, run_id: str) -> Run:
    """Adds a run to the store, with this machine's fingerprint and what was built.

    ``environment["builds"]`` holds, by contestant, ``build_s``, ``binary_bytes`` and ``version_found``.
    """
    environment: dict[str, Any] = fingerprint(workshop.engine, workshop.cores)
    environment["builds"] = {each: asdict(built) for each, built in workshop.builds.items()}
    created_at = datetime.now(UTC).isoformat(timespec="seconds")
    run = Run(run_id, created_at, plan, environment, "running", package_version())
    store.begin(run)
    return run


def run_race(
    store: Rounds,
    run_id: str,
    workshop: Workshop,
    *,
    stop: StopFlag | None = None,
    progress: Callable[[Progress], None] | None = None,
    driver: Driver | None = None,
) -> str:
    """Makes the rounds that a begun run still lacks; a run that was broken off goes on where it was.

    Args:
        store: holds the run.
        run_id: a run that was begun.
        workshop: from ``prepare``.
        stop: set it to stop soon: the round under way is given up, finished ones are kept.
        progress: called at the start of every phase.
        driver: instead of the one that the suite names.

    Returns:
        ``finished`` or ``interrupted``, as stored.

    Raises:
        InputError: the run has rounds already, from another machine, engine or build.
        PhotofinishError: the race can't go on; the run is stored as interrupted.
    """
    flag = stop or StopFlag()
    race = store.load(run_id)
    if race.rounds:
        _refuse_other_circumstances(race.run, workshop)
    course = _Course(race, flag, progress, driver or load_driver(race.run.plan.suite.driver))
    scratch = workshop.work / "run" / run_id
    status = "interrupted"
    with _alone(workshop.work), pinned(workshop.cores.engine):
        bench = Bench(
            engine=workshop.engine,
            cores=workshop.cores,
            ports=Ports(start=os.getpid() * 97),
            scratch=scratch,
            builds=workshop.builds,
            stop=flag,
        )
        try:
            while course.goes_on():
                made = course.make_round(bench)
                store.add_round(run_id, made)
                course.take(made)
            status = "finished"
        except (Interrupted, KeyboardInterrupt):
            status = "interrupted"
        finally:
            if status == "finished" or race.run.status == "running":
                store.finish(run_id, status)
            if status == "finished":
                shutil.rmtree(scratch, ignore_errors=True)  # after an interruption the logs stay for reading
    return status


def round_seed(seed: int, index: int) -> int:
    """A round's own seed: the same for the same race and index, whatever happened to other rounds; 53 bits."""
    return int.from_bytes(hashlib.sha256(f"photofinish/{seed}/{index}".encode()).digest()[:7], "big") >> 3


def _refuse_other_circumstances(run: Run, workshop: Workshop) -> None:
    """Rounds of one race come from one machine, one engine and one set of builds."""
    then = run.environment
    now = fingerprint(workshop.engine, workshop.cores)
    changed = [key for key in SAME_THROUGHOUT if key in then and then[key] != now[key]]
    for each, built in (then.get("builds") or {}).items():
        again = workshop.builds.get(each)
        if again is None or Path(built["folder"]).name != Path(again.folder).name:
            changed.append(f"the build of {each}")
    if changed:
        raise InputError(f"run {run.id} was begun under other circumstances ({', '.join(changed)}); start a new race")


class _Course:
    """How far a race is, and whether it goes on."""

    def __init__(self, race: Race, stop: StopFlag, progress: Callable[[Progress], None] | None, driver: Driver) -> None:
        self._race = race
        self._plan = race.run.plan
        self._stop = stop
        self._progress = progress
        self._driver = driver
        self._looks = set(looks(self._plan)) if self._plan.until_decided else set()
        self._note = ""
        self._began = time.monotonic()
        self._earlier_s = sum(each.duration_s for each in race.rounds)

    def goes_on(self) -> bool:
        """Decided by counts, time and, at looks laid beforehand, by the verdict; raises Interrupted when asked to."""
        self._stop.check()
        counted = self._counted()
        if counted >= self._plan.rounds or len(self._race.rounds) >= MOST_ROUNDS_FACTOR * self._plan.rounds:
            return False
        if not self._plan.until_decided or not self._race.rounds:
            return True
        budget = self._plan.budget_s
        if budget is not None and self._earlier_s + time.monotonic() - self._began >= budget:
            return False
        last = max(self._race.rounds, key=lambda each: each.index)
        if counted in self._looks and last.void is None:  # a void round brings nothing new to look at
            if decided(self._race, counted):
                return False
            self._note = f"undecided after {counted} rounds"
        return True

    def make_round(self, bench: Bench) -> Round:
        """The next round; its index follows the stored ones.

        Raises:
            Interrupted: the stop flag was set, even if what broke off then was an error: Ctrl-C reaches our children too.
            PhotofinishError: the race can't go on.
        """
        index = max((each.index for each in self._race.rounds), default=-1) + 1
        task = RoundTask(self._plan, index, round_seed(self._plan.seed, index), bench, self._counted())
        try:
            return self._driver.run_round(task, self._report)
        except PhotofinishError:
            self._stop.check()
            raise

    def take(self, made: Round) -> None:
        """Adds a round that has been stored."""
        self._race = replace(self._race, rounds=(*self._race.rounds, made))
        rounds = Counter(each.void.code for each in self._race.rounds if each.void is not None)
        voids = [trial for trial in made.trials if trial.void is not None and trial.void.code != STANDS_ASIDE]
        entries = sorted({trial.entry for trial in voids})
        notes = [f"rounds that do not count: {count} ({code})" for code, count in rounds.items()]
        if entries:
            notes.append(f"void in the last round: {', '.join(entries)}")
        self._note = "; ".join(notes)

    def _counted(self) -> int:
        return sum(each.void is None for each in self._race.rounds)

    def _report(self, phase: str, cell: str | None) -> None:
        if self._progress is None:
            return
        lengths = [each.duration_s for each in self._race.rounds]
        each_s = sum(lengths) / len(lengths) if lengths else self._driver.expected_s(self._plan)
        counted = self._counted()
        eta = each_s * (self._plan.rounds - counted)
        if self._plan.budget_s is not None:
            left = self._plan.budget_s - self._earlier_s - (time.monotonic() - self._began)
            eta = min(eta, max(0.0, left) + each_s)
        done = counted / self._plan.rounds
        number = len(self._race.rounds) + 1
        self._progress(Progress(number, self._plan.rounds, phase, cell, done, eta, self._note))


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Two races at once would measure each other."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "race.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise EnvironmentError_(
                f"another race is running here (process {holder}); wait for its end, or stop it"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
