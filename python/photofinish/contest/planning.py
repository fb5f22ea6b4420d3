"""Makes the plan of a race from a suite, its contestants and the user's wishes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from photofinish.contest.choice import chosen
from photofinish.contest.layers import lay_over
from photofinish.contest.loading import Contestant, load_all
from photofinish.contest.plan import Absence, Entry, Plan
from photofinish.contest.presence import Machine, ThisMachine, absence_of
from photofinish.contest.problems import Problems, similar
from photofinish.contest.suite import Cell, Profile, Suite
from photofinish.errors import EnvironmentError_
from photofinish.verdict.power import fewest_rounds

TWIN_SUFFIX = "~twin"
MOST_ROUNDS_FACTOR = 6
"""A race until decided may last this many times the fewest rounds, unless the user says otherwise."""


def make_plan(
    suite: Suite,
    profile: str,
    *,
    contestants: Iterable[str] | None = None,
    cells: Iterable[str] | None = None,
    add: Iterable[str | Path] = (),
    rounds: int | None = None,
    until_decided: bool = False,
    budget_s: float | None = None,
    seed: int,
    workers: int = 1,
    alpha: float = 0.05,
    overrides: Mapping[str, Any] | None = None,
    absent: Sequence[Absence] = (),
    machine: Machine | None = None,
) -> Plan:
    """Decides a race.

    Args:
        suite: as loaded.
        profile: one of the suite's profiles.
        contestants: ids that replace the profile's; the reference is entered anyhow.
        cells: ids or patterns that replace the profile's.
        add: folders of further contestants, entered beside the others.
        rounds: replaces the profile's number; with ``until_decided`` the most rounds.
        until_decided: stop as soon as the headline is decided.
        budget_s: with ``until_decided``, no round starts after this many seconds.
        seed: of all orders.
        workers: threads, processes or loops that every contestant gets.
        alpha: family-wise error rate.
        overrides: laid over every cell's parameters, last.
        absent: contestants that are known not to be able to race (their build failed).
        machine: asked for tools and packages; default: this one.

    Raises:
        InputError: unknown names or impossible numbers, all at once.
        EnvironmentError_: not one contestant can race here.
    """
    extra = list(add)
    found = load_all(suite, extra)
    selection = _select(suite, profile, found, contestants, cells, rounds=rounds, workers=workers, alpha=alpha)
    known = set(selection.contestants)
    added = {str(Path(each).resolve()) for each in extra}
    ids = [
        *selection.contestants,
        *(each for each, at in found.items() if at.folder in added and each not in known),
    ]
    failed = {each.contestant: each for each in absent}
    missing = {each: failed.get(each) or absence_of(found[each].manifest, machine or ThisMachine()) for each in ids}
    racing = [each for each in ids if missing[each] is None]
    if not any(each != suite.reference for each in racing):
        reasons = "; ".join(f"{each.contestant}: {each.detail}" for each in missing.values() if each is not None)
        raise EnvironmentError_(f"no contestant of '{suite.name}' can race here: {reasons}")
    twins, notes = _choose_twins(suite, racing)
    judged = sum(each != suite.reference for each in racing)
    contrasted = len({cell.axes.get(suite.contrast) for cell in selection.cells}) if suite.contrast else 0
    fewest = fewest_rounds(max(1, *(count * (count - 1) // 2 for count in (judged, contrasted))), alpha)
    return Plan(
        suite=suite,
        profile=profile,
        seed=seed,
        entries=tuple(_entries(suite, found, racing, twins)),
        absent=tuple(each for each in missing.values() if each is not None),
        cells=tuple(_merge(suite, suite.profiles[profile], cell, overrides or {}) for cell in selection.cells),
        metrics=suite.metrics,
        rounds=rounds or suite.profiles[profile].rounds or fewest * (MOST_ROUNDS_FACTOR if until_decided else 1),
        until_decided=until_decided,
        budget_s=budget_s,
        alpha=alpha,
        workers=workers,
        notes=tuple(notes),
    )


class _Selection:
    def __init__(self, contestants: list[str], cells: list[Cell]) -> None:
        self.contestants = contestants
        self.cells = cells


def _select(
    suite: Suite,
    profile: str,
    found: Mapping[str, Contestant],
    contestants: Iterable[str] | None,
    cells: Iterable[str] | None,
    *,
    rounds: int | None,
    workers: int,
    alpha: float,
) -> _Selection:
    """Resolves names; in the user's order, each once."""
    problems = Problems()
    selected = suite.profiles.get(profile)
    if selected is None:
        problems.add(f"suite '{suite.name}'", "profiles", f"no profile '{profile}'", similar(profile, suite.profiles))
        selected = Profile()
    by_id = {cell.id: cell for cell in suite.cells}
    ids = list(dict.fromkeys(contestants if contestants is not None else selected.contestants)) or list(found)
    cell_ids, strangers = chosen(cells if cells is not None else selected.cells, list(by_id))
    for each in ids:
        if each not in found:
            problems.add("contestants", "", f"there is no '{each}'", similar(each, found))
    for each in strangers:
        problems.add("cells", "", f"there is no '{each}'", similar(each, by_id))
    if rounds is not None and rounds < 1:
        problems.add("rounds", "", f"{rounds} is too few", "ask for 1 or more")
    if workers < 1:
        problems.add("workers", "", f"{workers} is too few", "ask for 1 or more")
    if not 0 < alpha < 1:
        problems.add("alpha", "", f"{alpha} is no error rate", "use one between 0 and 1, such as 0.05")
    problems.raise_if_any()
    if suite.reference is not None and suite.reference not in ids and suite.reference in found:
        ids.append(suite.reference)
    return _Selection(ids, [by_id[each] for each in cell_ids or by_id])


def _choose_twins(suite: Suite, racing: Sequence[str]) -> tuple[list[str], list[str]]:
    """Who is entered twice, and what to tell about it."""
    notes = []
    twins = [each for each in suite.twins if each in racing]
    if not twins:
        twins = [next(each for each in racing if each != suite.reference)]
        notes.append(f"the twin is {twins[0]}, as {' and '.join(suite.twins)} does not race here")
    if suite.reference is not None and suite.reference not in racing:
        notes.append(f"the reference {suite.reference} does not race here, so no figure stands next to its limit")
    return twins, notes


def _entries(
    suite: Suite, found: Mapping[str, Contestant], racing: Iterable[str], twins: Sequence[str]
) -> Iterable[Entry]:
    for each in racing:
        at = found[each]
        entry = Entry(
            id=each,
            contestant=each,
            title=at.manifest.title,
            folder=at.folder,
            manifest=at.manifest,
            is_reference=each == suite.reference,
        )
        yield entry
        if each in twins:
            title = f"{at.manifest.title} (twin)"
            yield entry.model_copy(
                update={"id": f"{each}{TWIN_SUFFIX}", "title": title, "twin_of": each, "is_reference": False}
            )


def _merge(suite: Suite, profile: Profile, cell: Cell, overrides: Mapping[str, Any]) -> Cell:
    parameters: dict[str, Any] = {}
    for layer in (suite.parameters, cell.parameters, profile.parameters, overrides):
        parameters = lay_over(parameters, layer)
    return cell.model_copy(
        update={"parameters": parameters, "metrics": cell.metrics or tuple(metric.name for metric in suite.metrics)}
    )
