"""How true the load generator's figures are, and its peers', against a server that knows the truth about itself.

make bench-truth
.venv/bin/python -m benches.truth.run [--seconds 20] [--runs 3] [--quick] [--only machine percentiles rates queue peers] [--keep]
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benches.peers.commands import OURS
from benches.peers.install import installed, version
from benches.readme import put, table
from benches.truth import peers, percentiles, rates, stalls
from benches.truth.server import CLIENT_CPU, SERVER_CPU

from photofinish.testbed.engine import engine_path

README = Path(__file__).parent / "README.md"
QUICK_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every part."""

    engine: Path
    seconds: float
    runs: int
    """Of each percentile case; the table shows medians."""
    quick: bool


def machine_part(asked: Asked) -> str:
    """What the machine does to a program that does nothing."""
    print("machine", file=sys.stderr)
    head = ["CPU", "stalls > 50 µs, 1/s", "> 500 µs, 1/s", "> 2 ms, 1/s", "longest", "time lost in them"]
    return table(head, stalls.rows([CLIENT_CPU, SERVER_CPU], asked.seconds / 2))


def percentile_part(asked: Asked) -> str:
    """True and measured percentiles; says how many passed."""
    results = []
    for case in percentiles.CASES:
        print(f"percentiles: {case.name}", file=sys.stderr)
        runs = [percentiles.measure(asked.engine, case, asked.seconds, seed) for seed in range(asked.runs)]
        results.append(percentiles.median_of(runs))
    compared = [one for result in results for one in result]
    passed = sum(one.within for one in compared)
    head = ["server", *(f"p{share * 100:g}" for share in percentiles.SHARES)]
    text = table(head, percentiles.rows(results))
    return f"{text}\n\n{passed} of {len(compared)} are within 2 % or 50 µs."


def rate_part(asked: Asked) -> str:
    """Rates below and beyond capacity."""
    print("rates", file=sys.stderr)
    below = table(
        ["asked, 1/s", "seen by the server", "error", "the report says"], rates.rate_rows(asked.engine, asked.seconds)
    )
    head = ["asked, 1/s", "can be had", "accepted/s", "error", "verdict"]
    beyond = table(head, rates.overload_rows(asked.engine, asked.seconds))
    return f"{below}\n\nA server with a capacity of exactly {rates.CAPACITY:,} requests/s:\n\n{beyond}"


def queue_part(asked: Asked) -> str:
    """A queue against its formula."""
    print("queue", file=sys.stderr)
    head = ["load", "mean response by theory", "by the server's record", "measured", "standard deviation"]
    return table(head, rates.queue_rows(asked.engine, asked.seconds))


def peer_part(asked: Asked) -> str:
    """One row a bug, one column a load generator."""
    clients = {OURS: asked.engine, **installed()}
    lines = []
    for row in peers.ROWS:
        if row.lengthy and asked.quick:
            continue
        print(f"peers: {row.what}", file=sys.stderr)
        lines.append(peers.measure(asked.engine, row, clients))
    names = [OURS, *(f"{name} {version(name, path)}" for name, path in installed().items())]
    return table(["figure", "known bug", "truth", *names], lines)


PARTS: dict[str, Callable[[Asked], str]] = {
    "machine": machine_part,
    "percentiles": percentile_part,
    "rates": rate_part,
    "queue": queue_part,
    "peers": peer_part,
}


def main() -> None:
    """Run the parts, print their tables, put them into README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each load but the peers'")
    parser.add_argument("--runs", type=int, default=3, help="of each percentile case")
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_SECONDS:g} s a load, once, without the longest row"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--keep", action="store_true", help="leave README.md as it is")
    arguments = parser.parse_args()
    seconds = min(arguments.seconds, QUICK_SECONDS) if arguments.quick else arguments.seconds
    asked = Asked(engine_path(), seconds, 1 if arguments.quick else arguments.runs, arguments.quick)
    for name in arguments.only:
        text = PARTS[name](asked)
        print(f"\n{text}\n")
        if not arguments.keep:
            put(README, name, text)


if __name__ == "__main__":
    main()
