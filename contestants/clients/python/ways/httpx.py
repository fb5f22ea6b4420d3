"""httpx with ``stream`` and ``iter_raw``; without HTTP/1.1 it speaks HTTP/2 with prior knowledge."""

from typing import BinaryIO

import httpx
from settings import Settings


class Fetcher:
    """One client; its pool keeps an idle connection for as long as it takes, or none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        limits = (
            httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=None)
            if settings.keep
            else httpx.Limits(max_connections=100, max_keepalive_connections=0)
        )
        self._client = httpx.Client(http1=not settings.h2, http2=settings.h2, trust_env=False, limits=limits)

    def fetch(self, file: BinaryIO | None) -> tuple[int, int]:
        """Reads one body; its bytes and the response's status."""
        received = 0
        with self._client.stream("GET", self._settings.url) as response:
            for piece in response.iter_raw():
                received += len(piece)
                if file is not None:
                    file.write(piece)
            return received, response.status_code

    def close(self) -> None:
        """Ends the connection that was kept."""
        self._client.close()
