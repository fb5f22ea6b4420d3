"""Limits of noise, as a suite may state them among a cell's parameters."""

from pydantic import Field

from photofinish.contest.frozen import Frozen
from photofinish.trial.gates import Bounds


class LimitsOfNoise(Frozen):
    """Shares beyond which a trial or a round does not count; see ``gates.Bounds``."""

    rest_void: float = Field(default=Bounds().rest_void, ge=0)
    rest_label: float = Field(default=Bounds().rest_label, ge=0)
    foreign: float = Field(default=Bounds().foreign, ge=0)
    steal: float = Field(default=Bounds().steal, ge=0)

    def as_bounds(self) -> Bounds:
        """For the gates."""
        return Bounds(**self.model_dump())
