"""The contestants of one cell of one round: fresh processes, all resident, each proven to do what it claims."""

import hashlib
import random
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from photofinish.contest.order import start_order
from photofinish.contest.plan import Entry
from photofinish.contest.suite import Cell
from photofinish.errors import EnvironmentError_
from photofinish.store.records import Void
from photofinish.testbed.payload import payload_file, sha256
from photofinish.testbed.processes import Resident, Stopped, stop_all
from photofinish.trial.driver import RoundTask
from photofinish.trial.launch import check_memory, launch_of, scratch_folder
from photofinish.trial.turns.evidence import Proof, prove
from photofinish.trial.turns.lines import Pipes, Silent, Talk
from photofinish.trial.turns.origin import Origin
from photofinish.trial.turns.parameters import TurnsParameters, parameters_of


@dataclass(slots=True)
class Runner:
    """One entry in one cell of one round."""

    entry: Entry
    slot: int
    trial: str
    """Its name at the origin."""
    folder: Path
    pipes: Pipes
    resident: Resident | None = None
    startup_s: float | None = None
    """From its start until it said that it is ready."""
    first_request_s: float | None = None
    """From the first command to the head of its first request, as the origin saw it."""
    proof: Proof | None = None
    void: Void | None = None
    """Set as soon as it can't be measured any more."""


@dataclass(slots=True)
class Field:
    """All entries of one cell of one round that can take part in it."""

    task: RoundTask
    cell: Cell
    origin: Origin
    parameters: TurnsParameters = field(init=False)
    payload: Path = field(init=False)
    runners: list[Runner] = field(default_factory=list)
    unable: dict[str, Void] = field(default_factory=dict)
    """Entries that the cell is not for, by their manifests."""

    def __post_init__(self) -> None:
        """Reads the cell and makes the file that is sent, if one is."""
        self.parameters = parameters_of(self.cell)
        folder = self.task.bench.scratch.parent / "payload"
        upload = self.parameters.direction == "upload"
        self.payload = payload_file(folder, self.parameters.bytes) if upload else folder

    def start(self) -> None:
        """Starts all, one after another, and proves each; one that fails is void, and the others go on.

        Raises:
            Interrupted: the stop flag was set.
            EnvironmentError_: the memory does not suffice for all, or the origin is gone.
        """
        plan = self.task.plan
        entries = [plan.entries[place] for place in start_order(len(plan.entries), self.task.index, plan.seed)]
        padding = self.task.chance(f"padding/{self.cell.id}")
        for slot, entry in enumerate(entries):
            self.task.bench.stop.check()
            reason = self.parameters.unable(entry.manifest)
            if reason is not None:
                self.unable[entry.id] = Void("not-capable", reason)
                continue
            runner = self._launch(entry, slot, padding)
            if runner.void is None:
                self._prove(runner)
            check_memory(len(self.runners), len(entries))

    def ready(self) -> list[Runner]:
        """Those that can still be measured, in the plan's order."""
        order = {entry.id: place for place, entry in enumerate(self.task.plan.entries)}
        able = [runner for runner in self.runners if runner.void is None]
        return sorted(able, key=lambda runner: order[runner.entry.id])

    def stop(self, *, urgent: bool = False) -> dict[str, Stopped]:
        """Ends all and removes their folders; answers how each ended, by entry."""
        alive = [runner for runner in self.runners if runner.resident is not None]
        stopped = stop_all([runner.resident for runner in alive if runner.resident is not None], urgent=urgent)
        for runner in self.runners:
            shutil.rmtree(runner.folder, ignore_errors=True)
            runner.resident = None
        return {runner.entry.id: how for runner, how in zip(alive, stopped, strict=True)}

    def told(self, trial: str) -> dict[str, str]:
        """What a contestant of this cell is told by its environment."""
        parameters = self.parameters
        told = {
            "PHOTOFINISH_URL": self.origin.url(parameters.route(), trial, parameters.fault),
            "PHOTOFINISH_BYTES": str(parameters.bytes),
            "PHOTOFINISH_CONNECTION": parameters.connection,
            "PHOTOFINISH_PROTOCOL": parameters.protocol,
            "PHOTOFINISH_BUFFER": str(parameters.buffer_bytes),
        }
        return {**told, "PHOTOFINISH_FILE": str(self.payload)} if parameters.direction == "upload" else told

    def _launch(self, entry: Entry, slot: int, padding: random.Random) -> Runner:
        folder = scratch_folder(self.task, entry.id)
        runner = Runner(entry, slot, f"{self.task.index}.{self.cell.id}.{entry.id}", folder, Pipes.make(folder))
        self.runners.append(runner)
        self.origin.register(runner.trial, "check")
        pipes = (runner.pipes.commands, runner.pipes.answers)
        launch = launch_of(self.task, entry, folder, padding, told=self.told(runner.trial), pipes=pipes)
        launch.log.write_bytes(b"")
        try:
            runner.resident = Resident(self.task.bench.need_engine(), launch)
        except EnvironmentError_ as error:
            runner.void = Void("not-ready", str(error))
        return runner

    def _prove(self, runner: Runner) -> None:
        """Waits until it is ready, lets it do one repetition, and looks at both ends of that."""
        resident = runner.resident
        assert resident is not None  # noqa: S101 - launched, or it would be void
        saved = runner.folder / "saved"
        with Talk(runner.pipes) as talk:
            try:
                self._hear_ready(runner, resident, talk)
            except Silent as silence:
                runner.void = Void("not-ready", f"{silence}; its last line: {resident.last_words()}")
                return
            began_ns = time.monotonic_ns()
            try:
                talk.say("go" if self.parameters.direction == "upload" else f"save {saved}")
                timeout_s = self.parameters.repetition_timeout_s
                answer = talk.hear(timeout_s, lambda: resident.end, self.task.bench.stop)
            except Silent as silence:
                code = "crashed" if resident.end is not None else "stalled"
                runner.void = Void(code, f"its first repetition: {silence}; its last line: {resident.last_words()}")
                return
        evidence = self.origin.evidence(runner.trial)
        if evidence["first_request_ns"] is not None:
            runner.first_request_s = (evidence["first_request_ns"] - began_ns) / 1e9
        self._judge(runner, answer, evidence, saved)
        self.origin.register(runner.trial, "count")

    def _hear_ready(self, runner: Runner, resident: Resident, talk: Talk) -> None:
        ready_s = runner.entry.manifest.ready.timeout_s
        said = talk.hear(ready_s, lambda: resident.end, self.task.bench.stop)
        runner.startup_s = time.monotonic() - resident.started_at
        if said.get("ready") is not True:
            raise Silent(f'its first line is {said} instead of {{"ready":true}}')

    def _judge(self, runner: Runner, answer: Mapping[str, Any], evidence: Mapping[str, Any], saved: Path) -> None:
        parameters = self.parameters
        received = _hash_and_remove(saved) if parameters.direction == "download" else None
        runner.proof = prove(parameters, answer, evidence, wanted_sha256=sha256(parameters.bytes), saved=received)
        runner.void = runner.proof.void


def _hash_and_remove(path: Path) -> tuple[int, str] | None:
    """Length and SHA-256 of what a client saved; None if it saved nothing."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
    except OSError:
        return None
    path.unlink()
    return size, digest
