"""pycurl with ``WRITEFUNCTION``, on the libcurl that its wheel brings along."""

from typing import BinaryIO

import pycurl
from settings import Settings

FOR_THE_WHOLE_RACE_S = 24 * 3600


class Fetcher:
    """One handle, which keeps its connection or is told to drop it."""

    def __init__(self, settings: Settings) -> None:
        curl = pycurl.Curl()
        curl.setopt(pycurl.URL, settings.url)
        curl.setopt(pycurl.NOPROXY, "*")
        curl.setopt(pycurl.BUFFERSIZE, settings.buffer)
        curl.setopt(pycurl.MAXAGE_CONN, FOR_THE_WHOLE_RACE_S)
        curl.setopt(pycurl.FORBID_REUSE, not settings.keep)
        version = pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE if settings.h2 else pycurl.CURL_HTTP_VERSION_1_1
        curl.setopt(pycurl.HTTP_VERSION, version)
        self._curl = curl

    def fetch(self, file: BinaryIO | None) -> tuple[int, int]:
        """Reads one body; its bytes and the response's status."""
        received = 0

        def take(piece: bytes) -> None:
            nonlocal received
            received += len(piece)
            if file is not None:
                file.write(piece)

        self._curl.setopt(pycurl.WRITEFUNCTION, take)
        self._curl.perform()
        return received, self._curl.getinfo(pycurl.RESPONSE_CODE)

    def close(self) -> None:
        """Ends the connection that was kept."""
        self._curl.close()
