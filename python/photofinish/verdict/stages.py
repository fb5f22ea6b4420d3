"""Races that run until decided: a fixed sequence of looks that share α, so that stopping early stays honest.

Before the race, K looks are laid at numbers of counted rounds that grow by at least half from one to the next, the last at
the plan's most rounds. Each look decides at α/K. A false winner (or a false tie) at any look has probability at most
K·(α/K) = α by the union bound, whatever the dependence between looks, the ties in the data or the rule by which the
race is ended at a look. Intervals are shown at 1 − α/K, so all looks cover together with 1 − α; adjusted p values are
multiplied by K. (Alpha spending: Lan & DeMets, Biometrika 70 (1983) 659–663; equal shares are its plainest form. With
looks that share most of their data the true rate is well below α.)

A race that ends between two looks because its time is up has done so without regard to the outcome, and may spend on
all its rounds what the looks so far have left: α·(K − looks passed)/K. One that somebody interrupts is judged by its last
look, because that somebody may have seen the figures; before the first look nothing is decided.
"""

import math
from dataclasses import dataclass, replace
from itertools import combinations

from photofinish.contest.plan import Entry, Plan
from photofinish.store.records import Race, Round
from photofinish.verdict.power import fewest_rounds
from photofinish.verdict.readings import counted_rounds

MOST_LOOKS = 5
GROWTH = 1.5
"""Least factor between the rounds of two looks."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Which rounds are judged, and how much of α they may spend."""

    rounds: tuple[Round, ...]
    share: float
    """α of the judgement = share·α; 0 where no look has been reached and nothing may be decided."""


def judged_entries(plan: Plan) -> list[Entry]:
    """Entries that may win: neither the reference nor the second entry of a twin."""
    return [entry for entry in plan.entries if not entry.is_reference and entry.twin_of is None]


def judged_pairs(plan: Plan) -> list[tuple[Entry, Entry]]:
    """All pairs of judged entries, in the plan's order."""
    return list(combinations(judged_entries(plan), 2))


def looks(plan: Plan) -> list[int]:
    """Numbers of counted rounds at which an until-decided race is judged, growing; the last is the plan's most."""
    pairs = len(judged_pairs(plan))
    for count in range(MOST_LOOKS, 1, -1):
        first = fewest_rounds(pairs, plan.alpha / count)
        if first * GROWTH ** (count - 1) <= plan.rounds:
            factor = (plan.rounds / first) ** (1 / (count - 1))
            return [math.floor(first * factor**step + 1e-9) for step in range(count)]
    return [plan.rounds]


def stage(race: Race) -> Stage:
    """The rounds and the share of α by which a race is judged as it stands."""
    plan = race.run.plan
    rounds = counted_rounds(race)
    if not plan.until_decided:
        return Stage(rounds, 1.0)
    schedule = looks(plan)
    passed = sum(look <= len(rounds) for look in schedule)
    at_a_look = passed > 0 and schedule[passed - 1] == len(rounds)
    if race.run.status == "finished" and not at_a_look and passed < len(schedule):
        return Stage(rounds, (len(schedule) - passed) / len(schedule))
    if passed == 0:
        return Stage(rounds, 0.0)
    return Stage(rounds[: schedule[passed - 1]], 1 / len(schedule))


def as_of(race: Race, look: int) -> Race:
    """The race as it stood at a look: its first ``look`` counted rounds, and the void ones in between."""
    counted = counted_rounds(race)[:look]
    last = counted[-1].index if counted else -1
    return replace(race, rounds=tuple(r for r in race.rounds if r.index <= last))
