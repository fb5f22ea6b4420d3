import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_
from photofinish.testbed.engine import engine_path
from photofinish.testbed.proc import is_alive
from photofinish.testbed.processes import Launch, Resident, answers_http, stop_all
from tests.trial.test_visit import needs_engine


def resident(folder: Path, argv: list[str], name: str = "one", **changes: float) -> Resident:
    launch = Launch(
        name=f"test-{os.getpid()}-{name}",
        argv=argv,
        environment=os.environ,
        folder=folder,
        log=folder / f"{name}.log",
        cpus=[max(os.sched_getaffinity(0))],
        stop_timeout_s=changes.get("stop_timeout_s", 1.0),
    )
    launch.log.touch()
    return Resident(engine_path(), launch)


@pytest.fixture
def answering() -> Iterator[tuple[str, int]]:
    """Answers every connection with bytes that look like HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address: tuple[str, int] = listener.getsockname()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield address
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_anything_http_is_an_answer_and_silence_is_none(answering: tuple[str, int]) -> None:
    assert answers_http(answering, "/", 5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = silent.getsockname()
        assert not answers_http(address, "/", 0.05)
    assert not answers_http(address, "/", 0.05)  # nobody listens there any more


@needs_engine
def test_a_resident_can_be_looked_at_and_ends_when_asked(tmp_path: Path) -> None:
    one = resident(tmp_path, ["sh", "-c", "echo hello; sleep 60 & wait"])
    assert one.end is None
    while len(one.pids()) < 2:
        pass
    assert one.footprint().processes == 2
    assert one.last_words() == "hello"
    [stopped] = stop_all([one])
    assert not is_alive(one.pid)
    assert one.finish_stop() == stopped


@needs_engine
def test_ignoring_the_stop_signal_is_answered_with_force(tmp_path: Path) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    one = resident(tmp_path, [sys.executable, "-c", code], stop_timeout_s=0.2)
    while one.last_words() != "deaf":
        pass
    assert one.finish_stop().forced
    assert not is_alive(one.pid)


@needs_engine
def test_the_end_of_the_first_process_is_told(tmp_path: Path) -> None:
    one = resident(tmp_path, ["sh", "-c", "exit 5"])
    while one.end is None:
        pass
    assert one.wait_ready(("127.0.0.1", 9), "/", 10) is None
    assert one.end == "ended with status 5"
    assert one.finish_stop().leaked == ()


@needs_engine
def test_being_ready_is_timed_from_the_start(tmp_path: Path, answering: tuple[str, int]) -> None:
    one = resident(tmp_path, ["sleep", "60"])
    taken = one.wait_ready(answering, "/", 10)
    assert taken is not None
    assert taken > 0
    one.finish_stop()


@needs_engine
def test_a_program_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentError_, match="could not be started"):
        resident(tmp_path, ["./no-such-program"])
