import os
import subprocess
import sys
from pathlib import Path

from photofinish.testbed.counters import read_counters
from photofinish.testbed.proc import available_bytes, cpu_ns, footprint, is_alive, parent_of, tree

STATUS = "Name:\tx\nVmHWM:\t  100 kB\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n"


def write_process(proc: Path, pid: int, parent: int, *, name: str = "x", state: str = "S") -> None:
    folder = proc / str(pid)
    (folder / "task" / str(pid)).mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} ({name}) {state} {parent} 1 1", encoding="ascii")
    (folder / "status").write_text(STATUS, encoding="ascii")
    (folder / "smaps_rollup").write_text("5-6 ---p\nRss: 90 kB\nPss:  40 kB\n", encoding="ascii")
    (folder / "task" / str(pid) / "status").write_text(STATUS, encoding="ascii")
    (folder / "task" / str(pid) / "schedstat").write_text("5000 1 2\n", encoding="ascii")


def test_a_tree_holds_all_descendants_whatever_their_names(tmp_path: Path) -> None:
    write_process(tmp_path, 10, 1)
    write_process(tmp_path, 11, 10, name="a) S 1 (b")
    write_process(tmp_path, 12, 11)
    write_process(tmp_path, 13, 1)
    assert sorted(tree(10, tmp_path)) == [10, 11, 12]
    assert parent_of(11, tmp_path) == 10
    assert tree(99, tmp_path) == []


def test_figures_are_sums_over_processes_and_threads_and_skip_what_has_ended(tmp_path: Path) -> None:
    write_process(tmp_path, 10, 1)
    write_process(tmp_path, 11, 10)
    found = footprint([10, 11, 12], tmp_path)
    assert (found.processes, found.threads) == (2, 2)
    assert found.rss_peak_bytes == 200 * 1024
    assert found.pss_bytes == 80 * 1024
    assert found.context_switches == 20


def test_nothing_to_read_is_unknown_and_not_zero(tmp_path: Path) -> None:
    found = footprint([10], tmp_path)
    assert found.rss_peak_bytes is None
    assert found.pss_bytes is None


def test_a_zombie_is_not_alive(tmp_path: Path) -> None:
    write_process(tmp_path, 10, 1, state="Z")
    write_process(tmp_path, 11, 1, state="R")
    assert not is_alive(10, tmp_path)
    assert is_alive(11, tmp_path)
    assert not is_alive(12, tmp_path)


def test_cpu_comes_from_the_group_and_else_from_the_threads(tmp_path: Path) -> None:
    write_process(tmp_path / "proc", 10, 1)
    write_process(tmp_path / "proc", 11, 10)
    (tmp_path / "cpuacct.usage").write_text("123\n", encoding="ascii")
    (tmp_path / "cpu.stat").write_text("usage_usec 456\nuser_usec 1\n", encoding="ascii")
    assert cpu_ns(10, str(tmp_path), None, tmp_path / "proc") == 123
    assert cpu_ns(10, None, str(tmp_path), tmp_path / "proc") == 456_000
    assert cpu_ns(10, None, None, tmp_path / "proc") == 10_000
    assert cpu_ns(10, str(tmp_path / "gone"), None, tmp_path / "proc") == 10_000


def test_this_process_has_a_footprint() -> None:
    found = footprint([os.getpid()])
    assert found.rss_peak_bytes is not None
    assert found.rss_peak_bytes > 1_000_000
    available, total = available_bytes()
    assert 0 < available <= total


def test_counters_of_the_machine_only_grow() -> None:
    before = read_counters()
    subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)
    after = read_counters()
    assert after.busy_ns >= before.busy_ns
    assert after.steal_ns >= before.steal_ns
    assert after.cpus >= 1


def test_counters_are_read_by_ticks_where_no_group_tells_them(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 10 50 900 0 3 4 20 30 0\ncpu0 1 1 1\n", encoding="ascii")
    counters = read_counters(stat, tmp_path / "none", tmp_path / "none")
    tick = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert counters.busy_ns == (100 + 10 + 50 - 30) * tick
    assert counters.steal_ns == 20 * tick
    assert counters.pressure_ns is None
