"""requests with ``files=``, as its quick start shows: the file is read whole, the body is built in memory."""

import requests
from settings import FIELD, PART_TYPE, Settings


class Uploader:
    """A session for all repetitions, or one for each as ``requests.post`` makes it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session = new_session() if settings.keep else None

    def upload(self) -> tuple[int, int]:
        """Sends the file once; its bytes and the response's status."""
        if self._session is not None:
            return self._send(self._session)
        with new_session() as session:
            return self._send(session)

    def _send(self, session: requests.Session) -> tuple[int, int]:
        with self._settings.file.open("rb") as file:
            part = (self._settings.file_name, file, PART_TYPE)
            response = session.post(self._settings.url, files={FIELD: part})
            return file.tell(), response.status_code

    def close(self) -> None:
        """Ends the connection that was kept."""
        if self._session is not None:
            self._session.close()


def new_session() -> requests.Session:
    """A session that takes no proxy from the environment."""
    session = requests.Session()
    session.trust_env = False
    return session
