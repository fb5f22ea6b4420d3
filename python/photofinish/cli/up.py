"""``up``: the contestants of a suite, running, for trials by hand."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from photofinish.cli.interrupt import stoppable
from photofinish.cli.options import JsonPath, write_text
from photofinish.cli.progress import RaceProgress
from photofinish.cli.race import DEFAULT_WORK, INTERRUPTED, Add, WorkFolder, names, profile_of
from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.errors import EnvironmentError_, InputError
from photofinish.testbed.ports import Ports
from photofinish.testbed.stop import Interrupted
from photofinish.trial.driver import Bench, RoundTask
from photofinish.trial.race import prepare
from photofinish.trial.visit.field import Field

POLL_S = 0.5


def up(
    suite: Annotated[str, typer.Argument(help="A suite's name or file.")],
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only the contestants of the quick profile.")] = False,
    only: Annotated[str | None, typer.Option(help="Contestants, by id, with commas.", show_default=False)] = None,
    add: Add = None,
    workers: Annotated[int, typer.Option(help="Threads, processes or loops of every contestant.")] = 1,
    json_file: JsonPath = None,
    work: WorkFolder = DEFAULT_WORK,
) -> None:
    """Start contestants and print their URLs; Ctrl-C stops them all."""
    loaded = load_suite(suite)
    if loaded.driver != "visit":
        raise InputError(
            f"suite '{loaded.name}': its contestants don't listen; race them: photofinish race {loaded.name}"
        )
    chosen = profile_of(loaded, "quick" if quick else None)
    plan = make_plan(loaded, chosen, contestants=names(only), add=add or (), seed=0, workers=workers)
    with stoppable() as stop, RaceProgress() as progress:
        try:
            workshop = prepare(plan, load_all(loaded, add or ()), work, stop, progress.building)
        except Interrupted:
            raise typer.Exit(INTERRUPTED) from None
        failed = {absence.contestant for absence in workshop.failed}
        for absence in (*plan.absent, *workshop.failed):
            progress.say(f"without {absence.contestant}: {absence.detail}")
        wanted = tuple(entry for entry in plan.entries if entry.twin_of is None and entry.contestant not in failed)
        bench = Bench(
            engine=workshop.engine,
            cores=workshop.cores,
            ports=Ports(start=os.getpid() * 97),
            scratch=Path(workshop.work) / "run" / f"up-{os.getpid()}",
            builds=workshop.builds,
            stop=stop,
        )
        field = Field(RoundTask(plan.model_copy(update={"entries": wanted}), 0, 0, bench))
        try:
            progress.update("starting")
            field.start()
        except Interrupted:
            field.stop()
            raise typer.Exit(INTERRUPTED) from None
        except EnvironmentError_:
            field.stop()
            raise
        try:
            _tell(field, json_file)
            progress.update("running; Ctrl-C stops them all")
            while not stop.wait(POLL_S):
                for entry, end in field.note_deaths().items():
                    progress.say(f"{entry}: {end}")
        finally:
            field.stop(urgent=stop.urgent)


def _tell(field: Field, json_file: str | None) -> None:
    """URLs, as a table or as JSON."""
    rows = [
        {
            "id": runner.entry.id,
            "url": f"http://{runner.address[0]}:{runner.address[1]}/",
            "pid": runner.resident.pid if runner.resident else None,
            "void": f"{runner.void.code}: {runner.void.detail}" if runner.void else None,
        }
        for runner in field.runners
    ]
    if json_file:
        write_text(json_file, json.dumps({"schema": "photofinish.up/1", "contestants": rows}, indent=2) + "\n")
    if json_file != "-":
        for row in rows:
            typer.echo(f"{row['id']:<20} {row['void'] or row['url']}")
