import socket
from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_
from photofinish.testbed.ports import Ports, ephemeral_range, is_free


def test_the_ephemeral_range_is_read_and_has_linuxs_default(tmp_path: Path) -> None:
    path = tmp_path / "range"
    assert ephemeral_range(path) == (32_768, 60_999)
    path.write_text("20000\t30000\n", encoding="ascii")
    assert ephemeral_range(path) == (20_000, 30_000)


def test_ports_lie_outside_the_ephemeral_range_and_each_is_given_once() -> None:
    first, last = ephemeral_range()
    ports = Ports(start=1234)
    taken = [ports.take() for _ in range(50)]
    assert len(set(taken)) == 50
    assert all(not first <= port <= last for port in taken)


def test_a_port_with_a_listener_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not is_free("127.0.0.1", port)


def test_ports_in_use_are_passed_over() -> None:
    free = Ports(start=4321).take()
    with socket.create_server(("127.0.0.1", free)):
        assert Ports(start=4321).take() != free


def test_no_free_port_is_an_error_with_a_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("photofinish.testbed.ports.is_free", lambda *_: False)
    with pytest.raises(EnvironmentError_, match="no free port"):
        Ports().take()
