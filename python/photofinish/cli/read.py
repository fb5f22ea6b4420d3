"""Commands that read: what is there, what was measured, what changed. Nothing here starts anything."""

from dataclasses import asdict
from typing import Annotated

import typer

from photofinish.cli.options import JsonPath, StorePath, share, store_path, write_text
from photofinish.cli.outcome import Html, Markdown, Outputs, deliver, load
from photofinish.cli.outcome import show as print_
from photofinish.contest.loading import load_all, load_suite, suite_names
from photofinish.contest.presence import ThisMachine
from photofinish.errors import CheckFailed
from photofinish.report import compare_view, listing, runs_view
from photofinish.report.json import canonical
from photofinish.store import Store
from photofinish.verdict.compare import compare as compare_races
from photofinish.verdict.compare import regressions

RunName = Annotated[str, typer.Argument(help="A run's id, its beginning, `latest`, or `latest~1`.")]


def list_(
    suite: Annotated[str | None, typer.Argument(help="A suite; without one, all of them.")] = None,
    *,
    json_file: JsonPath = None,
) -> None:
    """List suites, their contestants, cells and profiles."""
    loaded = [load_suite(name) for name in ([suite] if suite else suite_names())]
    listed = [listing.listing(each, load_all(each).values(), ThisMachine()) for each in loaded]
    if json_file:
        write_text(json_file, canonical({"schema": "photofinish.list/1", "suites": [asdict(each) for each in listed]}))
    if json_file != "-":
        for each in listed:
            print_(listing.render(each))


def runs(*, json_file: JsonPath = None, store: StorePath = None) -> None:
    """List the races in the store."""
    with Store.open(store_path(store), read_only=True) as opened:
        found = opened.runs()
    if json_file:
        write_text(json_file, canonical(runs_view.runs_json(found)))
    if json_file != "-":
        print_(runs_view.runs(found))


def show(run: RunName = "latest", *, json_file: JsonPath = None, store: StorePath = None) -> None:
    """Show a race's plan, rounds and environment."""
    race = load(store_path(store), run)
    if json_file:
        write_text(json_file, canonical(runs_view.show_json(race)))
    if json_file != "-":
        print_(runs_view.show(race))


def report(
    run: RunName = "latest",
    *,
    json_file: JsonPath = None,
    html: Html = None,
    markdown: Markdown = None,
    store: StorePath = None,
) -> None:
    """Render a stored race again, byte for byte."""
    deliver(store_path(store), run, Outputs(json_file, html, markdown))


def compare(
    before: Annotated[str, typer.Argument(help="The earlier run.")],
    after: Annotated[str, typer.Argument(help="The later run.")] = "latest",
    *,
    json_file: JsonPath = None,
    store: StorePath = None,
) -> None:
    """Compare two races at different times: what improved, what regressed, what can't be said."""
    path = store_path(store)
    comparison = compare_races(load(path, before), load(path, after))
    if json_file:
        write_text(json_file, canonical(compare_view.comparison_json(comparison)))
    if json_file != "-":
        print_(compare_view.comparison(comparison))


def gate(
    run: RunName = "latest",
    *,
    baseline: Annotated[str, typer.Option(help="The run that this one must not fall behind.")],
    max_regression: Annotated[str, typer.Option(help="How much worse is still allowed, e.g. 5%.")] = "5%",
    json_file: JsonPath = None,
    store: StorePath = None,
) -> None:
    """Fail (exit code 1) if a race is proven to be worse than a baseline; never on a suspicion."""
    path, bound = store_path(store), share(max_regression, "--max-regression")
    first, second = load(path, baseline), load(path, run)
    found = regressions(first, second, bound)
    if json_file:
        document = compare_view.gate_json(found, baseline=first.run.id, run=second.run.id, max_regression=bound)
        write_text(json_file, canonical(document))
    if json_file != "-":
        print_(compare_view.gate(found, baseline=first.run.id, run=second.run.id, max_regression=bound))
    if found:
        raise typer.Exit(CheckFailed.exit_code)
