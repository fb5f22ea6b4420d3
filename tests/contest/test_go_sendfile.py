"""The importable Go module has tests of its own; they run here too, without a network."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[2] / "contestants" / "uploads" / "go-sendfile"
OFFLINE = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off"}
TIME_OUT_S = 300

pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed: see its README")


@pytest.mark.parametrize("arguments", [["vet", "./..."], ["test", "-count=1", "./..."]], ids=["vet", "test"])
def test_the_go_module_passes_its_own_checks(arguments: list[str]) -> None:
    done = subprocess.run(
        ["go", *arguments],
        cwd=MODULE,
        env={**os.environ, **OFFLINE},
        capture_output=True,
        text=True,
        timeout=TIME_OUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
