"""From rounds to verdicts: pure functions of the store."""
