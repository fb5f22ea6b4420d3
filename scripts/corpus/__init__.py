"""What the frozen payloads in ``corpus/`` are made of."""
