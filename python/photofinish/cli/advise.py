"""``advise``: which content coding one's own payload should have, on one's own link."""

import json
import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from photofinish.advice.advice import ALPHA, IDENTITY, Advice, Prices, Question, finalists, pays_from
from photofinish.advice.advice import advise as decide
from photofinish.advice.link import Link, link_rate
from photofinish.advice.measuring import Asked, Candidate, Measured, measure
from photofinish.advice.settings import settings
from photofinish.advice.view import Finding, as_document, as_text
from photofinish.cli.interrupt import stoppable
from photofinish.cli.options import JsonPath, seconds, write_text
from photofinish.cli.outcome import show
from photofinish.cli.progress import RaceProgress
from photofinish.errors import InputError
from photofinish.testbed.engine import engine_path
from photofinish.testbed.stop import Interrupted
from photofinish.verdict.power import fewest_rounds

INTERRUPTED = 130
SMALLEST = 256
SCREENING_ROUNDS = 4
FINALISTS = 8
ROUNDS = fewest_rounds(FINALISTS * (FINALISTS + 1) // 2, ALPHA) + 1
"""One more than Holm needs to name a winner among the finalists and no coding."""
SIZE_ROUNDS = 8
SIZE_BUDGET_S = 1.0


def advise(
    *,
    payload: Annotated[Path, typer.Option(help="File that holds a typical response.")],
    link: Annotated[str, typer.Option(help="Rate of the slowest link to your users, such as 20mbit.")] = "20mbit",
    rtt: Annotated[
        str | None, typer.Option(help="Round trip, such as 40ms: adds what TCP's slow start waits.", show_default=False)
    ] = None,
    cpu_price: Annotated[
        float | None, typer.Option(help="Price of a CPU hour: then the cheapest is advised.", show_default=False)
    ] = None,
    traffic_price: Annotated[
        float | None, typer.Option(help="Price of a gigabyte sent, in the same currency.", show_default=False)
    ] = None,
    codings: Annotated[
        str | None, typer.Option(help="Only these, with commas: gzip,br,zstd,deflate.", show_default=False)
    ] = None,
    levels: Annotated[str | None, typer.Option(help="Only these levels: zstd=1-9,br=0-6.", show_default=False)] = None,
    budget: Annotated[str, typer.Option(help="About so long to measure.")] = "30s",
    json_file: JsonPath = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; errors and the result only.")] = False,
) -> None:
    """Measure your own payload over all codings and levels, and say which to use on your link, from which size on."""
    prices = _prices(cpu_price, traffic_price)
    where = Link(link_rate(link), seconds(rtt, "--rtt") if rtt else 0.0)
    question = Question(where, prices, "time" if prices is None else "price")
    if not payload.is_file():
        raise InputError(f"--payload: {payload} is no file; name one that holds a typical response")
    if payload.stat().st_size == 0:
        raise InputError(f"--payload: {payload} is empty; name one that holds a typical response")
    engine = engine_path()
    budget_s = seconds(budget, "--budget")
    asked = Asked(payload, SCREENING_ROUNDS, budget_s / 2, tuple(_names(codings)), levels or "")
    with stoppable() as stop, RaceProgress(quiet=quiet) as progress:
        try:
            screening = measure(engine, asked, stop, _telling(progress, "screening all levels"))
            best = finalists(screening, question, FINALISTS)
            final = _only(asked, best, ROUNDS, budget_s / 2)
            measured = measure(engine, final, stop, _telling(progress, f"fresh rounds of the best {len(best)}"))
            measured = replace(measured, left_out=screening.left_out)
            advice = decide(measured, question, screening)
            smaller: dict[int, Advice] = {}
            for size in _sizes(measured, advice):
                progress.update(f"measuring the first {size:,} bytes")
                chosen = [each for each in measured.candidates if each.id == advice.choice]
                part = measure(engine, _only(asked, chosen, SIZE_ROUNDS, SIZE_BUDGET_S, size), stop)
                smaller[size] = decide(part, question)
        except Interrupted:
            raise typer.Exit(INTERRUPTED) from None
    least = pays_from({**smaller, measured.payload_bytes: advice}, advice.choice)
    content_type = mimetypes.guess_type(payload.name)[0] or "application/json"
    written = settings(advice, least or measured.payload_bytes, content_type)
    finding = Finding(measured, question, advice, least, written)
    if json_file:
        document = as_document(finding)
        write_text(json_file, json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n")
    if json_file != "-":
        show(as_text(finding))


def _prices(cpu: float | None, traffic: float | None) -> Prices | None:
    for name, price in (("--cpu-price", cpu), ("--traffic-price", traffic)):
        if price is not None and not 0 <= price < 1e9:
            raise InputError(f"{name}: {price} is no price; write a number of 0 or more")
    if cpu is None and traffic is None:
        return None
    return Prices(cpu or 0.0, traffic or 0.0)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def _sizes(measured: Measured, advice: Advice) -> list[int]:
    """Powers of two below the payload's size, if a coding was chosen."""
    if advice.choice == IDENTITY:
        return []
    sizes = []
    size = SMALLEST
    while size < measured.payload_bytes and size <= 1 << 16:
        sizes.append(size)
        size *= 2
    return sizes


def _only(
    asked: Asked, candidates: Sequence[Candidate], rounds: int, budget_s: float, size: int | None = None
) -> Asked:
    """These candidates alone, on the whole payload or on so many first bytes."""
    codings = tuple(dict.fromkeys(each.coding for each in candidates))
    levels = ",".join(f"{each.coding}={each.level}" for each in candidates)
    return Asked(asked.payload, rounds, budget_s, codings, levels, size)


def _telling(progress: RaceProgress, step: str) -> Callable[[float, float | None], None]:
    return lambda done, eta_s: progress.update(step, done=done, eta_s=eta_s)
