import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_, InputError
from photofinish.store import Store
from photofinish.store.connection import APPLICATION_ID, migrations
from photofinish.store.records import Race, Window
from tests import factories


def fill(path: Path, race: Race) -> None:
    with Store.open(path) as store:
        store.begin(replace(race.run, status="running"))
        for one in race.rounds:
            store.add_round(race.run.id, one)
        store.finish(race.run.id, race.run.status)


def test_a_race_comes_back_as_it_was_added(tmp_path: Path) -> None:
    race = factories.race(rounds=3)
    path = tmp_path / "deep" / "folder" / "store.sqlite"
    fill(path, race)
    with Store.open(path) as store:
        assert store.load(race.run.id) == race


def test_windows_that_carry_different_values_come_back_too(tmp_path: Path) -> None:
    race = factories.race(rounds=1)
    trial = race.rounds[0].trials[0]
    odd = (Window(0, 0, {"a": 1, "b": None}), Window(1, 0, {"b": 2.5}, void="drain-incomplete"), Window(2, 1, {}))
    race = replace(race, rounds=(replace(race.rounds[0], trials=(replace(trial, windows=odd),)),))
    fill(tmp_path / "s", race)
    with Store.open(tmp_path / "s") as store:
        assert store.load(race.run.id) == race


def test_summaries_count_rounds_and_voids(tmp_path: Path) -> None:
    fill(tmp_path / "s", factories.race(rounds=3))
    with Store.open(tmp_path / "s") as store:
        (summary,) = store.runs()
    assert (summary.suite, summary.profile, summary.status) == ("servers", "quick", "finished")
    assert (summary.entries, summary.rounds_planned, summary.rounds_stored, summary.rounds_void) == (8, 3, 3, 1)


def test_runs_resolve_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as store:
        for name in ("20260101-0000-zzz", "20260101-0000-aaa"):
            store.begin(factories.run(id=name))
        assert store.resolve("latest") == "20260101-0000-aaa"
        assert store.resolve("latest~1") == "20260101-0000-zzz"
        with pytest.raises(InputError, match="fits 2 runs"):
            store.resolve("2026")


def test_a_long_race_stays_small(tmp_path: Path) -> None:
    names = [f"contestant-{number}" for number in range(10)]
    race = factories.race(rounds=20, costs_us={"origin": 5.0} | dict.fromkeys(names[:9], 9.0))
    cell = race.run.plan.cells[0].id
    rounds = tuple(
        replace(one, trials=tuple(trial for trial in one.trials if trial.cell == cell)) for one in race.rounds
    )
    assert sum(len(trial.windows) for one in rounds for trial in one.trials) >= 20 * 10 * 40
    fill(tmp_path / "s", replace(race, rounds=rounds))
    assert (tmp_path / "s").stat().st_size < 2 * 1024 * 1024


@pytest.mark.parametrize("table", ["rounds", "trials", "windows", "histograms", "runs"])
def test_nothing_stored_can_be_deleted(tmp_path: Path, table: str) -> None:
    fill(tmp_path / "s", factories.race(rounds=1))
    connection = sqlite3.connect(tmp_path / "s")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a fixed list
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE rounds SET duration_s = 1",
        "UPDATE trials SET figures = '{}'",
        "UPDATE windows SET packed = x''",
        "UPDATE histograms SET encoded = x''",
        "UPDATE runs SET plan = '{}'",
        "UPDATE runs SET status = 'running'",
    ],
)
def test_nothing_stored_can_be_changed(tmp_path: Path, change: str) -> None:
    fill(tmp_path / "s", factories.race(rounds=1))
    connection = sqlite3.connect(tmp_path / "s")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(change)
    connection.close()


def test_the_status_moves_forward_only_and_an_interrupted_run_can_be_resumed(tmp_path: Path) -> None:
    race = factories.race(rounds=2)
    with Store.open(tmp_path / "s") as store:
        store.begin(replace(race.run, status="running"))
        store.add_round(race.run.id, race.rounds[0])
        store.finish(race.run.id, "interrupted")
        store.add_round(race.run.id, race.rounds[1])
        store.finish(race.run.id, "finished")
        with pytest.raises(InputError, match="only moves forward"):
            store.finish(race.run.id, "interrupted")
        with pytest.raises(InputError, match="takes no more rounds"):
            store.add_round(race.run.id, replace(race.rounds[1], index=9))
        assert store.runs()[0].status == "finished"


def test_a_status_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as store:
        store.begin(factories.run(status="running"))
        with pytest.raises(InputError):
            store.finish(factories.run().id, "won")


def test_repetition_and_strangers_are_refused(tmp_path: Path) -> None:
    race = factories.race(rounds=1, status="running")
    with Store.open(tmp_path / "s") as store:
        store.begin(race.run)
        store.add_round(race.run.id, race.rounds[0])
        with pytest.raises(InputError, match="begun once"):
            store.begin(race.run)
        with pytest.raises(InputError, match="never rewritten"):
            store.add_round(race.run.id, race.rounds[0])
        with pytest.raises(InputError, match="is not in"):
            store.load("20200101-0000-aaa")
        assert len(store.load(race.run.id).rounds) == 1


def test_a_number_that_is_none_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    race = factories.race(rounds=1, status="running")
    trial = replace(race.rounds[0].trials[3], figures={"x": float("nan")})
    with Store.open(tmp_path / "s") as store:
        store.begin(race.run)
        with pytest.raises(InputError, match="has to be None"):
            store.add_round(race.run.id, replace(race.rounds[0], trials=(*race.rounds[0].trials, trial)))
        assert store.load(race.run.id).rounds == ()


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_opening_again_changes_no_byte(tmp_path: Path) -> None:
    fill(tmp_path / "s", factories.race(rounds=1))
    before = (tmp_path / "s").read_bytes()
    Store.open(tmp_path / "s").close()
    assert (tmp_path / "s").read_bytes() == before
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


def test_the_file_is_marked_as_ours(tmp_path: Path) -> None:
    Store.open(tmp_path / "s").close()
    connection = sqlite3.connect(tmp_path / "s")
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_reading_needs_a_store_that_exists(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no store"):
        Store.open(tmp_path / "s", read_only=True)
    assert not (tmp_path / "s").exists()


def test_a_store_opened_for_reading_refuses_to_write(tmp_path: Path) -> None:
    race = factories.race(rounds=1, status="running")
    fill(tmp_path / "s", race)
    with Store.open(tmp_path / "s", read_only=True) as store:
        assert len(store.load(race.run.id).rounds) == 1
        with pytest.raises(EnvironmentError_, match="can't be written"):
            store.add_round(race.run.id, replace(race.rounds[0], index=5))
