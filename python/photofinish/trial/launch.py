"""How an entry of a round is started: its command, its environment, its log."""

import math
import os
import random
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from photofinish.contest.placeholders import fill, fill_all
from photofinish.contest.plan import Entry
from photofinish.contest.suite import Suite
from photofinish.errors import EnvironmentError_
from photofinish.testbed.certificates import Certificates, certificates
from photofinish.testbed.proc import available_bytes
from photofinish.testbed.processes import Launch
from photofinish.trial.driver import Bench, RoundTask

ADDRESS = "127.0.0.1"
OURS = "PHOTOFINISH_"
"""Variables with this beginning are ours to tell: one left over in the user's shell would change what is measured."""
MEMORY_SHARE = 0.05
MEMORY_BYTES = 256 * 1024**2
PADDING_BYTES = 4096
"""The environment grows by up to this much, by chance: its length moves the stack, and the stack moves figures
(Mytkowicz et al., ASPLOS 2009)."""


def launch_of(
    task: RoundTask,
    entry: Entry,
    folder: Path,
    padding: random.Random,
    *,
    port: int | None = None,
    tls_port: int | None = None,
    told: Mapping[str, str] | None = None,
    pipes: tuple[Path, Path] | None = None,
) -> Launch:
    """How to start an entry.

    Args:
        task: the round.
        entry: who.
        folder: a fresh empty folder, its working directory.
        padding: source of chance for the environment's length.
        port: the port that it has to listen on, if it listens.
        tls_port: the one for TLS and QUIC, if the suite has such; it is then given a certificate.
        told: further variables of its environment.
        pipes: two FIFOs, for commands to it and answers from it.
    """
    bench = task.bench
    secured = None if tls_port is None else certificates_of(bench)
    values = {
        "source": entry.folder,
        "build": bench.builds[entry.contestant].folder if entry.contestant in bench.builds else "",
        "run": str(folder),
        "address": ADDRESS,
        "port": "" if port is None else str(port),
        "tls_port": "" if tls_port is None else str(tls_port),
        "certificate": "" if secured is None else str(secured.certificate),
        "key": "" if secured is None else str(secured.key),
        "corpus": str(corpus_of(task.plan.suite)),
        "workers": str(task.plan.workers),
        "engine": str(bench.engine or ""),
        "python": sys.executable,
    }
    environment = {
        **{name: text for name, text in os.environ.items() if not name.startswith(OURS)},
        **{f"PHOTOFINISH_{name.upper()}": text for name, text in values.items()},
        **(told or {}),
        **{name: fill(text, values) for name, text in entry.manifest.start.env.items()},
        "PHOTOFINISH_PADDING": "x" * padding.randrange(PADDING_BYTES),
    }
    return Launch(
        name=f"{os.getpid()}-{folder.name}".replace("~", "_"),  # an id may hold hyphens, and no underscore
        argv=fill_all(entry.manifest.start.argv, values),
        environment=environment,
        folder=folder,
        log=log_of(bench, entry),
        cpus=bench.cores.contestants,
        stop_signal=entry.manifest.stop.signal,
        stop_timeout_s=entry.manifest.stop.timeout_s,
        pipes=pipes,
    )


def certificates_of(bench: Bench) -> Certificates:
    """The certificate of a race, made when first asked for.

    Raises:
        EnvironmentError_: it can't be made.
    """
    return certificates(bench.need_engine(), bench.scratch / "certificates")


def corpus_of(suite: Suite) -> Path:
    """The folder of frozen payloads: beside the suite's contestants, in ``corpus`` of the same checkout."""
    return Path(suite.contestants or ".").resolve().parent.parent / "corpus"


def check_memory(running: int, entries: int) -> None:
    """Is enough memory left for what is still to come?

    Raises:
        EnvironmentError_: less than a twentieth of it, or than 256 MiB.
    """
    available, total = available_bytes()
    needed = max(MEMORY_BYTES, math.floor(MEMORY_SHARE * total))
    if available < needed:
        raise EnvironmentError_(
            f"only {available >> 20} MiB of memory are left with {running} of {entries} contestants running;"
            " race fewer at once, or free memory"
        )


def scratch_folder(task: RoundTask, name: str) -> Path:
    """A fresh empty folder of this round.

    Raises:
        EnvironmentError_: it can't be made.
    """
    folder = task.bench.scratch / f"{task.index:04}-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    with _writing(folder):
        folder.mkdir(parents=True)
    return folder


def begin_log(launch: Launch) -> None:
    """Empties the log, or makes it.

    Raises:
        EnvironmentError_: it can't be written.
    """
    with _writing(launch.log):
        launch.log.write_bytes(b"")


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentError_(f"{place}: can't be written ({error.strerror}); free space, or use --work") from error


def log_of(bench: Bench, entry: Entry) -> Path:
    """Where an entry's output goes; each round begins it anew."""
    return bench.scratch / f"{entry.id}.log"
