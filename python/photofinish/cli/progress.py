"""Progress on standard error: which round, what it is doing, when it will be over, who leads so far."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar

from photofinish.trial.race import Progress


def clock(seconds: float | None) -> str:
    """``4:05`` or ``1:02:30``; a dash where nobody knows."""
    if seconds is None:
        return "–"
    whole = round(max(seconds, 0.0))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


class RaceProgress:
    """A bar on a terminal, a line a step elsewhere, nothing when quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True)
        self._quiet = quiet
        self._last = ""
        self._bar: Bar | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = Bar(
                SpinnerColumn(),
                TextColumn("[bold]{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[left]} left"),
                TextColumn("[dim]{task.fields[note]}"),
                console=self._console,
                transient=True,
                refresh_per_second=1,
            )
            self._task = self._bar.add_task("starting", total=None, left="–", note="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, step: str, *, done: float | None = None, eta_s: float | None = None, note: str = "") -> None:
        """Say what is being done now; ``done`` is a share of the whole, ``eta_s`` the seconds that remain."""
        if self._bar is not None:
            total = None if done is None else 1.0
            self._bar.update(
                self._task, description=step, total=total, completed=done or 0.0, left=clock(eta_s), note=note
            )
            return
        line = f"{step}; {clock(eta_s)} left" + (f"; {note}" if note else "")
        if not self._quiet and step != self._last:
            self._last = step
            self._console.print(line, markup=False, highlight=False)

    def building(self, contestant: str, place: int, count: int) -> None:
        """A contestant is about to be built, or found built."""
        self.update(f"building {contestant} ({place} of {count})")

    def racing(self, at: Progress) -> None:
        """A phase of a round begins."""
        where = f" {at.cell}" if at.cell else ""
        made_up = f" (of {at.rounds}, others were void)" if at.round > at.rounds else f" of {at.rounds}"
        self.update(f"round {at.round}{made_up}: {at.phase}{where}", done=at.done, eta_s=at.eta_s, note=at.note)

    def say(self, text: str) -> None:
        """One line that stays."""
        if not self._quiet:
            self._console.print(text, markup=False, highlight=False)
