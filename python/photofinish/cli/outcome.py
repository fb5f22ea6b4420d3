"""What a race, or a stored run, is turned into: terminal, JSON, HTML, Markdown."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType

from photofinish.cli.options import write_text
from photofinish.report import html as html_report
from photofinish.report import json as json_report
from photofinish.report import markdown as markdown_report
from photofinish.report import terminal
from photofinish.store import Store
from photofinish.store.records import Race
from photofinish.verdict.judge import judge

Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write the report as one HTML file.", show_default=False)
]
Markdown = Annotated[
    str | None, typer.Option("--markdown", metavar="FILE", help="Write the report as Markdown.", show_default=False)
]
PIPE_WIDTH = 120
"""Characters a line where standard output is no terminal and COLUMNS says nothing."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files that were asked for; ``-`` is standard output and takes the terminal report's place."""

    json_file: str | None = None
    html: str | None = None
    markdown: str | None = None

    @property
    def silent(self) -> bool:
        """Standard output is taken."""
        return "-" in (self.json_file, self.html, self.markdown)


def show(renderable: RenderableType) -> None:
    """Prints to standard output: coloured on a terminal, plain and wide enough elsewhere."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPE_WIDTH
    Console(width=width).print(renderable)


def load(store: Path, wanted: str) -> Race:
    """A stored run by id, beginning or ``latest``."""
    with Store.open(store, read_only=True) as opened:
        return opened.load(opened.resolve(wanted))


def deliver(store: Path, wanted: str, outputs: Outputs) -> None:
    """Judges a stored run and writes what was asked for."""
    race = load(store, wanted)
    verdict = judge(race)
    if outputs.json_file:
        write_text(outputs.json_file, json_report.render(verdict))
    if outputs.html:
        write_text(outputs.html, html_report.render(verdict, race))
    if outputs.markdown:
        write_text(outputs.markdown, markdown_report.render(verdict))
    if not outputs.silent:
        show(terminal.render(verdict))
