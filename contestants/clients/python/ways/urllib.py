"""urllib.request of the standard library; it makes a connection for each request and has no way to keep one."""

from http.client import HTTPResponse
from typing import BinaryIO
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from settings import Settings


class Fetcher:
    """An opener without proxies."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opener = build_opener(ProxyHandler({}))

    def fetch(self, file: BinaryIO | None) -> tuple[int, int]:
        """Reads one body; its bytes and the response's status."""
        received = 0
        with self._open() as response:
            while piece := response.read(self._settings.buffer):
                received += len(piece)
                if file is not None:
                    file.write(piece)
            return received, response.status

    def _open(self) -> HTTPResponse | HTTPError:
        try:
            return self._opener.open(self._settings.url)
        except HTTPError as refused:
            return refused

    def close(self) -> None:
        """Nothing is kept."""
