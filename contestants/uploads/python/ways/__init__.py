"""The ways to upload; each module has a class ``Uploader`` with ``upload() -> (file bytes sent, status)`` and ``close``."""
