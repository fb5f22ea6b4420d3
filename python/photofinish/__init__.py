"""Photofinish: races the parts of an HTTP system and names a winner only where the measurements support one."""
