"""httpx with ``stream`` and ``iter_raw``, so that the body comes as it was sent."""

import httpx
from settings import Fetched, Settings


class Fetcher:
    """One client; its pool keeps an idle connection for as long as it takes, or none."""

    def __init__(self, settings: Settings) -> None:
        self._url = settings.url
        limits = (
            httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=None)
            if settings.keep
            else httpx.Limits(max_connections=100, max_keepalive_connections=0)
        )
        self._client = httpx.Client(
            http1=settings.version == "1",
            http2=settings.version == "2",
            verify=settings.tls(),
            trust_env=False,
            limits=limits,
            headers={"Accept-Encoding": settings.accept_encoding},
        )

    def fetch(self) -> Fetched:
        """Reads one response whole."""
        with self._client.stream("GET", self._url) as response:
            body = b"".join(response.iter_raw())
            return Fetched(response.status_code, response.headers.get("Content-Encoding", "identity"), body)

    def close(self) -> None:
        """Ends the connection that was kept."""
        self._client.close()
