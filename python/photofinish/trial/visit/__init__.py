"""The driver for what can stay resident and be visited by the engine in short windows: servers."""
