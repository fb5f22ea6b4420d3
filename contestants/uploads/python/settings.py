"""What the environment asks for."""

import os
from dataclasses import dataclass
from pathlib import Path

FIELD = "file"
PART_TYPE = "application/octet-stream"


@dataclass(frozen=True)
class Settings:
    """The settings that every way needs."""

    url: str
    file: Path
    keep: bool
    """One connection for all repetitions; else a new one for each."""
    buffer: int
    """Bytes to read and write at a time, where the library lets one say so."""

    @classmethod
    def from_environment(cls) -> "Settings":
        """Reads the ``PHOTOFINISH_…`` variables.

        Raises:
            KeyError: one of them is missing.
        """
        return cls(
            url=os.environ["PHOTOFINISH_URL"],
            file=Path(os.environ["PHOTOFINISH_FILE"]),
            keep=os.environ["PHOTOFINISH_CONNECTION"] == "keep",
            buffer=int(os.environ["PHOTOFINISH_BUFFER"]),
        )

    @property
    def file_name(self) -> str:
        """The base name, as the part's ``filename``."""
        return self.file.name
