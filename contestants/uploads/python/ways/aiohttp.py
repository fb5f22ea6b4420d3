"""aiohttp with ``FormData``: the file is read in a thread and sent in pieces, its length is known beforehand."""

import asyncio
import os

import aiohttp
from settings import FIELD, PART_TYPE, Settings

FOR_THE_WHOLE_RACE_S = 24 * 3600.0


class Uploader:
    """One session on one event loop, which runs only while a repetition lasts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._session = self._loop.run_until_complete(self._new_session())

    async def _new_session(self) -> aiohttp.ClientSession:
        connector = (
            aiohttp.TCPConnector(keepalive_timeout=FOR_THE_WHOLE_RACE_S)
            if self._settings.keep
            else aiohttp.TCPConnector(force_close=True)
        )
        return aiohttp.ClientSession(connector=connector)

    def upload(self) -> tuple[int, int]:
        """Sends the file once; its bytes and the response's status."""
        return self._loop.run_until_complete(self._send())

    async def _send(self) -> tuple[int, int]:
        with self._settings.file.open("rb") as file:
            # aiohttp closes the file when it is sent; then it can't be asked how far it was read.
            size = os.fstat(file.fileno()).st_size
            form = aiohttp.FormData()
            form.add_field(FIELD, file, filename=self._settings.file_name, content_type=PART_TYPE)
            async with self._session.post(self._settings.url, data=form) as response:
                await response.read()
                return size, response.status

    def close(self) -> None:
        """Ends the connection that was kept."""
        self._loop.run_until_complete(self._session.close())
        self._loop.close()
