import json
from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_
from photofinish.testbed.cores import divide_mine
from photofinish.testbed.engine import VARIABLE, engine_path, probe
from photofinish.testbed.environment import fingerprint, package_version


def test_the_fingerprint_is_plain_data_and_says_which_cores_did_what() -> None:
    found = json.loads(json.dumps(fingerprint(None, divide_mine())))
    assert found["cores"]["contestants"]
    assert found["kernel"]
    assert found["memory_bytes"] > 0
    assert found["photofinish"] == package_version()
    assert "net.core.somaxconn" in found["sysctls"]


def test_a_stated_engine_that_is_no_program_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(EnvironmentError_, match="is not a program"):
        engine_path()


def fake_engine(folder: Path, script: str) -> Path:
    path = folder / "engine"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    path.chmod(0o755)
    return path


def test_the_stated_engine_is_taken_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = fake_engine(tmp_path, "true")
    monkeypatch.setenv(VARIABLE, str(path))
    assert engine_path() == path


@pytest.mark.parametrize("script", ["echo nonsense", "exit 3", 'echo \'{"schema": "photofinish.probe/9"}\''])
def test_an_engine_that_answers_nonsense_is_to_be_rebuilt(tmp_path: Path, script: str) -> None:
    with pytest.raises(EnvironmentError_, match="rebuild it"):
        probe(fake_engine(tmp_path, script))
