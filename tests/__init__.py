"""Tests of the laboratory; folders mirror ``python/photofinish``."""
