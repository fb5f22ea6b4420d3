"""What sending and sinking an upload cost: the ways to sink, one pair against iperf3, and the suite against its goals.

make bench-uploads
.venv/bin/python -m benches.uploads.run [--part sinks|iperf|race|origin] [--rounds N] [--keep]
"""

import argparse
import os
import platform
import re
import sys
from collections.abc import Callable
from pathlib import Path

from benches.readme import put
from benches.uploads import iperf, race, sinks

from photofinish.testbed.engine import engine_path
from photofinish.testbed.payload import payload_file

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ROUNDS = {"sinks": 12, "iperf": 20, "race": 11, "origin": 7}
SENT_BYTES = 100 << 20


def conditions(command: str) -> str:
    """The command, and the class of machine."""
    kernel = re.match(r"\d+\.\d+", platform.release())
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    kind = "a virtual machine" if re.search(r"^flags\s*:.*\bhypervisor\b", flags, re.MULTILINE) else "a machine"
    return f"`{command}` on {kind} with {os.cpu_count()} CPUs, Linux {kernel[0] if kernel else platform.release()}."


def parts(work: Path, kept: Path, seed: int) -> dict[str, Callable[[int], str]]:
    """What measures each part, given the rounds, and makes its text."""

    def of_sinks(rounds: int) -> str:
        return sinks.text(sinks.run(payload_file(work / "run" / "payload", SENT_BYTES), rounds, seed))

    def of_iperf(rounds: int) -> str:
        return iperf.text(iperf.run(engine_path(), work, rounds, seed))

    def of_race(rounds: int) -> str:
        return race.text(race.race(work, kept, rounds, seed))

    def of_origin(rounds: int) -> str:
        return race.text(race.race(work, kept, rounds, seed, origin_sleeps=True), race.origin_goals)

    return {"sinks": of_sinks, "iperf": of_iperf, "race": of_race, "origin": of_origin}


def main() -> None:
    """Run what is asked for; each part's text is printed and put into the README as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=ROUNDS, help="only this one; may be repeated")
    parser.add_argument("--rounds", type=int, help=f"instead of {ROUNDS}")
    parser.add_argument("--seed", type=int, default=1, help="of all orders [%(default)s]")
    parser.add_argument("--work", type=Path, default=ROOT / ".photofinish", help="builds and payloads [%(default)s]")
    parser.add_argument(
        "--kept", type=Path, default=ROOT / "target" / "bench-uploads", help="the race's store and JSON"
    )
    parser.add_argument("--keep", action="store_true", help="leave the README as it is")
    arguments = parser.parse_args()
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error("--rounds takes a number from 1")
    if len(os.sched_getaffinity(0)) < 2:
        raise SystemExit("two CPUs are needed, one for the sender and one for the sink")
    measured = parts(arguments.work.resolve(), arguments.kept.resolve(), arguments.seed)
    for name in arguments.part or ROUNDS:
        if name == "iperf" and not arguments.part and (missing := iperf.missing()):
            print(f"iperf is left out: {missing}", file=sys.stderr)
            continue
        rounds = arguments.rounds or ROUNDS[name]
        command = f"python -m benches.uploads.run --part {name} --rounds {rounds} --seed {arguments.seed}"
        text = f"{conditions(command)} {measured[name](rounds)}"
        print(f"## {name}\n\n{text}\n", flush=True)
        if not arguments.keep:
            put(HERE / "README.md", name, text)
            print(f"{name}: written to {HERE / 'README.md'}", file=sys.stderr)


if __name__ == "__main__":
    main()
