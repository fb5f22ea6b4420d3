"""Plots as inline SVG: plain functions from figures to markup, without scripts."""
