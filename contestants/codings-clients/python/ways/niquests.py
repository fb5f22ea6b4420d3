"""niquests with ``stream=True`` and the raw body; with two of three versions turned off it speaks the third at once."""

import niquests
from settings import Fetched, Settings


class Fetcher:
    """A session for all repetitions, or one for each as ``niquests.get`` makes it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session = self._new_session() if settings.keep else None

    def fetch(self) -> Fetched:
        """Reads one response whole."""
        if self._session is not None:
            return self._read(self._session)
        with self._new_session() as session:
            return self._read(session)

    def _new_session(self) -> niquests.Session:
        version = self._settings.version
        session = niquests.Session(
            disable_http1=version != "1",
            disable_http2=version != "2",
            disable_http3=version != "3",
        )
        session.trust_env = False
        session.verify = self._settings.ca or False
        session.headers["Accept-Encoding"] = self._settings.accept_encoding
        return session

    def _read(self, session: niquests.Session) -> Fetched:
        with session.get(self._settings.url, stream=True) as response:
            if response.raw is None or response.status_code is None:
                raise ConnectionError("there is no response")
            body = response.raw.read(decode_content=False)
            return Fetched(response.status_code, response.headers.get("Content-Encoding", "identity"), body)

    def close(self) -> None:
        """Ends the connection that was kept."""
        if self._session is not None:
            self._session.close()
