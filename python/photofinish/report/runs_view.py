"""The store's runs as a table, and one run with its plan, entries, rounds and machine."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from photofinish.report.facts import flat
from photofinish.report.figures import duration, percent
from photofinish.report.terminal import Harmless, plain_table
from photofinish.report.words import explained
from photofinish.store.records import Race, Round, Trial
from photofinish.store.store import RunSummary

_STATUS = {"finished": "green", "interrupted": "yellow", "running": "cyan"}


def runs(summaries: Sequence[RunSummary]) -> RenderableType:
    """All runs, newest first."""
    if not summaries:
        return Text("The store holds no runs yet; start one with: photofinish race SUITE")
    table = plain_table("")
    table.add_column("run", no_wrap=True)
    table.add_column("suite", overflow="fold")
    table.add_column("begun", overflow="fold")
    table.add_column("entries", justify="right")
    table.add_column("rounds", justify="right")
    table.add_column("void", justify="right")
    table.add_column("status")
    for one in reversed(summaries):
        table.add_row(
            Text(one.id),
            Text(f"{one.suite}/{one.profile}"),
            Text(one.created_at),
            str(one.entries),
            f"{one.rounds_stored}/{one.rounds_planned}",
            str(one.rounds_void),
            Text(one.status, style=_STATUS.get(one.status, "")),
        )
    return table


def runs_json(summaries: Sequence[RunSummary]) -> dict[str, Any]:
    """``photofinish.runs/1``: the same, oldest first."""
    return {"schema": "photofinish.runs/1", "runs": [asdict(one) for one in summaries]}


def show(race: Race) -> RenderableType:
    """One run: plan, entries, rounds with the void ones and their reasons, machine."""
    plan, run = race.run.plan, race.run
    until = " at most, until decided" if plan.until_decided else ""
    begun = f"begun {run.created_at} with Photofinish {run.version}; {len(race.rounds)} of {plan.rounds} rounds{until}"
    terms = f"seed {plan.seed}; {percent(1 - plan.alpha, 0)} intervals; workers {plan.workers}"
    title = f"{run.id} · {plan.suite.title} · {plan.suite.name}/{plan.profile} · {run.status}"
    parts: list[RenderableType] = [Text(title, style="bold")]
    parts += [*(Text(line) for line in (begun, terms, *plan.notes)), Text()]
    parts += [_entries(race), Text(), _cells(race), Text(), _rounds(race.rounds)]
    environment = flat(run.environment)
    if environment:
        parts += [Text(), _facts(environment)]
    return Harmless(Group(*parts))


def show_json(race: Race) -> dict[str, Any]:
    """``photofinish.show/1``: plan, environment, and for every round what did not count; without windows and histograms."""
    return {
        "schema": "photofinish.show/1",
        "run": race.run.id,
        "created_at": race.run.created_at,
        "version": race.run.version,
        "status": race.run.status,
        "plan": race.run.plan.model_dump(mode="json", by_alias=True),
        "environment": race.run.environment,
        "rounds": [_round_json(one) for one in race.rounds],
    }


def _round_json(one: Round) -> dict[str, Any]:
    return {
        "index": one.index,
        "seed": one.seed,
        "started_at": one.started_at,
        "duration_s": one.duration_s,
        "facts": one.facts,
        "void": None if one.void is None else asdict(one.void),
        "trials": [_trial_json(trial) for trial in one.trials],
    }


def _trial_json(trial: Trial) -> dict[str, Any]:
    return {
        "cell": trial.cell,
        "entry": trial.entry,
        "slot": trial.slot,
        "windows": len(trial.windows),
        "windows_void": sum(window.void is not None for window in trial.windows),
        "figures": trial.figures,
        "evidence": trial.evidence,
        "labels": list(trial.labels),
        "voided_figures": trial.voided_figures,
        "void": None if trial.void is None else asdict(trial.void),
    }


def _entries(race: Race) -> Table:
    table = plain_table("Entries")
    for name in ("entry", "language", "version", "tuning", "role"):
        table.add_column(name, overflow="fold")
    for entry in race.run.plan.entries:
        role = "limit" if entry.is_reference else f"twin of {entry.twin_of}" if entry.twin_of is not None else ""
        about = entry.manifest
        table.add_row(Text(entry.id), Text(about.language), Text(about.version), about.tuning, Text(role, style="dim"))
    for absence in race.run.plan.absent:
        told = f"{absence.code}: {absence.detail}"
        table.add_row(Text(absence.contestant, style="dim"), "", "", "", Text(f"absent, {told}", style="yellow"))
    return table


def _cells(race: Race) -> Table:
    table = plain_table("Cells")
    table.add_column("cell", no_wrap=True)
    table.add_column("what", overflow="fold")
    for cell in race.run.plan.cells:
        table.add_row(Text(cell.id), Text(cell.title))
    return table


def _rounds(rounds: Sequence[Round]) -> Table:
    table = plain_table("Rounds")
    table.add_column("round", justify="right")
    table.add_column("begun", no_wrap=True)
    table.add_column("took", justify="right", no_wrap=True)
    table.add_column("what did not count", overflow="fold")
    for one in rounds:
        table.add_row(str(one.index), one.started_at, duration(one.duration_s), _round_losses(one))
    return table


def _round_losses(one: Round) -> Text:
    if one.void is not None:
        return Text(f"whole round, {one.void.code}: {one.void.detail}", style="red")
    told = [f"{t.entry} on {t.cell}, {t.void.code}: {t.void.detail}" for t in one.trials if t.void is not None]
    told += [
        f"{trial.entry} on {trial.cell}, {name}: {explained(code)}"
        for trial in one.trials
        for name, code in trial.voided_figures.items()
    ]
    return Text("\n".join(told), style="yellow")


def _facts(lines: Sequence[tuple[str, str]]) -> Table:
    table = plain_table("Machine")
    table.add_column("fact", no_wrap=True)
    table.add_column("value", overflow="fold")
    for name, value in lines:
        table.add_row(Text(name), Text(value))
    return table
