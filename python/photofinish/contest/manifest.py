"""A contestant's manifest, ``contestant.toml``; the contract is described in ``docs/contestants.md``."""

from typing import Literal

from pydantic import Field

from photofinish.contest.suite import Frozen


class Requires(Frozen):
    """What has to be on the machine before the contestant can be built."""

    tools: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


class Build(Frozen):
    """How to build; every step is an argv, run in the contestant's folder."""

    steps: tuple[tuple[str, ...], ...] = ()
    artifact: str | None = None
    timeout_s: float = 600.0


class Start(Frozen):
    """How to start one process set."""

    argv: tuple[str, ...]
    env: dict[str, str] = Field(default_factory=dict)


class Ready(Frozen):
    """When it is ready."""

    path: str = "/"
    timeout_s: float = 20.0


class Stop(Frozen):
    """How to end it."""

    signal: Literal["TERM", "INT", "QUIT", "HUP"] = "TERM"
    timeout_s: float = 3.0


class VersionProbe(Frozen):
    """A command that prints the version that is really installed."""

    argv: tuple[str, ...]


class Manifest(Frozen):
    """A whole ``contestant.toml``."""

    schema_: Literal[1] = Field(alias="schema")
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    suite: str
    language: str
    version: str
    url: str = ""
    tuning: Literal["default", "tuned", "limit", "reference"] = "default"
    description: str = ""
    requires: Requires = Requires()
    build: Build = Build()
    start: Start
    ready: Ready = Ready()
    stop: Stop = Stop()
    version_probe: VersionProbe | None = None
