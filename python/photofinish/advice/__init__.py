"""Which content coding to use for one's own payload: measured, judged, and said as a setting."""
