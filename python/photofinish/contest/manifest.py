"""A contestant's manifest, ``contestant.toml``; the contract is described in ``docs/contestants.md``."""

from typing import Literal

from pydantic import Field

from photofinish.contest.frozen import Frozen


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


Tuning = Literal["default", "tuned", "limit", "reference"]
Protocol = Literal["http/1.1", "http/1.1+tls", "h2", "h2+tls", "h3"]
"""Version and encryption: ``h2`` is HTTP/2 over clear TCP with prior knowledge, ``+tls`` is TLS 1.3, ``h3`` is over QUIC."""
CLEAR: frozenset[Protocol] = frozenset({"http/1.1", "h2"})
"""Protocols without encryption; the others need a certificate, and a port of their own."""
Coding = Literal["identity", "gzip", "deflate", "br", "zstd", "dcb", "dcz"]
"""A content coding by its name in Content-Encoding; ``identity``: none."""
Connections = Literal["keep", "new"]
NAME = r"^[a-z0-9][a-z0-9-]*$"


class Variant(Frozen):
    """One of several contestants from one source and one build; what is None is as in the whole manifest."""

    id: str = Field(pattern=NAME)
    title: str
    description: str | None = None
    language: str | None = None
    version: str | None = None
    url: str | None = None
    tuning: Tuning | None = None
    protocols: tuple[Protocol, ...] | None = Field(default=None, min_length=1)
    connections: tuple[Connections, ...] | None = Field(default=None, min_length=1)
    codings: tuple[Coding, ...] | None = Field(default=None, min_length=1)
    levels: dict[Coding, tuple[int, int]] | None = None
    query: str | None = None
    artifact: str | None = None
    """Instead of ``build.artifact``."""
    argv: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Instead of ``start.argv``: where each has a binary of its own."""
    version_probe: VersionProbe | None = None
    env: dict[str, str] = Field(default_factory=dict)
    """Added to ``start.env``."""


class Manifest(Frozen):
    """A whole ``contestant.toml``."""

    schema_: Literal[1] = Field(alias="schema")
    id: str = Field(pattern=NAME)
    title: str
    suite: str
    language: str
    version: str
    url: str = ""
    tuning: Tuning = "default"
    description: str = ""
    protocols: tuple[Protocol, ...] = Field(default=("http/1.1",), min_length=1)
    """What it can be asked to speak."""
    connections: tuple[Connections, ...] = Field(default=("keep", "new"), min_length=1)
    """Whether it can keep one connection for all repetitions, or make one for each."""
    codings: tuple[Coding, ...] = Field(default=("identity",), min_length=1)
    """Content codings that it can send (a server) or take (a client)."""
    levels: dict[Coding, tuple[int, int]] = Field(default_factory=dict)
    """Lowest and highest level that a server can be asked for, by coding; one that is left out has no levels to choose."""
    query: str = Field(default="", pattern=r"^[!-~]*$")
    """Added to the query of each request to it, where a contestant serves the same path in more than one way."""
    requires: Requires = Requires()
    build: Build = Build()
    start: Start
    ready: Ready = Ready()
    stop: Stop = Stop()
    version_probe: VersionProbe | None = None
    variants: tuple[Variant, ...] = ()
    """With any, the whole is only what they share, and no contestant itself."""
    variant_of: str | None = None
    """Id of the whole whose build this one uses; set when variants are laid out, never in a file."""

    @property
    def build_name(self) -> str:
        """The name of the build, shared by variants."""
        return self.variant_of or self.id

    def contestants(self) -> tuple["Manifest", ...]:
        """The manifests of its contestants: itself, or each variant laid over it."""
        return tuple(self._with(variant) for variant in self.variants) or (self,)

    def _with(self, variant: Variant) -> "Manifest":
        laid = variant.model_dump(exclude={"env", "artifact", "argv", "version_probe"}, exclude_none=True)
        build = self.build
        if variant.artifact is not None:
            build = build.model_copy(update={"artifact": variant.artifact})
        argv = self.start.argv if variant.argv is None else variant.argv
        start = self.start.model_copy(update={"argv": argv, "env": {**self.start.env, **variant.env}})
        return self.model_copy(
            update={
                **laid,
                "build": build,
                "start": start,
                "version_probe": variant.version_probe or self.version_probe,
                "variants": (),
                "variant_of": self.id,
            }
        )
