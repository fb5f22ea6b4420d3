"""The contestants of one round: started one after another, all resident, ended together."""

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from photofinish.contest.order import start_order
from photofinish.contest.plan import Entry
from photofinish.errors import EnvironmentError_
from photofinish.store.records import Void
from photofinish.testbed.processes import Resident, Stopped, stop_all
from photofinish.trial.driver import RoundTask
from photofinish.trial.launch import ADDRESS, begin_log, check_memory, launch_of, scratch_folder
from photofinish.trial.visit.parameters import any_secure

PATIENCE_S = 3.0
"""So long the next start waits for a contestant; a slower one gets the rest of its time after all have started."""


@dataclass(slots=True)
class Runner:
    """One entry in one round."""

    entry: Entry
    slot: int
    address: tuple[str, int]
    secure_address: tuple[str, int]
    """For TLS and QUIC; the clear one where the suite has no such cells."""
    folder: Path
    resident: Resident | None = None
    startup_s: float | None = None
    void: Void | None = None
    """Set as soon as it can't be measured any more."""


@dataclass(slots=True)
class Field:
    """All entries of one round."""

    task: RoundTask
    runners: list[Runner] = field(default_factory=list)

    def start(self) -> None:
        """Starts all, in the order of the round's design; one that does not get ready is void, and the others go on.

        Raises:
            Interrupted: the stop flag was set.
            EnvironmentError_: the memory does not suffice for all, or nobody got ready.
        """
        plan = self.task.plan
        entries = [plan.entries[place] for place in start_order(len(plan.entries), self.task.index, plan.seed)]
        padding = self.task.chance("padding")
        for slot, entry in enumerate(entries):
            self.task.bench.stop.check()
            runner = self._launch(entry, slot, padding)
            self._wait(runner, min(PATIENCE_S, entry.manifest.ready.timeout_s))
            check_memory(len(self.runners), len(self.task.plan.entries))
        for runner in self.runners:
            timeout_s = runner.entry.manifest.ready.timeout_s
            if runner.startup_s is None and timeout_s > PATIENCE_S:
                self._wait(runner, timeout_s - PATIENCE_S)
            if runner.startup_s is None and runner.void is None:
                runner.void = Void("not-ready", self._why_not_ready(runner))
        if not self.ready():
            reasons = "; ".join(f"{r.entry.id}: {r.void.detail}" for r in self.runners if r.void is not None)
            raise EnvironmentError_(f"not one contestant got ready: {reasons}")

    def ready(self) -> list[Runner]:
        """Those that can still be measured, in the plan's order."""
        order = {entry.id: place for place, entry in enumerate(self.task.plan.entries)}
        able = [runner for runner in self.runners if runner.void is None]
        return sorted(able, key=lambda runner: order[runner.entry.id])

    def note_deaths(self) -> dict[str, str]:
        """Marks those whose first process has ended; answers how, by entry."""
        deaths: dict[str, str] = {}
        for runner in self.ready():
            end = runner.resident.end if runner.resident is not None else "never started"
            if end is not None and runner.resident is not None:
                deaths[runner.entry.id] = f"it {end}; its last line: {runner.resident.last_words()}"
                runner.void = Void("crashed", deaths[runner.entry.id])
        return deaths

    def stop(self, *, urgent: bool = False) -> dict[str, Stopped]:
        """Ends all and removes their folders; answers how each ended, by entry."""
        alive = [runner for runner in self.runners if runner.resident is not None]
        stopped = stop_all([runner.resident for runner in alive if runner.resident is not None], urgent=urgent)
        for runner in self.runners:
            shutil.rmtree(runner.folder, ignore_errors=True)
            runner.resident = None
        return {runner.entry.id: how for runner, how in zip(alive, stopped, strict=True)}

    def _launch(self, entry: Entry, slot: int, padding: random.Random) -> Runner:
        bench = self.task.bench
        folder = scratch_folder(self.task, entry.id)
        address = (ADDRESS, bench.ports.take())
        tls_port = bench.ports.take() if any_secure(self.task.plan.suite) else None
        runner = Runner(entry, slot, address, (ADDRESS, tls_port) if tls_port else address, folder)
        self.runners.append(runner)
        launch = launch_of(self.task, entry, folder, padding, port=address[1], tls_port=tls_port)
        begin_log(launch)
        try:
            runner.resident = Resident(bench.need_engine(), launch)
        except EnvironmentError_ as error:
            runner.void = Void("not-ready", str(error))
        return runner

    def _wait(self, runner: Runner, seconds: float) -> None:
        if runner.resident is not None:
            path, stop = runner.entry.manifest.ready.path, self.task.bench.stop
            runner.startup_s = runner.resident.wait_ready(runner.address, path, seconds, stop)

    def _why_not_ready(self, runner: Runner) -> str:
        if runner.resident is None:
            return "it never started"
        end = runner.resident.end
        what = f"it {end}" if end else f"no answer within {runner.entry.manifest.ready.timeout_s:g} s"
        return f"{what}; its last line: {runner.resident.last_words()}"
