"""Is a verdict right? The reference server raced against itself, and against itself made 2 % dearer.

Parts: aa (two identical contestants: at most one race in a hundred may name a winner), slower (2 % dearer: has to lose in
95 % of the races) and spread (of the A/A ratio between fresh pairs of processes, by length of window). Every result is
kept as one line of JSON as it comes, so a bench that was broken off goes on where it was; README.md is written from them.
"""

import argparse
import json
import math
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from photofinish.contest.plan import Plan
from photofinish.store.records import Race
from photofinish.testbed.stop import Interrupted, StopFlag
from photofinish.trial.driver import Bench
from photofinish.verdict.judge import judge
from photofinish.verdict.power import fewest_rounds
from photofinish.verdict.readings import counted_rounds, read

sys.path.insert(0, str(Path(__file__).parent))
import races
import tables

HERE = Path(__file__).parent
RECORDED = {"aa": 6, "slower": 2, "spread": 16}
"""So many items of each part (of spread: pairs, a length of window) keep their raw windows."""
WINDOWS_MS = (10, 20, 100, 500)
MOST_TRIES = 5
"""A race whose rounds were dropped for interference is run again, at most so often; the count is kept."""
BASE_NS = 3000
"""Both sides burn this much: the plain server costs no more than the generator, and then a server that works more only
waits, and wakes, less. Some 6.5 µs a request, as in the middle of a field, make the server the bottleneck."""
HANDICAP = 0.02
FIRST_SPEND_NS = 130
PAIR_S = 4.0
"""Time in windows of one pair, whatever their length."""
KEPT = "spread-20-kept"
"""Windows of 20 ms over connections that stay open for the whole round."""
Line = dict[str, Any]


class TooBusyError(Exception):
    """Other programs took so much of the machine that too few rounds count: a rule that does not see the outcome."""


def aa(index: int, on: Bench, _results: list[Line]) -> Line:
    """One race of two identical contestants, with the fewest rounds that can name a winner."""
    decided = races.plan(
        {"one": 0, "other": 0}, seed=1000 + index, rounds=fewest_rounds(1, 0.05), cycles=20, window_ms=15, warmup_s=0.2
    )
    return _raced("aa", index, decided, on)


def slower(index: int, on: Bench, results: list[Line]) -> Line:
    """One race of at most two minutes between the plain server, its twin, and one that burns 2 % more."""
    (calibrated,) = [line for line in results if line["part"] == "calibrate"]
    decided = races.plan(
        {"origin": BASE_NS, "dearer": BASE_NS + calibrated["spend_ns"]},
        seed=2000 + index,
        rounds=20,
        cycles=40,
        window_ms=15,
        warmup_s=0.3,
        twin_of="origin",
    )
    return _raced("slower", index, decided, on)


def _raced(part: str, index: int, decided: Plan, on: Bench) -> Line:
    began = time.monotonic()
    raced = races.race(decided, on)
    verdict = judge(raced)
    if verdict.rounds_counted < decided.rounds:
        raise TooBusyError(f"{verdict.rounds_counted} of {decided.rounds} rounds count")
    metric = verdict.cells[0].metrics[0]
    (pair,) = metric.pairs
    line = {
        "part": part,
        "index": index,
        "outcome": pair.outcome,
        "ratio": pair.ratio,
        "low": pair.low,
        "high": pair.high,
        "p": pair.p,
        "delta": metric.delta,
        "floor": metric.floor,
        "rounds": pair.rounds,
        "voids": {f"{void.entry or 'round'}: {void.code}": void.count for void in verdict.voids},
        "duration_s": time.monotonic() - began,
    }
    return line | ({"windows": races.windows(raced)} if index < RECORDED[part] else {})


def calibrate(_index: int, on: Bench, _results: list[Line]) -> Line:
    """How much --spend-ns makes a request 2 % dearer, found by racing: a server that works more also batches more."""
    spend, seen = FIRST_SPEND_NS, []
    for attempt in range(MOST_TRIES):
        decided = races.plan(
            {"plain": BASE_NS, "burning": BASE_NS + spend},
            seed=3000 + attempt,
            rounds=20,
            cycles=40,
            window_ms=15,
            warmup_s=0.3,
        )
        raced = races.race(decided, on)
        if len(counted_rounds(raced)) < decided.rounds:
            raise TooBusyError("the calibration lost rounds")
        ratio = judge(raced).cells[0].metrics[0].pairs[0].ratio
        if ratio is None or ratio <= 1:
            raise TooBusyError("the calibration saw no effect of --spend-ns")
        seen.append({"spend_ns": spend, "ratio": ratio})
        if abs(ratio - 1 - HANDICAP) < HANDICAP / 8:
            break
        spend = round(spend * min(2.0, max(0.5, HANDICAP / (ratio - 1))))
    best = min(seen, key=lambda one: abs(one["ratio"] - 1 - HANDICAP))
    return {"part": "calibrate", "index": 0, **best, "seen": seen}


def spread(window_ms: int, *, reconnect: bool = True) -> Callable[[int, Bench, list[Line]], Line]:
    """One pair of fresh identical processes, visited in turn in windows of this length."""

    def one(index: int, on: Bench, _results: list[Line]) -> Line:
        cycles = max(2, round(PAIR_S * 1000 / (2 * window_ms)))
        decided = races.plan(
            {"one": 0, "other": 0},
            seed=10_000 * window_ms + index,
            rounds=1,
            cycles=cycles,
            window_ms=window_ms,
            warmup_s=0.5,
            reconnect=reconnect,
        )
        raced = races.race(decided, on)
        part = f"spread-{window_ms}" if reconnect else KEPT
        line = {"part": part, "index": index, "log_ratio": _log_ratio(raced)}
        return line | ({"windows": races.windows(raced)} if reconnect and index < RECORDED["spread"] else {})

    return one


def whole(index: int, on: Bench, _results: list[Line]) -> Line:
    """Two fresh identical processes, one after the other, 2 s each: the design that windows replace."""
    figures = []
    for half in (0, 1):
        decided = races.plan(
            {"one": 0}, seed=9_000_000 + 2 * index + half, rounds=1, cycles=2, window_ms=1000, warmup_s=0.5
        )
        raced = races.race(decided, on)
        figures += read(decided, counted_rounds(raced), decided.cells[0], races.COST).figures("one")
    if len(figures) < 2:
        raise TooBusyError("a trial does not count")
    return {"part": "spread-whole", "index": index, "log_ratio": math.log(figures[1] / figures[0])}


def _log_ratio(raced: Race) -> float:
    decided = raced.run.plan
    effects = read(decided, counted_rounds(raced), decided.cells[0], races.COST).effects("one", "other")
    if effects is None or len(effects) == 0:
        raise TooBusyError("the round does not count")
    return float(effects[0])


def jobs(arguments: argparse.Namespace) -> Iterator[tuple[str, int, Callable[[int, Bench, list[Line]], Line]]]:
    """Everything asked for, as (part, index, how)."""
    if "aa" in arguments.parts:
        yield from (("aa", index, aa) for index in range(arguments.aa))
    if "slower" in arguments.parts:
        yield "calibrate", 0, calibrate
        yield from (("slower", index, slower) for index in range(arguments.slower))
    if "spread" in arguments.parts:
        for index in range(arguments.spread):
            yield from ((f"spread-{window_ms}", index, spread(window_ms)) for window_ms in WINDOWS_MS)
            yield KEPT, index, spread(20, reconnect=False)
            yield "spread-whole", index, whole


def main() -> None:
    """Run what is asked for and not yet there, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="of aa, slower, spread; default: all")
    parser.add_argument("--aa", type=int, default=100, metavar="N", help="A/A races [%(default)s]")
    parser.add_argument("--slower", type=int, default=20, metavar="N", help="races against 2 %% dearer [%(default)s]")
    parser.add_argument("--spread", type=int, default=20, metavar="N", help="pairs a window length [%(default)s]")
    parser.add_argument("--results", type=Path, default=HERE / "results.jsonl", help="kept lines [%(default)s]")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the raw windows kept, for the tests")
    parser.add_argument("--no-readme", action="store_true", help="leave README.md alone")
    arguments = parser.parse_args()
    arguments.parts = arguments.parts or ["aa", "slower", "spread"]
    if unknown := set(arguments.parts) - {"aa", "slower", "spread"}:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; choose from aa, slower, spread")
    kept = tables.load(arguments.results)
    try:
        _run(list(jobs(arguments)), kept, arguments.results)
    except Interrupted:
        print("stopped; the same command goes on from here", file=sys.stderr)
    print(tables.text(kept))
    if not arguments.no_readme:
        tables.write_readme(HERE / "README.md", kept)
    if arguments.record:
        tables.record(arguments.record, kept)


def _tried(job: Callable[[int, Bench, list[Line]], Line], index: int, on: Bench, kept: list[Line]) -> Line:
    for repeated in range(MOST_TRIES):
        try:
            return job(index, on, kept) | {"repeated": repeated}
        except TooBusyError as busy:
            print(f"again, as the machine is busy: {busy}", file=sys.stderr)
    raise SystemExit(f"the machine was too busy {MOST_TRIES} times; quieten it, the same command goes on from here")


def _run(todo: list[tuple[str, int, Callable[[int, Bench, list[Line]], Line]]], kept: list[Line], file: Path) -> None:
    done = {(line["part"], line["index"]) for line in kept}
    todo = [job for job in todo if (job[0], job[1]) not in done]
    stop = StopFlag()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    took: dict[str, list[float]] = {}
    with races.bench(stop) as on:
        for place, (part, index, job) in enumerate(todo):
            began = time.monotonic()
            line = _tried(job, index, on, kept)
            took.setdefault(part, []).append(time.monotonic() - began)
            kept.append(line)
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
            every = statistics.mean(second for seconds in took.values() for second in seconds)
            left = sum(statistics.mean(took[p]) if p in took else every for p, _, _ in todo[place + 1 :])
            said = line.get("outcome") or f"ln ratio {line.get('log_ratio')}"
            print(f"{place + 1}/{len(todo)} {part} {index}: {said}; about {left / 60:.0f} min left", file=sys.stderr)


if __name__ == "__main__":
    main()
