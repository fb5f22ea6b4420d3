"""niquests with ``stream=True`` and ``iter_content``; without HTTP/1 it speaks HTTP/2 with prior knowledge."""

from typing import BinaryIO

import niquests
from settings import Settings


class Fetcher:
    """A session for all repetitions, or one for each as ``niquests.get`` makes it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session = self._new_session() if settings.keep else None

    def fetch(self, file: BinaryIO | None) -> tuple[int, int]:
        """Reads one body; its bytes and the response's status."""
        if self._session is not None:
            return self._read(self._session, file)
        with self._new_session() as session:
            return self._read(session, file)

    def _new_session(self) -> niquests.Session:
        session = niquests.Session(disable_http1=self._settings.h2)
        session.trust_env = False
        return session

    def _read(self, session: niquests.Session, file: BinaryIO | None) -> tuple[int, int]:
        received = 0
        with session.get(self._settings.url, stream=True) as response:
            for piece in response.iter_content(self._settings.buffer):
                received += len(piece)
                if file is not None:
                    file.write(piece)
            return received, response.status_code

    def close(self) -> None:
        """Ends the connection that was kept."""
        if self._session is not None:
            self._session.close()
