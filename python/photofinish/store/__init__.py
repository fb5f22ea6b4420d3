"""The append-only store: every finished round of every race, raw."""

from photofinish.store.store import RunSummary, Store

__all__ = ["RunSummary", "Store"]
