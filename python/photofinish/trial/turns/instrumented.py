"""The instrumented passes of one contestant in one cell: never timed, and each in processes of its own."""

import random
import shutil
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from photofinish.contest.plan import Entry
from photofinish.errors import EnvironmentError_
from photofinish.testbed.processes import Launch, Resident
from photofinish.trial.instruments import allocations, system_calls
from photofinish.trial.launch import launch_of, scratch_folder
from photofinish.trial.turns.field import Field
from photofinish.trial.turns.lines import Pipes, Silent, Talk

REPETITIONS = 20
"""Counted in a pass; fewer where they are large."""
MOST_BYTES = 256 << 20
"""Moved in a pass, about."""
SLOWER = 10.0
"""A traced program may take so many times the usual time-out."""
_MOST_COUNTED = 1 << 63
SETTLED_S = 0.05
"""A pause before and after counting, so that what a repetition set off is neither missed nor counted twice."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What one pass over some repetitions has shown."""

    answers: tuple[Mapping[str, Any], ...]
    begin_s: float
    """Seconds since 1970, before the first command."""
    end_s: float
    """After the last answer."""
    before: allocations.Allocated | None = None
    after: allocations.Allocated | None = None


def figures(field: Field, entry: Entry) -> dict[str, float | None]:
    """Everything that can be counted of a contestant; what can't be is None.

    Args:
        field: the cell's, whose origin runs.
        entry: who.

    Raises:
        Interrupted: the stop flag was set.
    """
    one = "upload" if field.parameters.direction == "upload" else "download"
    found: dict[str, float | None] = {
        f"syscalls_per_{one}": None,
        "copied_bytes_per_byte": None,
        f"allocated_bytes_per_{one}": None,
        f"allocations_per_{one}": None,
        "heap_peak_bytes": None,
    }
    padding = field.task.chance(f"padding/instruments/{field.cell.id}/{entry.id}")
    found |= _calls(field, entry, padding, one)
    found |= _allocations(field, entry, padding, one)
    return found


def _repetitions(field: Field) -> int:
    return max(1, min(REPETITIONS, MOST_BYTES // field.parameters.bytes))


def _calls(field: Field, entry: Entry, padding: random.Random, one: str) -> dict[str, float | None]:
    folder = scratch_folder(field.task, f"{entry.id}-calls")
    trace = folder / "trace"
    try:
        launch, pipes = _launch(field, entry, folder, padding, {})
        argv = system_calls.command(launch.argv, trace)
        if argv is None:
            return {}
        counted = _run(field, entry, replace(launch, argv=argv), pipes, None)
        if counted is None:
            return {}
        with trace.open(encoding="utf-8", errors="replace") as lines:
            calls = system_calls.read(lines, counted.begin_s, counted.end_s)
    except OSError:  # no room for the trace, or the program took it away: its working directory holds it
        return {}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    count = len(counted.answers)
    copied = calls.copied_bytes
    return {
        f"syscalls_per_{one}": calls.total / count,
        "copied_bytes_per_byte": copied / (count * field.parameters.bytes) if copied is not None else None,
    }


def _allocations(field: Field, entry: Entry, padding: random.Random, one: str) -> dict[str, float | None]:
    folder = scratch_folder(field.task, f"{entry.id}-heap")
    told = {"PHOTOFINISH_COUNT": "1", "PYTHONMALLOC": "malloc"}
    library = allocations.library(field.task.bench.scratch.parent / "instruments")
    try:
        with allocations.Counters(folder / "allocations") as counters:
            if library is not None:
                told |= {"LD_PRELOAD": str(library), allocations.VARIABLE: str(folder / "allocations")}
            launch, pipes = _launch(field, entry, folder, padding, told)
            counted = _run(field, entry, launch, pipes, counters)
    except OSError:  # no room for the counters
        return {}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if counted is None:
        return {}
    return _by_the_language(counted, one) or _by_the_library(counted, one)


def _by_the_language(counted: Counted, one: str) -> dict[str, float | None]:
    """The median over repetitions of what the answers say; empty if they say nothing of allocations."""
    keys = {
        "allocated_bytes": f"allocated_bytes_per_{one}",
        "allocations": f"allocations_per_{one}",
        "heap_bytes": "heap_peak_bytes",
    }
    found: dict[str, float | None] = {}
    for said, name in keys.items():
        values = [answer[said] for answer in counted.answers if _is_count(answer.get(said))]
        if values:
            found[name] = max(values) if said == "heap_bytes" else statistics.median(values)
    return found


def _is_count(value: object) -> bool:
    """A number that a count can be: what a program says may be anything, and NaN can't be stored."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_COUNTED


def _by_the_library(counted: Counted, one: str) -> dict[str, float | None]:
    before, after = counted.before, counted.after
    if before is None or after is None or after.calls == 0:  # not loaded, or a program without malloc
        return {}
    count = len(counted.answers)
    return {
        f"allocated_bytes_per_{one}": (after.bytes - before.bytes) / count,
        f"allocations_per_{one}": (after.calls - before.calls) / count,
        "heap_peak_bytes": float(after.peak_bytes),
    }


def _launch(
    field: Field, entry: Entry, folder: Path, padding: random.Random, told: Mapping[str, str]
) -> tuple[Launch, Pipes]:
    trial = f"{field.task.index}.{field.cell.id}.{folder.name}"
    field.origin.register(trial, "count")
    pipes = Pipes.make(folder)
    environment = {**field.told(trial), **told}
    launch = launch_of(field.task, entry, folder, padding, told=environment, pipes=(pipes.commands, pipes.answers))
    return replace(launch, log=folder / "log"), pipes


def _run(
    field: Field, entry: Entry, launch: Launch, pipes: Pipes, counters: allocations.Counters | None
) -> Counted | None:
    """Starts it, lets it repeat once and then often, ends it; None if it did not do all of that.

    A program that can't be traced (or bear the library) loses these figures alone.
    """
    try:
        resident = Resident(field.task.bench.need_engine(), launch)
    except EnvironmentError_:
        return None
    stop, timeout_s = field.task.bench.stop, SLOWER * field.parameters.repetition_timeout_s
    try:
        with Talk(pipes) as talk:
            talk.hear(SLOWER * entry.manifest.ready.timeout_s, lambda: resident.end, stop)
            _repeat(talk, resident, 1, timeout_s, field)
            time.sleep(SETTLED_S)
            if counters is not None:
                counters.forget_peak()
            before, begin_s = counters.read() if counters else None, time.time()
            answers = _repeat(talk, resident, _repetitions(field), timeout_s, field)
            end_s, after = time.time(), counters.read() if counters else None
            time.sleep(SETTLED_S)
    except Silent:
        return None
    finally:
        resident.begin_stop()
        resident.finish_stop(urgent=stop.urgent)
    if any(answer.get("status") != 200 for answer in answers):
        return None
    return Counted(tuple(answers), begin_s, end_s, before, after)


def _repeat(talk: Talk, resident: Resident, count: int, timeout_s: float, field: Field) -> list[dict[str, Any]]:
    answers = []
    for _ in range(count):
        talk.say("go")
        answers.append(talk.hear(timeout_s, lambda: resident.end, field.task.bench.stop))
    return answers
