"""A race seen from the side: the values of one axis compete, contestant by contestant.

Where all cells of a round are visited in one tour, the windows of two cells alternate just as those of two contestants do, so
that their log ratios pair by cycle and round in the same way. A pivoted race holds the same trials under other names: its
entries are the values of the axis, its cells are the contestants, each on every combination of the other axes. It is judged
by the same rules.

A contestant that was entered twice has its twin in the pivoted race too: the same value, measured on the second entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from photofinish.contest.plan import Entry, Plan
from photofinish.contest.suite import Cell
from photofinish.store.records import Race, Round, Trial, Void

TWIN = "~twin"
NO_TWIN = Void("not-capable", "its contestant is entered once")


@dataclass(frozen=True, slots=True)
class Group:
    """A cell of the pivoted race: one contestant on one combination of the other axes."""

    id: str
    contestant: str
    """The entry's id."""
    axes: Mapping[str, str]
    title: str


@dataclass(frozen=True, slots=True)
class Pivot:
    """A race seen from the side of one axis."""

    race: Race
    values: tuple[str, ...]
    """Of the axis, in the order of the cells."""
    groups: tuple[Group, ...]
    """The cells of ``race``, in the order of the plan's cells and then of its entries."""


def pivot(race: Race, axis: str) -> Pivot | None:
    """The race in which the values of ``axis`` compete; None if fewer than two of them were raced.

    Cells without the axis are left out, and so is what differs from its neighbours in nothing but the axis's absence.
    """
    plan = race.run.plan
    cells = {cell.id: cell for cell in plan.cells if axis in cell.axes}
    values = tuple(dict.fromkeys(cell.axes[axis] for cell in cells.values()))
    if len(values) < 2:
        return None
    groups: dict[str, Group] = {}
    for cell in cells.values():
        for entry in plan.entries:
            if entry.twin_of is None:
                group = _group(cell, axis, entry)
                groups.setdefault(group.id, group)
    twins = {entry.id: entry.twin_of for entry in plan.entries if entry.twin_of is not None}
    turned = plan.model_copy(
        update={
            "entries": tuple(_entries(plan, values, with_twins=bool(twins))),
            "cells": tuple(
                Cell(id=group.id, title=group.title, metrics=_metrics(cells, group)) for group in groups.values()
            ),
        }
    )
    turner = _Turner(axis, cells, groups, twins, values)
    rounds = tuple(turner.turned(one) for one in race.rounds)
    return Pivot(replace(race, run=replace(race.run, plan=turned), rounds=rounds), values, tuple(groups.values()))


def _group(cell: Cell, axis: str, entry: Entry) -> Group:
    rest = {name: value for name, value in cell.axes.items() if name != axis}
    title = ", ".join([entry.title, *(cell.titles.get(name, value) for name, value in rest.items())])
    return Group("/".join([entry.id, *rest.values()]), entry.id, rest, title)


def _metrics(cells: Mapping[str, Cell], group: Group) -> tuple[str, ...]:
    """Those of the cells that the group is made of."""
    same = (cell for cell in cells.values() if group.axes.items() <= cell.axes.items())
    return tuple(dict.fromkeys(name for cell in same for name in cell.metrics))


def _entries(plan: Plan, values: tuple[str, ...], *, with_twins: bool) -> list[Entry]:
    manifest = plan.entries[0].manifest.model_copy(update={"language": "", "version": "", "tuning": "default"})
    made = []
    for value in values:
        entry = Entry(id=value, contestant=value, title=value, folder="", manifest=manifest)
        made.append(entry)
        if with_twins:
            made.append(entry.model_copy(update={"id": value + TWIN, "title": f"{value} (twin)", "twin_of": value}))
    return made


@dataclass(frozen=True, slots=True)
class _Turner:
    """Gives trials their other names."""

    axis: str
    cells: Mapping[str, Cell]
    groups: Mapping[str, Group]
    twins: Mapping[str, str]
    values: tuple[str, ...]

    def turned(self, one: Round) -> Round:
        """The round with its trials under their other names; a group whose contestant has no twin says so."""
        found = {
            (trial.cell, trial.entry): trial
            for each in one.trials
            if (cell := self.cells.get(each.cell)) is not None
            for trial in [self._trial(each, cell)]
        }
        alone = [
            Trial(group, value + TWIN, -1, void=NO_TWIN)
            for group in self.groups
            for value in self.values
            if self.twins and (group, value + TWIN) not in found
        ]
        return replace(one, trials=(*found.values(), *alone))

    def _trial(self, trial: Trial, cell: Cell) -> Trial:
        rest = [value for name, value in cell.axes.items() if name != self.axis]
        group = "/".join([self.twins.get(trial.entry, trial.entry), *rest])
        return replace(trial, cell=group, entry=cell.axes[self.axis] + (TWIN if trial.entry in self.twins else ""))
