"""The driver for what can't stay resident: each repetition is a whole process, its cost read when it has ended.

A command runs in a session of its own, which is killed when the command has ended, timed out or been given up; should the
laboratory itself be killed, its guard does that (``testbed/guard.py``), at no cost to the command.
"""

import hashlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from photofinish.contest.frozen import Frozen
from photofinish.contest.order import orders, start_order
from photofinish.contest.placeholders import fill, fill_all
from photofinish.contest.plan import Entry, Plan
from photofinish.contest.suite import Cell
from photofinish.errors import EnvironmentError_, InputError
from photofinish.store.records import Round, Trial, Void, Window
from photofinish.testbed.cores import pinned
from photofinish.testbed.counters import read_counters
from photofinish.testbed.guard import Guard
from photofinish.testbed.stop import StopFlag
from photofinish.trial import gates
from photofinish.trial.driver import Report, RoundTask
from photofinish.trial.noise import LimitsOfNoise
from photofinish.trial.parameters import problems

KIB = 1024
_OUTPUT_BYTES = 1 << 16


class Expectation(Frozen):
    """What every repetition has to come to; null: anything, but the same each time."""

    status: int = 0
    stdout_bytes: int | None = Field(default=None, ge=0)
    stdout_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")


class CommandParameters(Frozen):
    """All parameters of a cell of commands."""

    arguments: tuple[str, ...] = ()
    """Added to each contestant's own command."""
    repetitions: int = Field(default=10, ge=1)
    """Windows a trial; in each cycle every contestant has one."""
    runs_per_window: int = Field(default=1, ge=1)
    """Processes one after another in a window; more of them for commands that are over in a few milliseconds."""
    warmup: int = Field(default=1, ge=0)
    """Cycles before those that count: files come into memory."""
    timeout_s: float = Field(default=60, gt=0)
    expect: Expectation = Expectation()
    bounds: LimitsOfNoise = LimitsOfNoise()


@dataclass(frozen=True, slots=True)
class Finished:
    """One process, from start to end, with all children that it waited for."""

    status: int
    """Exit status; 128 + n after signal n, as shells have it."""
    cpu_ns: int
    """User and system time; a multiple of a microsecond."""
    wall_ns: int
    rss_peak_bytes: int
    """Of the largest single process."""
    stdout_bytes: int
    stdout_sha256: str
    timed_out: bool
    leaked: bool
    """Processes of its session were left; they have been killed."""


class CommandDriver:
    """Runs whole processes, alternating between contestants."""

    needs_engine = False

    def check(self, plan: Plan) -> None:
        """See ``Driver.check``."""
        lines: list[str] = []
        for cell in plan.cells:
            try:
                CommandParameters.model_validate(cell.parameters)
            except ValidationError as error:
                lines += problems(plan, cell, error)
        if lines:
            raise InputError("\n".join(lines))

    def expected_s(self, plan: Plan) -> float:
        """See ``Driver.expected_s``; as nothing is known of the commands, 50 ms each."""
        cells = [CommandParameters.model_validate(cell.parameters) for cell in plan.cells]
        return len(plan.entries) * sum(0.05 * each.runs_per_window * (each.repetitions + each.warmup) for each in cells)

    def run_round(self, task: RoundTask, report: Report) -> Round:
        """See ``Driver.run_round``."""
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        began = time.monotonic()
        trials: list[Trial] = []
        facts: dict[str, Any] = {"cells": {}}
        void: Void | None = None
        folder = task.bench.scratch / f"{task.index:04}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            with Guard() as guard:
                for cell in task.plan.cells:
                    report("commands", cell.id)
                    watch = _Watch()
                    trials += _Cell(task, cell, folder, guard).run()
                    seen = facts["cells"][cell.id] = watch.facts()
                    bounds = CommandParameters.model_validate(cell.parameters).bounds.as_bounds()
                    void = void or gates.interference_void(seen["foreign_share"], seen["steal_share"], bounds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        duration_s = time.monotonic() - began
        return Round(task.index, task.seed, started_at, duration_s, tuple(trials), facts, void)


class _Watch:
    """What the machine did beside our own processes."""

    def __init__(self) -> None:
        self._counters = read_counters()
        self._own = _own_ns()
        self._began = time.monotonic_ns()

    def facts(self) -> dict[str, float]:
        """Shares of the time of all CPUs."""
        now = read_counters()
        all_cpus = max(1, time.monotonic_ns() - self._began) * now.cpus
        foreign = now.busy_ns - self._counters.busy_ns - (_own_ns() - self._own)
        steal = now.steal_ns - self._counters.steal_ns
        return {"foreign_share": max(0.0, foreign / all_cpus), "steal_share": steal / all_cpus}


def _own_ns() -> int:
    """CPU of this process and of all its children that have ended."""
    times = os.times()
    return round((times.user + times.system + times.children_user + times.children_system) * 1e9)


class _Cell:
    """One cell of one round."""

    def __init__(self, task: RoundTask, cell: Cell, folder: Path, guard: Guard) -> None:
        self._guard = guard
        self._task = task
        self._cell = cell
        self._parameters = CommandParameters.model_validate(cell.parameters)
        self._folder = folder
        self._windows: dict[str, list[Window]] = {entry.id: [] for entry in task.plan.entries}
        self._seen: dict[str, list[Finished]] = {entry.id: [] for entry in task.plan.entries}
        self._voids: dict[str, Void] = {}

    def run(self) -> list[Trial]:
        entries, parameters = self._task.plan.entries, self._parameters
        cycles = parameters.warmup + parameters.repetitions
        seed = self._task.chance(f"orders/{self._cell.id}").getrandbits(53)
        for cycle, order in enumerate(orders(len(entries), cycles, seed), start=-parameters.warmup):
            for position, which in enumerate(order):
                if entries[which].id not in self._voids:
                    self._window(entries[which], cycle, position)
        slots = start_order(len(entries), self._task.index, self._task.plan.seed)
        return [self._trial(entry, slots.index(place)) for place, entry in enumerate(entries)]

    def _window(self, entry: Entry, cycle: int, position: int) -> None:
        cpu = wall = 0
        for _ in range(self._parameters.runs_per_window):
            argv, environment = self._command(entry)
            try:
                with pinned(self._task.bench.cores.contestants):  # the child inherits it
                    process, began = _start(argv, environment, self._run_folder(entry))
                self._guard.watch(process.pid)
                done = _finish(process, began, self._parameters.timeout_s, self._task.bench.stop)
                self._guard.rest()
            except OSError as error:
                self._voids[entry.id] = Void("not-ready", f"`{argv[0]}` could not be started ({error.strerror})")
                return
            void = self._judge(entry, done)
            if void is not None:
                self._voids[entry.id] = void
                return
            self._seen[entry.id].append(done)
            cpu, wall = cpu + done.cpu_ns, wall + done.wall_ns
        if cycle >= 0:
            values: dict[str, float | None] = {"cpu_ns": cpu, "wall_ns": wall, "runs": self._parameters.runs_per_window}
            self._windows[entry.id].append(Window(cycle, position, values))

    def _run_folder(self, entry: Entry) -> Path:
        folder = self._folder / entry.id
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _command(self, entry: Entry) -> tuple[list[str], dict[str, str]]:
        bench = self._task.bench
        values = {
            "source": entry.folder,
            "build": bench.builds[entry.contestant].folder if entry.contestant in bench.builds else "",
            "run": str(self._run_folder(entry)),
            "workers": str(self._task.plan.workers),
            "engine": str(bench.engine or ""),
            "python": sys.executable,
        }
        environment = {
            **os.environ,
            **{f"PHOTOFINISH_{name.upper()}": text for name, text in values.items()},
            **{name: fill(text, values) for name, text in entry.manifest.start.env.items()},
        }
        argv = fill_all((*entry.manifest.start.argv, *self._parameters.arguments), values)
        return argv, environment

    def _judge(self, entry: Entry, done: Finished) -> Void | None:
        """The gates of one process."""
        expect = self._parameters.expect
        first = self._seen[entry.id][0] if self._seen[entry.id] else done
        wanted_hash = expect.stdout_sha256 or (first.stdout_sha256 if expect.stdout_bytes is None else None)
        if done.timed_out:
            return Void("timed-out", f"it took longer than {self._parameters.timeout_s:g} s")
        if done.status != expect.status:
            return Void("exit-status", f"it ended with status {done.status} instead of {expect.status}")
        if expect.stdout_bytes is not None and done.stdout_bytes != expect.stdout_bytes:
            return Void("wrong-output", f"it printed {done.stdout_bytes} bytes instead of {expect.stdout_bytes}")
        if wanted_hash is not None and done.stdout_sha256 != wanted_hash:
            return Void("wrong-output", f"what it printed has the SHA-256 {done.stdout_sha256}, not {wanted_hash}")
        if done.leaked:
            return Void("leaked-children", "processes were left when it had ended")
        return None

    def _trial(self, entry: Entry, slot: int) -> Trial:
        seen = self._seen[entry.id]
        built = self._task.bench.builds.get(entry.contestant)
        figures: dict[str, float | None] = {
            "rss_peak_bytes": max((done.rss_peak_bytes for done in seen), default=None),
            "build_s": built.build_s if built else None,
            "binary_bytes": built.binary_bytes if built else None,
        }
        evidence: dict[str, Any] = {"runs": len(seen)}
        if seen:
            last = seen[-1]
            evidence |= {
                "status": last.status,
                "stdout_bytes": last.stdout_bytes,
                "stdout_sha256": last.stdout_sha256,
            }
        wanted = set(self._cell.metrics)
        return Trial(
            cell=self._cell.id,
            entry=entry.id,
            slot=slot,
            figures={name: value for name, value in figures.items() if not wanted or name in wanted},
            windows=tuple(self._windows[entry.id]),
            evidence=evidence,
            void=self._voids.get(entry.id),
        )


def _start(argv: Sequence[str], environment: Mapping[str, str], folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    began = time.monotonic_ns()
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return process, began


def _finish(process: subprocess.Popen[bytes], began_ns: int, timeout_s: float, stop: StopFlag) -> Finished:
    """Takes in the output, waits for the end, reads the cost, and kills what is left of the session.

    Raises:
        Interrupted: the stop flag was set; the session has been killed.
    """
    output = process.stdout
    if output is None:
        raise EnvironmentError_("no pipe to the command; free file descriptors")
    digest = hashlib.sha256()
    size = 0
    deadline = began_ns / 1e9 + timeout_s
    end = os.pidfd_open(process.pid)
    waiting: list[Any] = [output, end]
    try:
        while end in waiting and (left := deadline - time.monotonic()) > 0:
            stop.check()
            readable, _, _ = select.select(waiting, [], [], min(left, 0.2))
            if output in readable:
                chunk = os.read(output.fileno(), _OUTPUT_BYTES)
                digest.update(chunk)
                size += len(chunk)
                if not chunk:
                    waiting.remove(output)
            elif end in readable:  # all that it printed has been read; a child may still hold the output open
                waiting.remove(end)
    finally:
        timed_out = end in waiting
        if timed_out:
            _kill_session(process.pid)
        _, raw, usage = os.wait4(process.pid, 0)
        wall_ns = time.monotonic_ns() - began_ns
        process.returncode = os.waitstatus_to_exitcode(raw)
        output.close()
        os.close(end)
    leaked = _kill_session(process.pid)
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    cpu_ns = round((usage.ru_utime + usage.ru_stime) * 1e6) * 1000
    rss = usage.ru_maxrss * KIB
    return Finished(status, cpu_ns, wall_ns, rss, size, digest.hexdigest(), timed_out, leaked)


def _kill_session(leader: int) -> bool:
    """Kills the process group of a session; answers whether anything was there."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
        return True
    return False
