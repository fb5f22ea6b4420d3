"""The append-only store: every finished round of every race, raw."""
