"""``race`` and ``resume``: from a suite's name to a verdict."""

import random
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from photofinish.cli.interrupt import stoppable
from photofinish.cli.options import JsonPath, StorePath, seconds, store_path
from photofinish.cli.outcome import Html, Markdown, Outputs, deliver
from photofinish.cli.progress import RaceProgress
from photofinish.contest.loading import Contestant, load_all, load_suite
from photofinish.contest.plan import Absence, Plan
from photofinish.contest.planning import make_plan
from photofinish.contest.suite import Suite
from photofinish.errors import InputError
from photofinish.store import Store
from photofinish.store.ids import new_run_id
from photofinish.testbed.stop import Interrupted, StopFlag
from photofinish.trial.race import Workshop, begin, prepare, run_race

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells expect it; what was measured is kept."""
DEFAULT_WORK = Path(".photofinish")

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; errors and the result only.")]
WorkFolder = Annotated[Path, typer.Option("--work", help="Folder in which contestants are built and run.")]
Add = Annotated[
    list[Path] | None,
    typer.Option(help="Folder or manifest of a contestant of your own; repeatable.", show_default=False),
]


def race(
    suite: Annotated[str, typer.Argument(help="A suite's name (see `photofinish list`) or file.")],
    *,
    quick: Annotated[bool, typer.Option("--quick", help="A selection that is over in minutes.")] = False,
    profile: Annotated[
        str | None, typer.Option(help="A profile of the suite; full unless told.", show_default=False)
    ] = None,
    only: Annotated[str | None, typer.Option(help="Contestants, by id, with commas.", show_default=False)] = None,
    cells: Annotated[str | None, typer.Option(help="Cells, by id, with commas.", show_default=False)] = None,
    add: Add = None,
    rounds: Annotated[
        int | None, typer.Option(help="Rounds, fixed beforehand; else the fewest that can decide.", show_default=False)
    ] = None,
    until_decided: Annotated[
        bool, typer.Option("--until-decided", help="Stop as soon as the headline is decided.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(help="With --until-decided: start no round after so long, e.g. 10m.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of all orders; else by chance, and recorded.", show_default=False)
    ] = None,
    workers: Annotated[int, typer.Option(help="Threads, processes or loops of every contestant.")] = 1,
    cold: Annotated[
        bool, typer.Option("--cold", help="Uploads: drop the file from the page cache before each repetition.")
    ] = False,
    json_file: JsonPath = None,
    html: Html = None,
    markdown: Markdown = None,
    store: StorePath = None,
    work: WorkFolder = DEFAULT_WORK,
    quiet: Quiet = False,
) -> None:
    """Race the contestants of a suite and say who wins, where that can be said.

    Ctrl-C keeps every finished round; `photofinish resume` goes on.
    """
    if quick and profile not in (None, "quick"):
        raise InputError(f"--quick and --profile {profile}: choose one")
    if budget and not until_decided:
        raise InputError("--budget: goes with --until-decided; a race without it has a fixed number of rounds")
    loaded = load_suite(suite)
    if cold and loaded.parameters.get("direction") != "upload":
        raise InputError(f"--cold: the suite '{loaded.name}' sends no files; use it with `race uploads`")
    chosen = profile_of(loaded, "quick" if quick else profile)
    budget_s = seconds(budget, "--budget") if budget else None
    recorded_seed = secrets.randbelow(2**31) if seed is None else seed

    def plan(absent: Sequence[Absence]) -> Plan:
        return make_plan(
            loaded,
            chosen,
            contestants=names(only),
            cells=names(cells),
            add=add or (),
            rounds=rounds,
            until_decided=until_decided,
            budget_s=budget_s,
            seed=recorded_seed,
            workers=workers,
            overrides={"cache": "cold"} if cold else None,
            absent=absent,
        )

    with stoppable() as stop, RaceProgress(quiet=quiet) as progress, Store.open(store_path(store)) as opened:
        try:
            workshop = prepare(plan(()), load_all(loaded, add or ()), work, stop, progress.building)
        except Interrupted:
            raise typer.Exit(INTERRUPTED) from None
        decided = plan(workshop.failed)
        now = datetime.now(UTC)
        run_id = begin(opened, decided, workshop, new_run_id(now, random.SystemRandom())).id
        _announce(progress, run_id, decided)
        status = run_race(opened, run_id, workshop, stop=stop, progress=progress.racing)
    _finish(run_id, status, store_path(store), Outputs(json_file, html, markdown))


def resume(
    run: Annotated[str, typer.Argument(help="A run's id, its beginning, or `latest`.")] = "latest",
    *,
    json_file: JsonPath = None,
    html: Html = None,
    markdown: Markdown = None,
    store: StorePath = None,
    work: WorkFolder = DEFAULT_WORK,
    quiet: Quiet = False,
) -> None:
    """Go on with a race that was broken off: same plan, same seed, the rounds that it still lacks."""
    with stoppable() as stop, RaceProgress(quiet=quiet) as progress, Store.open(store_path(store)) as opened:
        run_id = opened.resolve(run)
        kept = opened.load(run_id).run
        if kept.status == "finished":
            raise InputError(f"run {run_id} is finished; see it with: photofinish show {run_id}")
        try:
            workshop = _workshop_again(kept.plan, work, stop, progress)
        except Interrupted:
            raise typer.Exit(INTERRUPTED) from None
        _announce(progress, run_id, kept.plan)
        status = run_race(opened, run_id, workshop, stop=stop, progress=progress.racing)
    _finish(run_id, status, store_path(store), Outputs(json_file, html, markdown))


def _workshop_again(plan: Plan, work: Path, stop: StopFlag, progress: RaceProgress) -> Workshop:
    """The workshop of a plan that was made before; what it names must be there still."""
    found = {entry.contestant: Contestant(folder=entry.folder, manifest=entry.manifest) for entry in plan.entries}
    workshop = prepare(plan, found, work, stop, progress.building)
    if workshop.failed:
        first = workshop.failed[0]
        raise InputError(f"{first.contestant} can't be built any more ({first.detail}); start a new race instead")
    return workshop


def _announce(progress: RaceProgress, run_id: str, plan: Plan) -> None:
    for absence in plan.absent:
        progress.say(f"without {absence.contestant}: {absence.detail}")
    most = "at most " if plan.until_decided else ""
    cells = "1 cell" if len(plan.cells) == 1 else f"{len(plan.cells)} cells"
    progress.say(f"run {run_id}, seed {plan.seed}: {len(plan.entries)} entries, {cells}, {most}{plan.rounds} rounds")


def _finish(run_id: str, status: str, store: Path, outputs: Outputs) -> None:
    deliver(store, run_id, outputs)
    if status == "interrupted":
        typer.echo(f"photofinish: stopped; every finished round is kept: photofinish resume {run_id}", err=True)
        raise typer.Exit(INTERRUPTED)


def profile_of(suite: Suite, asked: str | None) -> str:
    """The profile asked for; else `full`, else the suite's first."""
    if asked is not None:
        return asked
    return "full" if "full" in suite.profiles else next(iter(suite.profiles))


def names(text: str | None) -> list[str] | None:
    """``a, b`` → ``["a", "b"]``; None stays None."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else None
