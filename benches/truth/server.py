"""``photofinish scripted`` as a process: started with a script, ended with its truth."""

import json
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SERVER_CPU, CLIENT_CPU = 1, 0


class Scripted:
    """A scripted server on a CPU of its own, polling, so that no request waits for it to wake up."""

    def __init__(self, engine: Path, *script: str, spin: bool = True) -> None:
        argv = [
            str(engine),
            "scripted",
            "--port",
            "0",
            "--cpu",
            str(SERVER_CPU),
            *(["--spin"] if spin else []),
            *script,
        ]
        self._process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        line = self._output.readline()
        if not line:
            raise RuntimeError(f"{' '.join(argv)} did not start")
        self.url = f"http://127.0.0.1:{json.loads(line)['port']}/"

    @property
    def _output(self) -> Any:
        return self._process.stdout

    def truth(self) -> dict[str, Any]:
        """Ends the server; what it says that it did (``photofinish.truth/1``)."""
        self._process.send_signal(signal.SIGTERM)
        truth: dict[str, Any] = json.loads(self._output.read())
        self._process.wait()
        return truth

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def load(engine: Path, url: str, *arguments: str) -> dict[str, Any]:
    """The report of ``photofinish load`` on a CPU of its own, which it polls on."""
    argv = [
        "taskset",
        "-c",
        str(CLIENT_CPU),
        str(engine),
        "load",
        url,
        "--json",
        "--quiet",
        "--no-self-check",
        "--spin",
        *arguments,
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report
