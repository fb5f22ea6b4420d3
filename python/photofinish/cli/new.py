"""``new``: the beginning of something of one's own."""

import json
from pathlib import Path
from typing import Annotated

import typer

from photofinish.cli.options import JsonPath, write_text
from photofinish.contest import scaffold

app = typer.Typer(help="Begin a contestant of your own.", no_args_is_help=True)


def _suites(incomplete: str) -> list[str]:
    return [each for each in scaffold.suites() if each.startswith(incomplete)]


def _languages(context: typer.Context, incomplete: str) -> list[str]:
    suite = context.params.get("suite")
    known = scaffold.languages(suite) if suite in scaffold.suites() else ["go", "node", "python"]
    return [each for each in known if each.startswith(incomplete)]


@app.callback()
def new() -> None:
    """Begin a contestant of your own."""


@app.command()
def contestant(
    suite: Annotated[str, typer.Argument(help="servers, uploads or clients.", autocompletion=_suites)],
    name: Annotated[str, typer.Argument(help="Its id: small letters, digits, hyphens.")],
    *,
    lang: Annotated[str, typer.Option("--lang", help="go, node or python.", autocompletion=_languages)] = "python",
    into: Annotated[Path, typer.Option("--into", help="Folder that takes the new one.")] = Path(),
    json_file: JsonPath = None,
) -> None:
    """Write a folder with a contestant that works: manifest, source, README. Change it, then race it."""
    folder = scaffold.write(suite, name, lang, into)
    files = sorted(path.name for path in folder.iterdir())
    race = f"photofinish race {suite} --quick --add {folder}"
    if json_file:
        document = {"schema": "photofinish.new/1", "folder": str(folder), "files": files, "race": race}
        write_text(json_file, json.dumps(document, indent=2) + "\n")
    if json_file != "-":
        typer.echo(f"{folder}: {', '.join(files)}\nIt works as it is; race it with:\n  {race}")
