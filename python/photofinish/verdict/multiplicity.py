"""Many pairs at once: Holm for winners, Benjamini–Hochberg for exploratory tables.

Holm, Scandinavian Journal of Statistics 6 (1979) 65–70: with p₍₁₎ ≤ … ≤ p₍ₘ₎ the adjusted value of rank i is
max over j ≤ i of (m − j + 1)·p₍ⱼ₎, at most 1. The probability of any false winner stays below α whatever the dependence.

Benjamini & Hochberg, Journal of the Royal Statistical Society B 57 (1995) 289–300: min over j ≥ i of (m/j)·p₍ⱼ₎. It
bounds the expected share of false discoveries, so it names no winner.
"""

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _restored(stepped, order)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    m = len(p)
    order = np.argsort(p, kind="stable")
    stepped = np.minimum.accumulate((p[order] * (m / np.arange(1, m + 1)))[::-1])[::-1]
    return _restored(stepped, order)


def _restored(stepped: np.ndarray, order: np.ndarray) -> list[float]:
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]
