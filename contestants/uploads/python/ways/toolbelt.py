"""requests-toolbelt's ``MultipartEncoder``: requests reads the body piece by piece, its length is known beforehand."""

from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests_toolbelt import MultipartEncoder
from settings import FIELD, PART_TYPE, Settings


class BufferedAdapter(HTTPAdapter):
    """Sends bodies in pieces of ``block_bytes``; requests passes no such setting on to urllib3."""

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As in requests, with urllib3's size of a piece."""
        super().init_poolmanager(*args, blocksize=self._block_bytes, **kwargs)


class Uploader:
    """A session for all repetitions, or one for each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session = self._new_session() if settings.keep else None

    def upload(self) -> tuple[int, int]:
        """Sends the file once; its bytes and the response's status."""
        if self._session is not None:
            return self._send(self._session)
        with self._new_session() as session:
            return self._send(session)

    def _new_session(self) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.mount("http://", BufferedAdapter(self._settings.buffer))
        return session

    def _send(self, session: requests.Session) -> tuple[int, int]:
        with self._settings.file.open("rb") as file:
            body = MultipartEncoder({FIELD: (self._settings.file_name, file, PART_TYPE)})
            response = session.post(self._settings.url, data=body, headers={"Content-Type": body.content_type})
            return file.tell(), response.status_code

    def close(self) -> None:
        """Ends the connection that was kept."""
        if self._session is not None:
            self._session.close()
