"""Writes a contestant that works, for its author to change."""

import re
import shutil
from pathlib import Path

from photofinish.contest.manifest import NAME
from photofinish.contest.problems import similar
from photofinish.errors import EnvironmentError_, InputError

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
SUFFIX = ".in"
PLACEHOLDER = "{{name}}"


def suites() -> list[str]:
    """Suites that there are templates for, sorted."""
    return sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir())


def languages(suite: str) -> list[str]:
    """Languages that a suite has templates in, sorted."""
    return sorted(path.name for path in (TEMPLATES / suite).iterdir() if path.is_dir())


def write(suite: str, name: str, language: str, into: Path) -> Path:
    """Writes the folder ``into / name``.

    Args:
        suite: one of ``suites()``.
        name: the contestant's id.
        language: one of ``languages(suite)``.
        into: folder that takes the new one.

    Returns:
        The new folder.

    Raises:
        InputError: an unknown suite or language, a name that is no id, or a folder that is there already.
        EnvironmentError_: it can't be written.
    """
    if suite not in suites():
        raise InputError(f"suite '{suite}': there is no template for it; {similar(suite, suites())}")
    if language not in languages(suite):
        raise InputError(f"--lang {language}: there is no template in it; {similar(language, languages(suite))}")
    if not re.fullmatch(NAME, name):
        raise InputError(f"name '{name}': use small letters, digits and hyphens, such as my-uploader")
    folder = into / name
    try:
        folder.mkdir(parents=True)
        for template in sorted((TEMPLATES / suite / language).iterdir()):
            text = template.read_text(encoding="utf-8").replace(PLACEHOLDER, name)
            (folder / template.name.removesuffix(SUFFIX)).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{folder} is there already; choose another name, or remove it") from None
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # not there before: half of it would be in the next attempt's way
        raise EnvironmentError_(f"{folder}: can't be written ({error.strerror}); use --into another folder") from error
    return folder
