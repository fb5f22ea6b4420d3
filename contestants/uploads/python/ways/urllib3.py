"""urllib3 with ``fields=``, as its user guide shows: the file is read whole, the body is built in memory."""

import urllib3
from settings import FIELD, PART_TYPE, Settings


class Uploader:
    """A pool for all repetitions, or one for each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = self._new_pool() if settings.keep else None

    def upload(self) -> tuple[int, int]:
        """Sends the file once; its bytes and the response's status."""
        if self._pool is not None:
            return self._send(self._pool)
        with self._new_pool() as pool:
            return self._send(pool)

    def _new_pool(self) -> urllib3.PoolManager:
        return urllib3.PoolManager(retries=False, blocksize=self._settings.buffer)

    def _send(self, pool: urllib3.PoolManager) -> tuple[int, int]:
        with self._settings.file.open("rb") as file:
            content = file.read()
        part = (self._settings.file_name, content, PART_TYPE)
        response = pool.request("POST", self._settings.url, fields={FIELD: part})
        return len(content), response.status

    def close(self) -> None:
        """Ends the connection that was kept."""
        if self._pool is not None:
            self._pool.clear()
