"""The contestants of one cell of one round: fresh processes, all resident, each proven to do what it claims."""

import hashlib
import os
import random
import shutil
import stat
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
from photofinish.testbed.payload import Identity, difference, file_sha256, identity, payload_file, sha256
from photofinish.testbed.processes import Resident, Stopped, stop_all
from photofinish.trial.driver import RoundTask
from photofinish.trial.launch import begin_log, check_memory, corpus_of, launch_of, scratch_folder
from photofinish.trial.turns.evidence import Proof, prove
from photofinish.trial.turns.lines import Garbled, Pipes, Silent, Talk, words
from photofinish.trial.turns.origin import Origin
from photofinish.trial.turns.parameters import TurnsParameters, parameters_of

_PIECE = 1 << 20


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
    payload_then: Identity | None = field(init=False, default=None)
    """The payload as it was made; None where nothing is sent."""
    runners: list[Runner] = field(default_factory=list)
    unable: dict[str, Void] = field(default_factory=dict)
    """Entries that the cell is not for, by their manifests."""

    def __post_init__(self) -> None:
        """Reads the cell and makes the file that is sent, if one is.

        Raises:
            EnvironmentError_: it can't be written.
            Interrupted: the stop flag was set.
        """
        self.parameters = parameters_of(self.cell)
        self.payload = self.task.bench.scratch.parent / "payload"
        if self.parameters.direction == "upload":
            self.payload = payload_file(self.payload, self.parameters.bytes, self.task.bench.stop)
            self.payload_then = identity(self.payload)

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
        for runner in self.ready():  # one without its pipes would be an error for the engine, and end the race
            try:
                Talk(runner.pipes).close()
            except Silent as silence:
                runner.void = Void("not-ready", f"{silence}; a contestant leaves its working directory's pipes alone")

    def payload_void(self) -> Void | None:
        """Why nothing that was sent counts: somebody has changed the file since it was made. None: nobody has."""
        if self.parameters.direction != "upload":
            return None
        what = difference(self.payload_then, identity(self.payload))
        return None if what is None else Void("payload-changed", f"{self.payload}: {what}")

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
            "PHOTOFINISH_URL": self.origin.url(parameters, trial),
            "PHOTOFINISH_BYTES": str(parameters.bytes),
            "PHOTOFINISH_CONNECTION": parameters.connection,
            "PHOTOFINISH_PROTOCOL": parameters.protocol,
            "PHOTOFINISH_BUFFER": str(parameters.buffer_bytes),
        }
        if parameters.coding is not None:
            told["PHOTOFINISH_ACCEPT_ENCODING"] = parameters.coding
        if parameters.secure and self.origin.certificates is not None:
            told["PHOTOFINISH_CA"] = str(self.origin.certificates.ca)
        return {**told, "PHOTOFINISH_FILE": str(self.payload)} if parameters.direction == "upload" else told

    def _launch(self, entry: Entry, slot: int, padding: random.Random) -> Runner:
        folder = scratch_folder(self.task, entry.id)
        runner = Runner(entry, slot, f"{self.task.index}.{self.cell.id}.{entry.id}", folder, Pipes.make(folder))
        self.runners.append(runner)
        self.origin.register(runner.trial, "check")
        pipes = (runner.pipes.commands, runner.pipes.answers)
        launch = launch_of(self.task, entry, folder, padding, told=self.told(runner.trial), pipes=pipes)
        begin_log(launch)
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
        code, doing = "not-ready", "its start"
        try:
            with Talk(runner.pipes) as talk:
                self._hear_ready(runner, resident, talk)
                code, doing = "stalled", "its first repetition"
                began_ns = time.monotonic_ns()
                talk.say("go" if self.parameters.direction == "upload" else f"save {saved}")
                timeout_s = self.parameters.repetition_timeout_s
                answer = talk.hear(timeout_s, lambda: resident.end, self.task.bench.stop)
                if talk.surplus is not None:
                    raise Garbled(f"one command, and beside its answer `{talk.surplus}`")
        except Silent as silence:
            if code == "stalled" and isinstance(silence, Garbled):
                code = "malformed-answer"
            elif code == "stalled" and resident.end is not None:
                code = "crashed"
            runner.void = Void(code, f"{doing}: {silence}; its last line: {words(resident.last_words())}")
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
            raise Garbled(f'its first line is `{words(said)}` instead of {{"ready":true}}')

    def _judge(self, runner: Runner, answer: Mapping[str, Any], evidence: Mapping[str, Any], saved: Path) -> None:
        parameters = self.parameters
        received = _hash_and_remove(saved, parameters.bytes) if parameters.direction == "download" else None
        runner.proof = prove(parameters, answer, evidence, wanted_sha256=self._wanted_sha256(), saved=received)
        runner.void = runner.proof.void

    def _wanted_sha256(self) -> str:
        name = self.parameters.content()
        if name is None:
            return sha256(self.parameters.bytes)
        return file_sha256(corpus_of(self.task.plan.suite) / name)


def _hash_and_remove(path: Path, most: int) -> tuple[int, str] | None:
    """Length and SHA-256 of what a client saved; None if it saved no regular file.

    Args:
        path: where it was told to save.
        most: bytes; of a longer file only so many and one are hashed, as it is wrong already.
    """
    digest = hashlib.sha256()
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return None
            left = most + 1
            while left > 0 and (piece := file.read(min(_PIECE, left))):
                digest.update(piece)
                left -= len(piece)
        path.unlink()
    except OSError:
        return None
    return found.st_size, digest.hexdigest()
