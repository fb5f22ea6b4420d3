"""What the environment asks for."""

import os
import ssl
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The settings that every way needs."""

    url: str
    keep: bool
    """One connection for all repetitions; else a new one for each."""
    version: str
    """Of HTTP: ``1``, ``2`` or ``3``."""
    accept_encoding: str
    """Sent as it is."""
    ca: str | None
    """PEM file to trust; None in clear text."""

    @classmethod
    def from_environment(cls) -> "Settings":
        """Reads the ``PHOTOFINISH_…`` variables.

        Raises:
            KeyError: one of them is missing, or is no protocol.
        """
        protocol = os.environ["PHOTOFINISH_PROTOCOL"]
        return cls(
            url=os.environ["PHOTOFINISH_URL"],
            keep=os.environ["PHOTOFINISH_CONNECTION"] == "keep",
            version={"http/1.1": "1", "http/1.1+tls": "1", "h2": "2", "h2+tls": "2", "h3": "3"}[protocol],
            accept_encoding=os.environ["PHOTOFINISH_ACCEPT_ENCODING"],
            ca=os.environ["PHOTOFINISH_CA"] if protocol not in {"http/1.1", "h2"} else None,
        )

    def tls(self) -> ssl.SSLContext | bool:
        """What verifies the server: TLS 1.3 with the one authority; nothing is verified in clear text."""
        if self.ca is None:
            return False
        context = ssl.create_default_context(cafile=self.ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return context


@dataclass(frozen=True)
class Fetched:
    """A response as it came."""

    status: int
    coding: str
    """Content-Encoding; ``identity`` if there is none."""
    body: bytes
    """Still coded."""
