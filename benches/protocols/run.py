"""HTTP/2, HTTP/3, TLS and content codings against their goals: engine and origin beside the programs that people use.

make bench-protocols
.venv/bin/python -m benches.protocols.run [--part NAME…] [--quick] [--json FILE] [--before ENGINE] [--quiche] [--keep]
"""

import argparse
import json
import os
import platform
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benches.goals import Goal, goals_table
from benches.peers.install import install
from benches.protocols import codings, http1, http2, http3, serving
from benches.protocols.progress import Progress, duration
from benches.protocols.servers import Place
from benches.readme import put

from photofinish.testbed.certificates import certificates
from photofinish.testbed.engine import engine_path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCHEMA = "photofinish.bench-protocols/1"
Say = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Told:
    """What a part found out."""

    text: str
    goals: list[Goal]
    figures: Any
    """All of it, for JSON."""


@dataclass(frozen=True, slots=True)
class Part:
    """One question: how long it takes, and what answers it."""

    title: str
    expected_s: float
    measure: Callable[[Say], Told]


def parts(asked: argparse.Namespace, place: Place) -> dict[str, Part]:
    """Those that can be asked, in their order."""
    quick, rounds = asked.quick, asked.rounds
    seconds, cycles = (0.15, 2) if quick else (0.2, 10)
    long_s = 0.2 if quick else 0.8

    def of_http2(say: Say) -> Told:
        seen = http2.measure(place, rounds, seconds, say, quick=quick)
        costs = {f"{c.server}, {c.protocol}, {c.connections} × {c.streams}": s.costs for c, s in seen.items()}
        return Told(http2.text(seen), http2.goals(seen), costs)

    def of_http3(say: Say) -> Told:
        seen = http3.measure(place, rounds, long_s, say, quiche=asked.quiche)
        costs = {f"{server}, {load.title}": series.costs for (server, load), series in seen.items()}
        return Told(http3.text(seen, quiche=asked.quiche), http3.goals(seen), costs)

    def of_origin(say: Say) -> Told:
        seen = serving.measure(place, rounds, cycles, seconds, say)
        costs = {
            how: {f"{protocol}, {load.title}": series.costs for (protocol, load), series in each.items()}
            for how, each in (("windows", seen.windows), ("runs", seen.runs))
        }
        return Told(serving.text(seen), serving.goals(seen), costs)

    def of_codings(say: Say) -> Told:
        how = codings.Asked(asked.work.resolve(), asked.kept.resolve(), rounds, quick)
        seen = codings.measure(how, say)
        return Told(codings.text(seen), codings.goals(seen), codings.figures(seen))

    def of_http1(say: Say) -> Told:
        seen = http1.measure(place, asked.before.resolve(), say, rounds=rounds, cycles=cycles, seconds=seconds)
        costs = {" ".join(key): series.costs for key, series in seen.cpu.items()}
        counts = {" ".join(key): each for key, each in seen.instructions.items()}
        return Told(http1.text(seen), http1.goals(seen), {"cpu_us": costs, "instructions": counts})

    found = {
        "http2": Part("HTTP/2: the load generator", http2.expected_s(rounds, seconds, quick=quick), of_http2),
        "http3": Part("HTTP/3: the load generator", http3.expected_s(rounds, long_s, quiche=asked.quiche), of_http3),
        "origin": Part("HTTP/2: the origin", serving.expected_s(rounds, cycles, seconds), of_origin),
        "codings": Part("Content codings: the origin", codings.expected_s(rounds, quick=quick), of_codings),
    }
    if asked.before is not None:
        found["http1"] = Part("HTTP/1.1, now and before", http1.expected_s(rounds, cycles, seconds), of_http1)
    return found


def conditions(rounds: int) -> str:
    """The class of machine, and the rounds."""
    kernel = re.match(r"\d+\.\d+", platform.release())
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    kind = "a virtual machine" if re.search(r"^flags\s*:.*\bhypervisor\b", flags, re.MULTILINE) else "a machine"
    return f"{rounds} rounds on {kind} with {os.cpu_count()} CPUs, Linux {kernel[0] if kernel else platform.release()}."


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("http2", "http3", "origin", "codings", "http1")
    parser.add_argument("--part", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument("--rounds", type=int, help="of each part [6; 2 with --quick]")
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement: nothing is written")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all figures, a round each")
    parser.add_argument(
        "--before", type=Path, metavar="ENGINE", help="an earlier build, which HTTP/1.1 is held against"
    )
    parser.add_argument("--quiche", action="store_true", help="a client on quiche as well; built if need be")
    parser.add_argument("--keep", action="store_true", help="leave the READMEs as they are")
    parser.add_argument(
        "--work", type=Path, default=ROOT / ".photofinish", help="where contestants are built [%(default)s]"
    )
    parser.add_argument(
        "--kept", type=Path, default=ROOT / "target" / "bench-protocols", help="stores of races [%(default)s]"
    )
    asked = parser.parse_args()
    if asked.rounds is None:
        asked.rounds = 2 if asked.quick else 6
    if asked.rounds < 1:
        parser.error("--rounds takes a number from 1")
    if asked.before is not None and not os.access(asked.before, os.X_OK):
        parser.error(f"{asked.before} is no program: --before takes an earlier build of the engine")
    if asked.part and "http1" in asked.part and asked.before is None:
        parser.error("http1 needs an earlier engine: add --before ENGINE")
    return asked


def main() -> None:
    """Run what is asked for; each part is printed, and written where it belongs, as soon as it is there."""
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no server outlives this process
    if len(os.sched_getaffinity(0)) < 2:
        raise SystemExit("two CPUs are needed, one for clients and one for servers")
    if asked.quiche and (reason := built_quiche()):
        print(f"quiche-client is left out: {reason}", file=sys.stderr)
    engine = engine_path()
    with tempfile.TemporaryDirectory(prefix="photofinish-protocols-") as folder:
        place = Place(engine, certificates(engine, Path(folder) / "certificates"), Path(folder))
        chosen = {name: part for name, part in parts(asked, place).items() if not asked.part or name in asked.part}
        progress = Progress({name: part.expected_s for name, part in chosen.items()})
        print(f"about {duration(sum(progress.expected_s.values()))}", file=sys.stderr)
        told: dict[str, Told] = {}
        for name, part in chosen.items():
            progress.begin(name)
            told[name] = part.measure(progress.say)
            text = f"{conditions(asked.rounds)} {told[name].text}\n\n{goals_table(told[name].goals)}"
            print(f"## {part.title}\n\n{text}\n", flush=True)
            write(asked, name, text, told)


def write(asked: argparse.Namespace, name: str, text: str, told: dict[str, Told]) -> None:
    """Puts a part's text into the README here, all goals so far into that of the benches, all figures into JSON."""
    goals = [goal for each in told.values() for goal in each.goals]
    if asked.json is not None:
        known = {
            part: {"figures": each.figures, "goals": [as_json(goal) for goal in each.goals]}
            for part, each in told.items()
        }
        asked.json.write_text(json.dumps({"schema": SCHEMA, "parts": known}, indent=1) + "\n", encoding="utf-8")
    if asked.quick or asked.keep:
        return
    put(HERE / "README.md", name, text)
    if not asked.part:
        put(HERE.parent / "README.md", "protocols", goals_table(goals))


def as_json(goal: Goal) -> dict[str, Any]:
    """A goal with its outcome."""
    return {
        "what": goal.what,
        "bound": goal.bound,
        "sign": goal.sign,
        "measured": None if goal.measured is None else asdict(goal.measured),
        "outcome": goal.outcome(),
    }


def built_quiche() -> str | None:
    """Builds the client on quiche, which takes minutes the first time; the reason where that fails."""
    return install("quiche-client")


if __name__ == "__main__":
    main()
