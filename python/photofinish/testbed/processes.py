"""A resident contestant: started through ``photofinish keep``, so that nothing of it outlives the laboratory."""

import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from photofinish.errors import EnvironmentError_
from photofinish.testbed.build import last_lines
from photofinish.testbed.proc import Footprint, cgroup_members, footprint, is_alive, tree
from photofinish.testbed.stop import StopFlag

START_TIMEOUT_S = 10.0
STOP_GRACE_S = 5.0
EXIT_NEWS_S = 0.5
"""So long the news of a process's end may be behind the end itself."""
FIRST_PAUSE_S = 0.002
LONGEST_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start one contestant."""

    name: str
    """Of its control group and for messages; unique among all that run."""
    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    """Working directory."""
    log: Path
    cpus: Sequence[int]
    stop_signal: str = "TERM"
    stop_timeout_s: float = 3.0
    pipes: tuple[Path, Path] | None = None
    """Two FIFOs: its standard input (commands) and its standard output (answers); None: it has neither."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """How a contestant came to its end."""

    leaked: tuple[str, ...]
    """Commands of processes that outlived their first process."""
    forced: bool
    """The stop signal was not enough."""


class Resident:
    """A running contestant."""

    def __init__(self, engine: Path, launch: Launch) -> None:
        """Starts it; returns once its first process runs.

        Raises:
            EnvironmentError_: ``keep`` could not start the program at all.
        """
        self.launch = launch
        self.started_at = time.monotonic()
        self._exit: dict[str, Any] | None = None
        self._stopped: dict[str, Any] | None = None
        self._how: Stopped | None = None
        self._pending = b""
        argv = [str(engine), "keep", "--cgroup", launch.name, "--cpus", ",".join(map(str, launch.cpus))]
        argv += ["--log", str(launch.log), "--stop-signal", launch.stop_signal]
        if launch.pipes is not None:
            commands, answers = launch.pipes
            argv += ["--commands", str(commands), "--answers", str(answers)]
        argv += ["--stop-timeout-ms", str(round(launch.stop_timeout_s * 1000)), "--", *launch.argv]
        try:
            self._keep = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=launch.folder,
                env=dict(launch.environment),
            )
        except OSError as error:
            what = f"{launch.name} could not be started: {engine}: {error.strerror}"
            raise EnvironmentError_(f"{what}; rebuild the engine, or free processes and descriptors") from error
        started = self._next_event(START_TIMEOUT_S)
        if started is None or started.get("event") != "started":
            self._keep.kill()
            _, errors = self._keep.communicate()
            text = errors.decode(errors="replace").strip() or "it said nothing"
            raise EnvironmentError_(f"{launch.name} could not be started: {text}; check start.argv")
        self.pid: int = started["pid"]
        self.cgroup_v2: str | None = started.get("cgroup_v2")
        self.cpuacct: str | None = started.get("cpuacct")

    def _next_event(self, timeout_s: float) -> dict[str, Any] | None:
        """The next line from ``keep``; None at its end or after the time-out."""
        output: IO[bytes] | None = self._keep.stdout
        if output is None:
            return None
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._pending:
            readable, _, _ = select.select([output], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(output.fileno(), 65_536) if readable else b""
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            event = json.loads(line)
        except ValueError:  # no engine of ours; its end is looked after all the same
            return None
        return event if isinstance(event, dict) else None

    def _collect(self, awaited: str, timeout_s: float) -> None:
        """Takes in events until the awaited one, the end, or a silence of that length."""
        while (event := self._next_event(timeout_s)) is not None:
            if event.get("event") == "exited":
                self._exit = event
            elif event.get("event") == "stopped":
                self._stopped = event
            if event.get("event") == awaited:
                return

    @property
    def end(self) -> str | None:
        """How its first process ended, in words; None while it runs."""
        if self._exit is None:
            self._collect("exited", 0)
        if self._exit is None and is_alive(self.pid):
            return None
        if self._exit is None:
            self._collect("exited", EXIT_NEWS_S)
        if self._exit is None:
            return "ended"
        if self._exit.get("signal") is not None:
            return f"killed by signal {self._exit['signal']}"
        return f"ended with status {self._exit.get('code')}"

    def last_words(self) -> str:
        """The last line of its log that says anything."""
        return last_lines(self.launch.log, 1)

    def pids(self) -> list[int]:
        """All its processes."""
        return (cgroup_members(self.cgroup_v2) if self.cgroup_v2 else []) or tree(self.pid)

    def footprint(self) -> Footprint:
        """Memory and context switches of all its processes, now."""
        return footprint(self.pids())

    def begin_stop(self) -> None:
        """Asks it to end, without waiting."""
        if self._keep.stdin is not None:
            self._keep.stdin.close()

    def finish_stop(self, *, urgent: bool = False) -> Stopped:
        """Waits until nothing of it is left; harmless when repeated."""
        if self._how is not None:
            return self._how
        self.begin_stop()
        before = [] if self._stopped else self.pids()
        self._collect("stopped", 0.5 if urgent else self.launch.stop_timeout_s + STOP_GRACE_S)
        try:
            self._keep.wait(timeout=0.1 if self._stopped is None else STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            _kill_all([*before, *self.pids()])
            self._keep.kill()
            self._keep.wait()
        for stream in (self._keep.stdout, self._keep.stderr):
            if stream is not None:
                stream.close()
        event = self._stopped or {}
        leaked = tuple(str(each.get("command") or each.get("pid")) for each in event.get("leaked") or ())
        self._how = Stopped(leaked, bool(event.get("forced", True)))
        return self._how

    def wait_ready(
        self, address: tuple[str, int], path: str, timeout_s: float, stop: StopFlag | None = None
    ) -> float | None:
        """Asks by HTTP until anything HTTP comes back.

        Returns:
            Seconds from the start to the end of the first answer's first bytes; None if the contestant ended first or
            the time (counted from now) ran out.

        Raises:
            Interrupted: the stop flag was set.
        """
        deadline = time.monotonic() + timeout_s
        pause = FIRST_PAUSE_S
        while (left := deadline - time.monotonic()) > 0 and self.end is None:
            if stop is not None:
                stop.check()
            if answers_http(address, path, min(left, 1.0)):
                taken = time.monotonic() - self.started_at
                return taken if self.end is None else None
            time.sleep(min(pause, max(0.0, left)))
            pause = min(pause * 1.5, LONGEST_PAUSE_S)
        return None


def answers_http(address: tuple[str, int], path: str, timeout_s: float) -> bool:
    """One GET on a connection of its own: does anything that looks like HTTP/1 come back?"""
    request = f"GET {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nConnection: close\r\n\r\n"
    try:
        with socket.create_connection(address, timeout=timeout_s) as connection:
            connection.sendall(request.encode())
            return connection.recv(64).startswith(b"HTTP/1.")
    except OSError:
        return False


def stop_all(residents: Sequence[Resident], *, urgent: bool = False) -> list[Stopped]:
    """Ends all of them, at the same time."""
    for resident in residents:
        resident.begin_stop()
    return [resident.finish_stop(urgent=urgent) for resident in residents]


def _kill_all(pids: Sequence[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
