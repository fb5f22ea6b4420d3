"""What the environment asks for."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The settings that every way needs."""

    url: str
    keep: bool
    """One connection for all repetitions; else a new one for each."""
    h2: bool
    """HTTP/2 over clear TCP with prior knowledge; else HTTP/1.1."""
    buffer: int
    """Bytes to read at a time, where the library lets one say so."""

    @classmethod
    def from_environment(cls) -> "Settings":
        """Reads the ``PHOTOFINISH_…`` variables.

        Raises:
            KeyError: one of them is missing.
        """
        return cls(
            url=os.environ["PHOTOFINISH_URL"],
            keep=os.environ["PHOTOFINISH_CONNECTION"] == "keep",
            h2=os.environ["PHOTOFINISH_PROTOCOL"] == "h2",
            buffer=int(os.environ["PHOTOFINISH_BUFFER"]),
        )
