"""Shared set-up; its place makes ``tests.factories`` importable from every test."""
