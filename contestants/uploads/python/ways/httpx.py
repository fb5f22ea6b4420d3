"""httpx with ``files=``: the file is read and sent in pieces, its length is known beforehand."""

import httpx
from settings import FIELD, PART_TYPE, Settings


class Uploader:
    """One client; its pool keeps an idle connection for as long as it takes, or none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        limits = (
            httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=None)
            if settings.keep
            else httpx.Limits(max_connections=100, max_keepalive_connections=0)
        )
        self._client = httpx.Client(trust_env=False, limits=limits)

    def upload(self) -> tuple[int, int]:
        """Sends the file once; its bytes and the response's status."""
        with self._settings.file.open("rb") as file:
            part = (self._settings.file_name, file, PART_TYPE)
            response = self._client.post(self._settings.url, files={FIELD: part})
            return file.tell(), response.status_code

    def close(self) -> None:
        """Ends the connection that was kept."""
        self._client.close()
