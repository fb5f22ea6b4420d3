"""``doctor``: what this machine can and can't do, and how to mend it."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from photofinish.cli.options import JsonPath, write_text
from photofinish.contest.loading import load_all, load_suite, suite_names
from photofinish.contest.manifest import Manifest
from photofinish.errors import EnvironmentError_, InputError
from photofinish.testbed.checks import Check, contestant_checks, machine_checks, missing_packages
from photofinish.testbed.engine import engine_path, probe
from photofinish.testbed.mend import apt_command, install

MARKS = {"good": "[green]✓[/green]", "limited": "[yellow]~[/yellow]", "missing": "[red]✗[/red]"}


def doctor(
    suite: Annotated[str | None, typer.Argument(help="A suite; without one, all of them.")] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only the contestants of the quick profile.")] = False,
    mend: Annotated[bool, typer.Option("--mend", help="Install missing Debian packages (as root).")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Only what is not in order.")] = False,
    json_file: JsonPath = None,
) -> None:
    """Say what this machine can and can't do, and how to mend it. Exit code 3 if it can't race at all."""
    names = [suite] if suite else suite_names()
    manifests = [manifest for name in names for manifest in _manifests(name, quick=quick)]
    notice = _mend(manifests) if mend else None
    machine = _machine()
    contestants = list(contestant_checks(manifests))
    if json_file:
        document = {
            "schema": "photofinish.doctor/1",
            "machine": [asdict(check) for check in machine],
            "contestants": [asdict(check) for check in contestants],
        }
        write_text(json_file, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    if json_file != "-":
        console = Console(stderr=brief)
        _print(console, "This machine", machine, brief=brief)
        _print(console, "Contestants", contestants, brief=brief)
        missing = missing_packages(manifests)
        if notice:
            console.print(notice, markup=False, highlight=False)
        elif missing and not mend:
            console.print(
                f"\nTo install what is missing: {' '.join(apt_command(missing))}", markup=False, highlight=False
            )
    if any(check.status == "missing" for check in machine):
        raise EnvironmentError_("this machine can't race; the lines marked ✗ say what it lacks")


def _manifests(name: str, *, quick: bool) -> list[Manifest]:
    suite = load_suite(name)
    found = load_all(suite)
    if not quick:
        return [each.manifest for each in found.values()]
    if "quick" not in suite.profiles:
        raise InputError(f"suite '{name}' has no profile 'quick'; leave out --quick")
    return [found[each].manifest for each in suite.profiles["quick"].contestants]


def _mend(manifests: list[Manifest]) -> str | None:
    """Installs; what could not be installed only costs its contestants, so it is told and not fatal."""
    missing = missing_packages(manifests)
    try:
        install(missing)
    except EnvironmentError_ as error:
        return f"photofinish: {error}\nWithout them these contestants are skipped."
    return f"installed: {' '.join(missing)}" if missing else None


def _machine() -> list[Check]:
    try:
        answer = probe(engine_path())
    except EnvironmentError_ as error:
        found, _, mend = str(error).partition("; ")
        return [Check("engine", "missing", found, mend)]
    return [Check("engine", "good", f"version {answer.get('version')}"), *machine_checks(answer)]


def _print(console: Console, title: str, checks: list[Check], *, brief: bool) -> None:
    shown = [check for check in checks if not (brief and check.status == "good")]
    if not shown:
        return
    table = Table(title=title, title_justify="left", box=None, show_header=False, padding=(0, 2, 0, 0))
    for check in shown:
        table.add_row(MARKS[check.status], check.name, check.found, f"[dim]→ {check.mend}[/dim]" if check.mend else "")
    console.print(table)
