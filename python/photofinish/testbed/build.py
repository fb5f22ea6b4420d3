"""Builds contestants: once for each content of their folder, kept between races."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from photofinish.contest.loading import Contestant
from photofinish.contest.placeholders import fill, fill_all
from photofinish.contest.plan import Absence
from photofinish.testbed.stop import Interrupted, StopFlag

BuildProgress = Callable[[str, int, int], None]
"""Called with the contestant's id, its place from 1, and how many there are."""

LAST_LINES = 5
_NOT_CONTENT = {"__pycache__", "node_modules", "target", ".git", "README.md"}


@dataclass(frozen=True, slots=True)
class Built:
    """A contestant that can be started."""

    contestant: str
    folder: str
    """Absolute path; ``{build}`` in the manifest."""
    build_s: float | None
    """Wall time of the build, whenever it happened; None if there is nothing to build."""
    binary_bytes: int | None
    version_found: str | None
    """First line that the version probe printed."""


@dataclass(frozen=True, slots=True)
class _Made:
    """What is kept of a build, beside its folder: the same for all variants."""

    build_s: float | None


class BuildError(Exception):
    """A build failed; the text ends with the last lines of its log."""


class Builder:
    """Builds below one folder, such as ``.photofinish/build``."""

    def __init__(self, root: Path, engine: Path | None, stop: StopFlag | None = None) -> None:
        self._root = root.resolve()
        self._engine = engine
        self._stop = stop or StopFlag()

    def build_all(
        self, contestants: Iterable[Contestant], progress: BuildProgress | None = None
    ) -> tuple[dict[str, Built], list[Absence]]:
        """Builds one after another; those that fail come back as absences, with the mend in their detail.

        Raises:
            Interrupted: the stop flag was set.
        """
        todo = list(contestants)
        built: dict[str, Built] = {}
        failed: list[Absence] = []
        for place, contestant in enumerate(todo, start=1):
            each = contestant.manifest.id
            if progress is not None:
                progress(each, place, len(todo))
            try:
                built[each] = self.build(contestant)
            except BuildError as error:
                failed.append(Absence(contestant=each, code="build-failed", detail=str(error)))
        return built, failed

    def build(self, contestant: Contestant) -> Built:
        """Builds one contestant, or finds it built already.

        Raises:
            BuildError: a step failed, took too long, or did not leave the artifact.
            Interrupted: the stop flag was set.
        """
        name = f"{contestant.manifest.suite}-{contestant.manifest.build_name}"
        folder = self._root / f"{name}-{content_key(contestant)}"
        self._root.mkdir(parents=True, exist_ok=True)
        with self._lock(name):
            stamp = folder.with_suffix(".json")
            known = _read_stamp(stamp) if folder.is_dir() else None
            if known is None:
                self._remove_others(name, folder)
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
            made = known or self._make(contestant, folder)
            built = _describe(contestant, folder, made, self._values(contestant, folder))
            if known is None:
                _write_stamp(stamp, made)
            return built

    def _values(self, contestant: Contestant, folder: Path) -> dict[str, str]:
        return {
            "source": contestant.folder,
            "build": str(folder),
            "engine": str(self._engine or ""),
            "python": sys.executable,
        }

    def _make(self, contestant: Contestant, folder: Path) -> _Made:
        """Runs all steps."""
        manifest = contestant.manifest
        values = self._values(contestant, folder)
        environment = _environment(values)
        log = folder.with_suffix(".log")
        began = time.monotonic()
        deadline = began + manifest.build.timeout_s
        with log.open("wb") as output:
            for step in manifest.build.steps:
                argv = fill_all(step, values)
                output.write(f"$ {' '.join(argv)}\n".encode())
                output.flush()
                problem = self._run_step(argv, contestant.folder, environment, output.fileno(), deadline)
                if problem is not None:
                    raise BuildError(f"`{' '.join(argv)}` {problem}; see {log}; it ended with: {last_lines(log)}")
        return _Made(time.monotonic() - began if manifest.build.steps else None)

    def _run_step(
        self, argv: list[str], cwd: str, environment: dict[str, str], output: int, deadline: float
    ) -> str | None:
        """Runs one step to its end; answers what went wrong, if anything did."""
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            return f"could not be started ({error.strerror})"
        try:
            while True:
                try:
                    code = process.wait(timeout=0.2)
                except subprocess.TimeoutExpired:
                    self._stop.check()
                    if time.monotonic() > deadline:
                        return "took longer than build.timeout_s; raise it"
                else:
                    return None if code == 0 else f"ended with status {code}"
        finally:
            _end_session(process)

    @contextmanager
    def _lock(self, contestant: str) -> Iterator[None]:
        """Two races never build the same contestant at once; the second one waits."""
        with (self._root / f"{contestant}.lock").open("w") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if self._stop.wait(0.2):
                        raise Interrupted from None
            yield

    def _remove_others(self, contestant: str, keep: Path) -> None:
        """Removes builds of the same contestant's earlier contents."""
        ours = re.compile(rf"{re.escape(contestant)}-[0-9a-f]{{16}}(\.json|\.log)?")
        for path in self._root.iterdir():
            if ours.fullmatch(path.name) and path.stem != keep.name:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


def content_key(contestant: Contestant) -> str:
    """16 hex digits that change with any file of the contestant's folder, except its README and what tools leave."""
    digest = hashlib.sha256()
    folder = Path(contestant.folder)
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not _NOT_CONTENT.intersection(relative.parts):
            mode = path.stat().st_mode & 0o111
            digest.update(f"{relative}\0{mode}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    manifest = contestant.manifest
    digest.update(manifest.requires.model_dump_json().encode())
    digest.update(manifest.build.model_dump_json(exclude={"artifact"}).encode())  # variants differ in that alone
    return digest.hexdigest()[:16]


def last_lines(log: Path, count: int = LAST_LINES) -> str:
    """The last lines of a log that say anything, joined by `` | ``."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "(no log)"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-count:]) or "(nothing printed)"


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """Kills whatever of a build step is left, compilers in the background included."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _size(path: Path) -> int | None:
    """Bytes of a file, or of all files below a folder."""
    if path.is_file():
        return path.stat().st_size
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return None


def _first_line(argv: list[str], environment: dict[str, str]) -> str | None:
    try:
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return lines[0] if lines else None


def _environment(values: dict[str, str]) -> dict[str, str]:
    return {**os.environ, **{f"PHOTOFINISH_{name.upper()}": text for name, text in values.items()}}


def _describe(contestant: Contestant, folder: Path, made: _Made, values: dict[str, str]) -> Built:
    """What there is of one contestant in a build that has been made."""
    manifest = contestant.manifest
    size = None
    if manifest.build.artifact is not None:
        artifact = Path(fill(manifest.build.artifact, values))
        size = _size(artifact)
        if size is None:
            log = folder.with_suffix(".log")
            raise BuildError(f"the build left no {artifact}; correct build.artifact or the steps; see {log}")
    found = None
    if manifest.version_probe is not None:
        found = _first_line(fill_all(manifest.version_probe.argv, values), _environment(values))
    return Built(manifest.id, str(folder), made.build_s, size, found)


def _read_stamp(stamp: Path) -> _Made | None:
    try:
        return _Made(**json.loads(stamp.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # not built, or by another version of ours
        return None


def _write_stamp(stamp: Path, made: _Made) -> None:
    """Written last and moved into place: a build that was cut off has no stamp."""
    draft = stamp.with_suffix(".new")
    draft.write_text(json.dumps(asdict(made)), encoding="utf-8")
    draft.replace(stamp)
