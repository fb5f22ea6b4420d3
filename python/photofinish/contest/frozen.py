"""The base of all documents."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable; an unknown key, NaN or an infinity is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
