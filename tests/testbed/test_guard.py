"""The guard is tried with real processes, as it has to work when nobody is left to ask."""

import os
import subprocess
import sys
import time
from pathlib import Path

from photofinish.testbed.guard import Guard, watch_over

LABORATORY = """
import subprocess, sys, time
from photofinish.testbed.guard import Guard
with Guard() as guard:
    command = subprocess.Popen(["sh", "-c", "sleep 600 & sleep 600"], start_new_session=True)
    guard.watch(command.pid)
    print(command.pid, flush=True)
    time.sleep(600)
"""


def group_is_alive(leader: int) -> bool:
    """Is there a process of this group that is no zombie?"""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            return True
    return False


def test_the_command_under_way_and_its_children_end_when_the_laboratory_is_killed() -> None:
    laboratory = subprocess.Popen([sys.executable, "-c", LABORATORY], stdout=subprocess.PIPE, text=True)
    assert laboratory.stdout is not None
    leader = int(laboratory.stdout.readline())
    assert group_is_alive(leader)
    laboratory.kill()
    laboratory.wait()
    laboratory.stdout.close()
    for _ in range(1000):  # bounded so that a failure ends
        if not group_is_alive(leader):
            break
        time.sleep(0.01)
    assert not group_is_alive(leader)


def test_a_command_that_has_ended_is_never_killed_later() -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as bystander:
        with Guard() as guard:
            guard.watch(bystander.pid)
            guard.rest()
        assert bystander.poll() is None
        bystander.kill()


def test_the_last_whole_line_counts_however_the_pipe_cuts_them() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"12\n0\n3")
    os.write(writing, b"4\n5")
    os.close(writing)
    assert watch_over(reading) == 34
    os.close(reading)
