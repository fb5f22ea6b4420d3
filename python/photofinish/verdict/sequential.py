"""``--until-decided``: when a race may end. The rule and why it is honest: ``stages.py``."""

from photofinish.store.records import Race
from photofinish.verdict.judge import headline_is_decided
from photofinish.verdict.readings import counted_rounds
from photofinish.verdict.stages import as_of, looks

__all__ = ["decided", "looks"]


def decided(race: Race, look: int) -> bool:
    """Whether a race may end at this look: every judged pair of the headline metric is won or tied.

    Args:
        race: at least ``look`` counted rounds; later ones are not looked at.
        look: one of ``looks(race.run.plan)``.

    Raises:
        ValueError: ``look`` is none of the plan's looks, or has not been reached.
    """
    schedule = looks(race.run.plan)
    if look not in schedule:
        raise ValueError(f"{look} rounds are no look of this plan; its looks are {schedule}")
    counted = len(counted_rounds(race))
    if counted < look:
        raise ValueError(f"the race has {counted} rounds that count; this look needs {look}")
    return headline_is_decided(as_of(race, look))
