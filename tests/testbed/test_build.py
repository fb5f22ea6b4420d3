import os
import threading
import time
from pathlib import Path

import pytest

from photofinish.contest.loading import Contestant, load_manifests
from photofinish.testbed.build import Builder, BuildError, content_key
from photofinish.testbed.stop import Interrupted, StopFlag
from tests.contestants import write_contestant

ENGINE = Path("/engine")


def contestant(root: Path, build: str, name: str = "one") -> Contestant:
    folder = write_contestant(root, name, ["true"], more=build)
    return Contestant(folder=str(folder), manifest=load_manifests(folder)[0])


def builder(root: Path, stop: StopFlag | None = None) -> Builder:
    return Builder(root / "build", ENGINE, stop)


def test_a_build_leaves_its_artifact_its_time_and_its_version(tmp_path: Path) -> None:
    text = """
    [build]
    steps = [["sh", "-c", "printf 12345 > $PHOTOFINISH_BUILD/x; test -f contestant.toml"], ["cp", "{build}/x", "{build}/y"]]
    artifact = "{build}/y"
    [version_probe]
    argv = ["sh", "-c", "echo; echo one 1.2 >&2"]
    """
    built = builder(tmp_path).build(contestant(tmp_path, text))
    assert built.binary_bytes == 5
    assert built.build_s is not None
    assert built.version_found == "one 1.2"
    assert Path(built.folder).is_dir()


def test_what_is_built_is_not_built_again_and_what_has_changed_is(tmp_path: Path) -> None:
    text = "[build]\nsteps = [['sh', '-c', 'echo x >> {source}/../count']]"
    one = contestant(tmp_path, text)
    count = Path(one.folder).parent / "count"
    first = builder(tmp_path).build(one)
    assert builder(tmp_path).build(one) == first
    assert count.read_text(encoding="ascii") == "x\n"
    (Path(one.folder) / "main.c").write_text("int main;", encoding="ascii")
    second = builder(tmp_path).build(one)
    assert count.read_text(encoding="ascii") == "x\nx\n"
    assert second.folder != first.folder
    assert not Path(first.folder).exists()


def test_another_contestant_whose_name_begins_alike_keeps_its_build(tmp_path: Path) -> None:
    other = builder(tmp_path).build(contestant(tmp_path, "", "one-more"))
    builder(tmp_path).build(contestant(tmp_path, "", "one"))
    assert Path(other.folder).is_dir()


def test_a_readme_and_what_tools_leave_do_not_change_the_key(tmp_path: Path) -> None:
    one = contestant(tmp_path, "")
    key = content_key(one)
    (Path(one.folder) / "README.md").write_text("why", encoding="ascii")
    (Path(one.folder) / "__pycache__").mkdir()
    (Path(one.folder) / "__pycache__" / "x.pyc").write_text("x", encoding="ascii")
    assert content_key(one) == key
    Path(one.folder, "run.sh").write_text("x", encoding="ascii")
    assert content_key(one) != key


@pytest.mark.parametrize(
    ("build", "told"),
    [
        ("steps = [['sh', '-c', 'echo first; echo no compiler; exit 4']]", "status 4.*no compiler"),
        ("steps = [['no-such-tool-at-all']]", "could not be started"),
        ("steps = [['sleep', '60']]\ntimeout_s = 0.3", "longer than build.timeout_s"),
        ("steps = [['true']]\nartifact = '{build}/x'", "the build left no"),
    ],
)
def test_a_failed_build_says_why_and_ends_with_the_last_lines(tmp_path: Path, build: str, told: str) -> None:
    with pytest.raises(BuildError, match=told):
        builder(tmp_path).build(contestant(tmp_path, f"[build]\n{build}"))


def test_a_failed_build_is_tried_again_next_time(tmp_path: Path) -> None:
    text = "[build]\nsteps = [['sh', '-c', 'test -e {source}/../ready']]"
    one = contestant(tmp_path, text)
    built, failed = builder(tmp_path).build_all([one])
    assert built == {}
    assert failed[0].code == "build-failed"
    (Path(one.folder).parent / "ready").touch()
    built, failed = builder(tmp_path).build_all([one])
    assert list(built) == ["one"]
    assert failed == []


def test_progress_is_told_before_each_build(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    both = [contestant(tmp_path, "", name) for name in ("one", "two")]
    builder(tmp_path).build_all(both, lambda *each: told.append(each))
    assert told == [("one", 1, 2), ("two", 2, 2)]


def test_stopping_kills_the_build_with_all_its_children(tmp_path: Path) -> None:
    stop = StopFlag()
    text = "[build]\nsteps = [['sh', '-c', 'sleep 60 & echo $! > {build}/../pid; wait']]"
    one = contestant(tmp_path, text)
    pid_file = tmp_path / "build" / "pid"

    def stop_once_it_runs() -> None:
        while not (pid_file.exists() and pid_file.read_text(encoding="ascii")):
            time.sleep(0.01)
        stop.set()

    thread = threading.Thread(target=stop_once_it_runs)
    thread.start()
    with pytest.raises(Interrupted):
        builder(tmp_path, stop).build(one)
    thread.join()
    pid = int(pid_file.read_text(encoding="ascii"))
    while Path(f"/proc/{pid}/stat").exists() and ") Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="ascii"):
        time.sleep(0.01)  # a killed process that nobody here waits for
    assert os.getpid() != pid


def test_two_builders_do_not_build_the_same_at_once(tmp_path: Path) -> None:
    step = "mkdir {source}/../inside && sleep 0.3 && rmdir {source}/../inside"
    one = contestant(tmp_path, f"[build]\nsteps = [['sh', '-c', '{step}']]")
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(builder(tmp_path).build(one).folder)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    assert len(set(results)) == 1


def test_variants_share_one_build_and_have_a_size_each(tmp_path: Path) -> None:
    text = """
    [build]
    steps = [["sh", "-c", "echo x >> {source}/../count; echo 1 > {build}/a; echo 123 > {build}/b"]]
    [[variants]]
    id = "a"
    title = "A"
    artifact = "{build}/a"
    [[variants]]
    id = "b"
    title = "B"
    artifact = "{build}/b"
    """
    folder = write_contestant(tmp_path, "family", ["true"], more=text)
    both = [Contestant(folder=str(folder), manifest=each) for each in load_manifests(folder)]
    built, failed = builder(tmp_path).build_all(both)
    assert failed == []
    assert [built[each].binary_bytes for each in ("a", "b")] == [2, 4]
    assert built["a"].folder == built["b"].folder
    assert (folder.parent / "count").read_text(encoding="ascii") == "x\n"


def test_contestants_of_one_name_in_two_suites_keep_a_build_each(tmp_path: Path) -> None:
    text = "[build]\nsteps = [['true']]"
    one = builder(tmp_path).build(contestant(tmp_path, text))
    elsewhere = write_contestant(tmp_path / "other", "one", ["true"], more=text, suite="toys")
    builder(tmp_path).build(Contestant(folder=str(elsewhere), manifest=load_manifests(elsewhere)[0]))
    assert Path(one.folder).is_dir()
