"""Finds the native binary and asks it what this kernel can do."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from photofinish.errors import EnvironmentError_

NAME = "photofinish"
VARIABLE = "PHOTOFINISH_ENGINE"


def engine_path() -> Path:
    """``$PHOTOFINISH_ENGINE``, else next to this interpreter, else ``target/release`` of a checkout, else PATH.

    Raises:
        EnvironmentError_: it is nowhere, or the variable names something that is not there.
    """
    if stated := os.environ.get(VARIABLE):
        if os.access(stated, os.X_OK):
            return Path(stated).resolve()
        raise EnvironmentError_(f"{VARIABLE}={stated} is not a program; correct the path or unset it")
    checkout = Path(__file__).resolve().parents[3]
    for path in (Path(sys.executable).parent / NAME, checkout / "target" / "release" / NAME):
        if os.access(path, os.X_OK):
            return path
    if on_path := shutil.which(NAME):
        return Path(on_path)
    raise EnvironmentError_(f"{NAME} was not found; run `make build` in the checkout or set {VARIABLE}")


def probe(engine: Path) -> dict[str, Any]:
    """What ``photofinish probe`` says.

    Raises:
        EnvironmentError_: it failed, or answered something that is not its document.
    """
    try:
        done = subprocess.run([str(engine), "probe"], capture_output=True, text=True, timeout=10, check=False)
        answer = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise EnvironmentError_(f"{engine} probe gave no answer ({error}); rebuild it with `make build`") from error
    if not isinstance(answer, dict) or answer.get("schema") != "photofinish.probe/1":
        raise EnvironmentError_(f"{engine} speaks another version; rebuild it with `make build`")
    return answer
