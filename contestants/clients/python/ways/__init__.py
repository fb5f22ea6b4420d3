"""The ways to fetch; each module has a class ``Fetcher`` with ``fetch(file) -> (body bytes, status)`` and ``close``.

The body is read in pieces; each is counted, written to ``file`` if there is one, and forgotten.
"""
