"""Real rounds over codings and protocols: servers that code as asked, and servers that don't."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import InputError
from photofinish.store import Store
from photofinish.store.records import Race, Run, Trial
from photofinish.trial.race import prepare, run_race
from photofinish.trial.visit.parameters import check
from photofinish.verdict.judge import judge
from tests.trial.test_visit import needs_engine

SERVER = Path(__file__).with_name("coded_server.py")
MODES = (
    "good",
    "ignores-identity",
    "never-codes",
    "lies",
    "cut-off",
    "bomb",
    "other-body",
    "clear-on-tls",
)
SUITE = """
schema = 1
name = "coded"
title = "codings"
question = "?"
driver = "visit"
twins = ["good"]
interleaved = true
contrast = "coding"
front = ["cpu", "bytes"]
contestants = "contestants"

[parameters]
expect = { status = 200, body_bytes = 1200, body_xxh3 = "dbfb787c18ed9e5b" }
load = { mode = "closed", connections = 1 }
window_ms = 4
settle_ms = 1
drain_ms = 400
cycles = 4
warmup_s = 0.1
bounds = { foreign = 1.0, steal = 1.0, rest_void = 1.0 }

[profiles.quick]

[[matrix]]
[[matrix.axes]]
name = "coding"
title = "coding"
values = [
    { id = "identity", title = "identity", parameters = { coding = "identity" } },
    { id = "gzip", title = "gzip", parameters = { coding = "gzip" } },
]
[[matrix.axes]]
name = "protocol"
title = "protocol"
values = [
    { id = "h1", title = "HTTP/1.1", parameters = { protocol = "http/1.1" } },
    { id = "h1-tls", title = "over TLS", parameters = { protocol = "http/1.1+tls" } },
    { id = "h2-tls", title = "HTTP/2 over TLS", parameters = { protocol = "h2+tls" } },
]

[[metrics]]
name = "time"
title = "time"
unit = "µs"
source = "windows"
numerator = "latency_sum_ns"
denominator = "requests"
scale = 1e-3
headline = true

[[metrics]]
name = "cpu"
title = "CPU"
unit = "µs"
source = "windows"
numerator = "cpu_ns"
denominator = "requests"
scale = 1e-3

[[metrics]]
name = "bytes"
title = "bytes"
unit = "B"
source = "windows"
numerator = "wire_bytes"
denominator = "requests"
judged = false
"""
MANIFEST = """
schema = 1
id = "{mode}"
title = "{mode}"
suite = "coded"
language = "Python"
version = "1"
protocols = ["http/1.1", "http/1.1+tls", "h2+tls"]
codings = {codings}

[start]
argv = ["{{python}}", "{server}", "{mode}", "{{address}}", "{{port}}", "{{tls_port}}", "{{certificate}}", "{{key}}"]

[stop]
timeout_s = 0.5
"""


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Race]:
    root = tmp_path_factory.mktemp("codings")
    for mode in MODES:
        folder = root / "contestants" / mode
        folder.mkdir(parents=True)
        codings = '["identity"]' if mode == "clear-on-tls" else '["identity", "gzip"]'
        text = MANIFEST.format(mode=mode, server=SERVER, codings=codings)
        (folder / "contestant.toml").write_text(text, encoding="utf-8")
    (root / "coded.toml").write_text(SUITE, encoding="utf-8")
    suite = load_suite(root / "coded.toml")
    plan = make_plan(suite, "quick", seed=3, rounds=1)
    with Store.open(root / "store.sqlite") as store:
        store.begin(Run("run-1", "2026-01-01T00:00:00+00:00", plan, {}, "running", "test"))
        assert run_race(store, "run-1", prepare(plan, load_all(suite), root / "work")) == "finished"
        yield store.load("run-1")


def trial(race: Race, entry: str, cell: str) -> Trial:
    return next(each for each in race.rounds[0].trials if (each.entry, each.cell) == (entry, cell))


def code(race: Race, entry: str, cell: str) -> str | None:
    void = trial(race, entry, cell).void
    return void.code if void is not None else None


@needs_engine
def test_who_codes_as_asked_counts_on_every_cell_that_it_speaks(race: Race) -> None:
    for entry in ("good", "good~twin"):
        for cell in ("identity-h1", "gzip-h1", "identity-h1-tls", "gzip-h1-tls"):
            assert code(race, entry, cell) is None, trial(race, entry, cell).void


@needs_engine
def test_evidence_of_what_counts_is_the_cell_s_own(race: Race) -> None:
    asked = {cell.id: cell.parameters for cell in race.run.plan.cells}
    counted = [each for each in race.rounds[0].trials if each.void is None]
    assert counted
    for each in counted:
        assert each.evidence["protocol"] == asked[each.cell]["protocol"]
        assert each.evidence["coding"] == asked[each.cell]["coding"]
        assert each.evidence["body_bytes"] == 1200
    assert trial(race, "good", "gzip-h1-tls").evidence["tls_version"] == "1.3"


@needs_engine
@pytest.mark.parametrize(
    ("entry", "cell", "expected"),
    [
        ("ignores-identity", "identity-h1", "wrong-coding"),
        ("ignores-identity", "gzip-h1", None),
        ("never-codes", "gzip-h1", "wrong-coding"),
        ("never-codes", "identity-h1", None),
        ("lies", "gzip-h1", "wrong-coding"),
        ("cut-off", "gzip-h1", "wrong-coding"),
        ("bomb", "gzip-h1", "wrong-coding"),
        ("other-body", "gzip-h1", "wrong-hash"),
        ("good", "gzip-h2-tls", "protocol-mismatch"),
        ("clear-on-tls", "identity-h1-tls", "protocol-mismatch"),
        ("clear-on-tls", "gzip-h1", "not-capable"),
    ],
)
def test_what_is_not_as_asked_is_void_with_its_reason(race: Race, entry: str, cell: str, expected: str | None) -> None:
    assert code(race, entry, cell) == expected, trial(race, entry, cell).void


@needs_engine
def test_the_report_names_no_coding_from_cells_that_are_void(race: Race) -> None:
    contrast = judge(race).contrast
    assert contrast is not None
    groups = {(group.contestant, group.axes["protocol"]) for group in contrast.groups}
    assert ("good", "h1-tls") in groups
    assert ("ignores-identity", "h1") not in groups
    assert ("good", "h2-tls") not in groups


def test_a_level_that_no_coding_has_is_refused_with_the_range(tmp_path: Path) -> None:
    folder = tmp_path / "contestants" / "good"
    folder.mkdir(parents=True)
    text = MANIFEST.format(mode="good", server=SERVER, codings='["identity", "gzip"]')
    (folder / "contestant.toml").write_text(text, encoding="utf-8")
    wrong = SUITE.replace('parameters = { coding = "gzip" }', 'parameters = { coding = "gzip", level = 12 }')
    (tmp_path / "coded.toml").write_text(wrong, encoding="utf-8")
    plan = make_plan(load_suite(tmp_path / "coded.toml"), "quick", seed=3, rounds=1)
    with pytest.raises(InputError, match=r"cells\.gzip-h1\.parameters\.level: gzip has no level 12; it has 1 to 9"):
        check(plan)
