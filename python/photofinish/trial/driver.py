"""What a driver is: it knows how to make one round of a suite's trials, and nothing of contests or statistics."""

import importlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from photofinish.contest.plan import Plan
from photofinish.errors import EnvironmentError_, InputError
from photofinish.store.records import Round
from photofinish.testbed.build import Built
from photofinish.testbed.cores import Cores
from photofinish.testbed.ports import Ports
from photofinish.testbed.stop import StopFlag

Report = Callable[[str, str | None], None]
"""Called at the start of each phase with its name and the cell, if it concerns one; never inside a window."""

BUILT_IN = {
    "visit": "photofinish.trial.visit.driver:VisitDriver",
    "turns": "photofinish.trial.turns.driver:TurnsDriver",
    "command": "photofinish.trial.command:CommandDriver",
}


@dataclass(frozen=True, slots=True)
class Bench:
    """What of this machine the rounds of a race use."""

    engine: Path | None
    cores: Cores
    ports: Ports
    scratch: Path
    """Folder for what runs: working directories, logs."""
    builds: Mapping[str, Built]
    stop: StopFlag

    def need_engine(self) -> Path:
        """The engine's path.

        Raises:
            EnvironmentError_: there is none.
        """
        if self.engine is None:
            raise EnvironmentError_("this suite's driver needs the engine; run `make build`")
        return self.engine


@dataclass(frozen=True, slots=True)
class RoundTask:
    """One round to be made."""

    plan: Plan
    index: int
    seed: int
    bench: Bench
    counted: int = 0
    """Rounds before it that count."""

    def chance(self, purpose: str) -> random.Random:
        """A source of chance of its own for each purpose, so that a new one never shifts the others."""
        return random.Random(f"{self.seed}/{purpose}")  # noqa: S311 - reproducible on purpose


class Driver(Protocol):
    """Makes rounds."""

    needs_engine: bool
    """False: it works on a machine without ``the engine`` too."""

    def check(self, plan: Plan) -> None:
        """Looks at the plan's parameters before anything starts.

        Raises:
            InputError: all that is wrong with them.
        """
        ...

    def expected_s(self, plan: Plan) -> float:
        """A rough guess of a round's length, until there are finished ones to go by."""
        ...

    def run_round(self, task: RoundTask, report: Report) -> Round:
        """Starts, drives, measures, gates and ends everything of one round.

        Raises:
            Interrupted: the stop flag was set; nothing of the round is left running.
            EnvironmentError_: the machine can't do it.
        """
        ...


def load_driver(name: str) -> Driver:
    """A built-in driver, or the class that ``package.module:Class`` names.

    Raises:
        InputError: there is no such driver.
    """
    where = BUILT_IN.get(name, name)
    module, _, attribute = where.partition(":")
    if not attribute:
        raise InputError(f"driver '{name}': known are {', '.join(sorted(BUILT_IN))}; or name it package.module:Class")
    try:
        driver: Driver = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError) as error:
        raise InputError(f"driver '{name}': {error}; correct the suite's `driver`, or install the package") from error
    return driver
