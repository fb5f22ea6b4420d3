"""What must not lose a finished round: kill -9, a full disk, rights taken away, other people's files."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from photofinish.errors import EnvironmentError_, InputError
from photofinish.store import Store
from tests import factories

ROOT = Path(__file__).parents[2]


def test_kill_in_the_middle_of_adding_loses_no_finished_round(tmp_path: Path) -> None:
    path = tmp_path / "s"
    program = textwrap.dedent("""
        import sys
        from dataclasses import replace
        from pathlib import Path
        from photofinish.store import Store
        from tests import factories

        race = factories.race(rounds=1, status="running", cycles=4)
        store = Store.open(Path(sys.argv[1]))
        # The smallest cache: pages of an open transaction are written to the file before it ends.
        store._connection.execute("PRAGMA cache_size = 2")
        store.begin(race.run)
        for index in range(3):
            store.add_round(race.run.id, replace(race.rounds[0], index=index))
        trials = race.rounds[0].trials

        class Endless(tuple):
            def __iter__(self):
                for number in range(10**9):
                    if number == 400:
                        print("in the middle", flush=True)
                    yield trials[number % len(trials)]

        store.add_round(race.run.id, replace(race.rounds[0], index=3, trials=Endless()))
    """)
    child = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdout is not None
    assert child.stdout.readline() == "in the middle\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert path.with_name("s-journal").exists(), "the transaction was open"
    race = factories.race(rounds=1, status="running", cycles=4)
    with Store.open(path) as store:
        found = store.load(race.run.id)
        assert [one.index for one in found.rounds] == [0, 1, 2]
        assert found.rounds[2].trials == race.rounds[0].trials
        store.add_round(race.run.id, replace(race.rounds[0], index=3))
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_full_store_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    race = factories.race(rounds=1, status="running")
    with Store.open(tmp_path / "s") as store:
        store.begin(race.run)
        store.add_round(race.run.id, race.rounds[0])
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(EnvironmentError_, match="the disk is full"):
            store.add_round(race.run.id, replace(race.rounds[0], index=1))
        assert [one.index for one in store.load(race.run.id).rounds] == [0]
        store._connection.execute("PRAGMA max_page_count = 1073741823")
        store.add_round(race.run.id, replace(race.rounds[0], index=1))
        assert len(store.load(race.run.id).rounds) == 2


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_disk_that_is_really_full_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    try:
        race = factories.race(rounds=1, status="running")
        with Store.open(disk / "s") as store:
            store.begin(race.run)
            stored = 0
            try:
                while stored < 100:
                    store.add_round(race.run.id, replace(race.rounds[0], index=stored))
                    stored += 1
            except EnvironmentError_ as error:
                assert "disk" in str(error)  # noqa: PT017 - the loop is what is tested
            assert 0 < stored < 100
        with Store.open(disk / "s") as store:
            assert [one.index for one in store.load(race.run.id).rounds] == list(range(stored))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_limit_on_file_sizes_loses_nothing(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import resource, signal, sys
        from dataclasses import replace
        from pathlib import Path
        from photofinish.errors import EnvironmentError_
        from photofinish.store import Store
        from tests import factories

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        race = factories.race(rounds=1, status="running")
        store = Store.open(Path(sys.argv[1]))
        store.begin(race.run)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        stored = 0
        try:
            while True:
                store.add_round(race.run.id, replace(race.rounds[0], index=stored))
                stored += 1
        except EnvironmentError_ as error:
            print(stored)
            print(error)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "s")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    stored, _, said = done.stdout.partition("\n")
    assert int(stored) > 0
    assert "stored" in said
    with Store.open(tmp_path / "s") as store:
        assert len(store.load(factories.run().id).rounds) == int(stored)


def test_a_store_held_by_another_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with Store.open(path) as store:
        store.begin(factories.run(status="running"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store.open(path, patience_s=0.01) as store:
        with pytest.raises(EnvironmentError_, match="another process holds the store"):
            store.finish(factories.run().id, "finished")
        other.execute("ROLLBACK")
        store.finish(factories.run().id, "finished")
    other.close()


def test_a_text_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a shopping list\n" * 100)
    with pytest.raises(InputError, match="no Photofinish store"):
        Store.open(path)
    assert path.read_text() == "a shopping list\n" * 100


def test_another_programs_database_is_no_store(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other")
    connection.execute("CREATE TABLE runs (id)")
    connection.close()
    before = (tmp_path / "other").read_bytes()
    with pytest.raises(InputError, match="no Photofinish store"):
        Store.open(tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == before


def test_a_store_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    Store.open(tmp_path / "s").close()
    connection = sqlite3.connect(tmp_path / "s")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(InputError, match="newer Photofinish"):
        Store.open(tmp_path / "s")


def test_a_folder_in_the_place_of_the_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentError_, match="can't be opened"):
        Store.open(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(EnvironmentError_, match="another place"):
        Store.open(tmp_path / "taken" / "s")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cant_be_written_is_one_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(EnvironmentError_, match="--store"):
        Store.open(tmp_path / "s")
    tmp_path.chmod(0o700)


def test_a_damaged_store_is_one_clear_error(tmp_path: Path) -> None:
    race = factories.race(rounds=1, status="running")
    with Store.open(tmp_path / "s") as store:
        store.begin(race.run)
        store.add_round(race.run.id, race.rounds[0])
    raw = bytearray((tmp_path / "s").read_bytes())
    raw[4096:] = b"\xa5" * (len(raw) - 4096)
    (tmp_path / "s").write_bytes(raw)
    with pytest.raises(EnvironmentError_, match="damaged"):
        Store.open(tmp_path / "s")
