"""Starts, drives, measures and gates the rounds of a plan."""
