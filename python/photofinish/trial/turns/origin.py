"""The origin that one round's contestants send to and fetch from, and what it saw of each of them."""

import http.client
import json
import os
import random
import shutil
from typing import Any

from photofinish.errors import EnvironmentError_
from photofinish.testbed.certificates import Certificates
from photofinish.testbed.processes import Launch, Resident, Stopped
from photofinish.testbed.stop import StopFlag
from photofinish.trial.driver import RoundTask
from photofinish.trial.launch import ADDRESS, PADDING_BYTES, begin_log, certificates_of, scratch_folder
from photofinish.trial.turns.parameters import TurnsParameters

READY_S = 10.0
ANSWER_S = 10.0


class Origin:
    """Our own server, fresh for each round."""

    def __init__(self, task: RoundTask, padding: random.Random, *, spins: bool, secure: bool = False) -> None:
        """Starts it; returns once it answers.

        Args:
            task: the round.
            padding: source of chance for its environment's length.
            spins: it polls instead of sleeping, if it has a CPU apart from the contestants'.
            secure: it also serves TLS and QUIC, with the race's certificate.

        Raises:
            EnvironmentError_: it did not start, or does not answer; there is no certificate.
            Interrupted: the stop flag was set.
        """
        bench = task.bench
        self.address = (ADDRESS, bench.ports.take())
        engine = bench.need_engine()
        self.spins = spins and not bench.cores.shared
        self.certificates: Certificates | None = certificates_of(bench) if secure else None
        self.tls_port = bench.ports.take() if secure else None
        self._folder = scratch_folder(task, "origin~")
        argv = [str(engine), "origin", "--address", ADDRESS, "--port", str(self.address[1])]
        argv += ["--spin"] if self.spins else []
        if self.certificates is not None:
            argv += ["--tls-port", str(self.tls_port), "--certificate", str(self.certificates.certificate)]
            argv += ["--key", str(self.certificates.key)]
        launch = Launch(
            name=f"{os.getpid()}-{task.index:04}-origin",
            argv=argv,
            environment={**os.environ, "PHOTOFINISH_PADDING": "x" * padding.randrange(PADDING_BYTES)},
            folder=self._folder,
            log=bench.scratch / "origin~.log",
            cpus=bench.cores.origin,
        )
        try:
            begin_log(launch)
            self.resident = Resident(engine, launch)
        except EnvironmentError_:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        try:
            self._wait(bench.stop)
        except BaseException:
            self.stop(urgent=True)
            raise

    def _wait(self, stop: StopFlag) -> None:
        if self.resident.wait_ready(self.address, "/info", READY_S, stop) is None:
            words = self.resident.end or f"no answer within {READY_S:g} s"
            raise EnvironmentError_(f"the origin did not start: {words}; its last line: {self.last_words()}")

    def url(self, parameters: TurnsParameters, trial: str) -> str:
        """Where a contestant's repetitions go."""
        scheme, port = ("https", self.tls_port) if parameters.secure else ("http", self.address[1])
        return f"{scheme}://{self.address[0]}:{port}{parameters.route()}?trial={trial}{parameters.query()}"

    def register(self, trial: str, mode: str) -> None:
        """Makes a trial known, or changes whether its bodies are checked (``check``) or only counted (``count``)."""
        self._ask("PUT", f"/trials/{trial}?mode={mode}")

    def evidence(self, trial: str) -> dict[str, Any]:
        """What the origin has seen of a trial so far: ``photofinish.evidence/1``."""
        found = json.loads(self._ask("GET", f"/trials/{trial}"))
        if not isinstance(found, dict) or found.get("schema") != "photofinish.evidence/1":
            raise EnvironmentError_("the origin speaks another version; rebuild the engine with `make build`")
        return found

    def last_words(self) -> str:
        """The last line of its log that says anything."""
        return self.resident.last_words()

    def stop(self, *, urgent: bool = False) -> Stopped:
        """Ends it and removes its folder; harmless when repeated."""
        self.resident.begin_stop()
        how = self.resident.finish_stop(urgent=urgent)
        shutil.rmtree(self._folder, ignore_errors=True)
        return how

    def _ask(self, method: str, target: str) -> bytes:
        """One request on a connection of its own.

        Raises:
            EnvironmentError_: the origin is gone, or refused.
        """
        connection = http.client.HTTPConnection(*self.address, timeout=ANSWER_S)
        try:
            connection.request(method, target)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            words = self.resident.end or str(error)
            raise EnvironmentError_(f"the origin does not answer ({words}); see {self.resident.launch.log}") from error
        finally:
            connection.close()
        if answer.status // 100 != 2:
            said = body.decode(errors="replace").strip()
            raise EnvironmentError_(f"the origin refused {method} {target}: {answer.status} {said}; rebuild the engine")
        return body
