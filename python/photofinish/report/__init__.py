"""From verdicts to what people and programs read: pure functions of verdicts."""
