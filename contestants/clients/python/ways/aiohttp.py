"""aiohttp with ``content.iter_chunked``."""

import asyncio
from typing import BinaryIO

import aiohttp
from settings import Settings

FOR_THE_WHOLE_RACE_S = 24 * 3600.0


class Fetcher:
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
        return aiohttp.ClientSession(connector=connector, read_bufsize=self._settings.buffer)

    def fetch(self, file: BinaryIO | None) -> tuple[int, int]:
        """Reads one body; its bytes and the response's status."""
        return self._loop.run_until_complete(self._read(file))

    async def _read(self, file: BinaryIO | None) -> tuple[int, int]:
        received = 0
        async with self._session.get(self._settings.url) as response:
            async for piece in response.content.iter_chunked(self._settings.buffer):
                received += len(piece)
                if file is not None:
                    file.write(piece)
            return received, response.status

    def close(self) -> None:
        """Ends the connection that was kept."""
        self._loop.run_until_complete(self._session.close())
        self._loop.close()
