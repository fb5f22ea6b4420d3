"""The wish to stop: set by a signal handler, looked at wherever something takes long."""

import threading


class Interrupted(Exception):  # noqa: N818 - no error, but the user's wish
    """What was under way has been given up, because the user asked for it."""


class StopFlag:
    """Set once: stop soon. Set twice: stop at once, without grace."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._times = 0

    def set(self) -> None:
        """Asks to stop; safe to call from a signal handler."""
        self._times += 1
        self._event.set()

    @property
    def requested(self) -> bool:
        """Has anybody asked?"""
        return self._times > 0

    @property
    def urgent(self) -> bool:
        """Has somebody asked twice?"""
        return self._times > 1

    def check(self) -> None:
        """Raises ``Interrupted`` if stopping was asked for."""
        if self.requested:
            raise Interrupted

    def wait(self, seconds: float) -> bool:
        """Sleeps that long, less if asked to stop meanwhile; answers whether that was so."""
        return self._event.wait(seconds)
