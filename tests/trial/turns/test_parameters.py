"""Parameters of cells whose responses are decoded and parsed."""

from pathlib import Path
from typing import Any

import pytest

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import InputError
from photofinish.trial.turns.parameters import TurnsParameters, check
from tests.contestants import write_contestant, write_suite

CODED: dict[str, Any] = {"direction": "download", "bytes": 6, "patients": 1, "coding": "gzip"}


def problems(root: Path, **changes: Any) -> str:
    """What ``check`` says of one cell; empty if it is content."""
    (root / "corpus").mkdir()
    (root / "corpus" / "patients-1.json").write_text("[null]", encoding="utf-8")
    write_contestant(root, "one", ["true"], codings=["gzip", "identity"])
    parameters = {name: value for name, value in {**CODED, **changes}.items() if value is not None}
    lines = [
        f"{name} = {str(value).lower() if isinstance(value, bool) else repr(value)}"
        for name, value in parameters.items()
    ]
    suite = load_suite(write_suite(root, driver="turns", body="\n".join(["[cells.parameters]", *lines])))
    plan = make_plan(suite, "quick", rounds=1, seed=1)
    assert load_all(suite)
    try:
        check(plan)
    except InputError as error:
        return str(error)
    return ""


def test_a_coded_cell_that_fits_the_corpus_is_accepted(tmp_path: Path) -> None:
    assert problems(tmp_path, level=9) == ""


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"level": 10}, "level: gzip has no level 10; it has 1 to 9"),
        ({"coding": "lzma"}, "coding: input should be"),
        ({"coding": None}, "coding: patients are fetched in a coding"),
        ({"patients": None}, "coding: only patients are coded"),
        ({"patients": None, "coding": None, "fresh": True}, "fresh: only patients are coded"),
        ({"patients": 4}, "patients-4.json can't be read"),
        ({"patients": 3}, "patients: input should be"),
        ({"bytes": 7}, "bytes: patients-1.json has 6; write that"),
        ({"direction": "upload"}, "patients: they are fetched"),
        ({"coding": "br"}, "not one of the contestants can do it"),
        ({"protocol": "h2+tls"}, "not one of the contestants can do it"),
    ],
)
def test_what_can_not_be_fetched_is_told_by_its_name_and_range(
    tmp_path: Path, changes: dict[str, Any], wanted: str
) -> None:
    assert wanted in problems(tmp_path, **changes)


def test_routes_say_what_is_asked_for() -> None:
    def target(**changes: Any) -> str:
        parameters = TurnsParameters(**{"direction": "download", "bytes": 6, **changes})
        return f"{parameters.route()}?trial=t{parameters.query()}"

    assert target() == "/test/6?trial=t"
    assert target(direction="upload") == "/upload?trial=t&hash=sha256"
    assert target(fault="status:404") == "/test/6?trial=t&fault=status:404"
    assert target(patients=64, coding="br") == "/patients/64?trial=t&from=cache"
    assert target(patients=64, coding="br", level=5, fresh=True) == "/level/5/patients/64?trial=t"


def test_encryption_is_a_matter_of_the_protocol() -> None:
    spoken = ("http/1.1", "http/1.1+tls", "h2", "h2+tls", "h3")
    secure = [name for name in spoken if TurnsParameters(direction="download", bytes=1, protocol=name).secure]
    assert secure == ["http/1.1+tls", "h2+tls", "h3"]
