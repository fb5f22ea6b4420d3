"""Simulates the verdict's rules on synthetic noise; prints the figures that docs/method.md quotes.

Usage: python benches/verdicts/simulate.py [PART …]  with parts rates, coverage, floor, sequential, paired-t, power, warmup.
Everything is seeded: the same numbers on every machine, whatever its load.
"""

import argparse
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from photofinish.verdict.effects import (
    Floats,
    _null_distribution,
    hodges_lehmann,
    interval_rank,
    walsh_averages,
)
from photofinish.verdict.floor import noise_floor
from photofinish.verdict.power import detectable_shift, fewest_rounds
from photofinish.verdict.warmup import steadiness

Noise = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def _normal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return 0.004 * random.standard_normal(shape)


def _student(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return 0.003 * random.standard_t(3, shape)


def _bursts(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One figure in ten is dearer by up to 10 %: something ran beside it."""
    hit = random.random(shape) < 0.1
    return 0.003 * random.standard_normal(shape) + hit * random.uniform(0, 0.1, shape)


def _two_layouts(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """A process gets one of two layouts, 2 % apart, for its whole life."""
    return 0.001 * random.standard_normal(shape) + 0.02 * (random.random(shape) < 0.5)


def _rare_layout(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """As above, but one layout is rare and the windows are very quiet."""
    return 0.0003 * random.standard_normal(shape) + 0.03 * (random.random(shape) < 0.15)


NOISES: dict[str, Noise] = {
    "normal 0.4 %": _normal,
    "Student t3": _student,
    "bursts": _bursts,
    "two layouts": _two_layouts,
    "rare layout": _rare_layout,
}


def signed_rank_p(differences: Floats) -> Floats:
    """Exact two-sided p along the last axis, for differences without zeros and ties; shape (…, n) → (…)."""
    n = differences.shape[-1]
    ranks = np.abs(differences).argsort(axis=-1).argsort(axis=-1) + 1
    positive = np.where(differences > 0, ranks, 0).sum(axis=-1)
    below = np.cumsum(_null_distribution(tuple(2 * r for r in range(1, n + 1)))[::2])
    p: Floats = np.minimum(1.0, 2 * below[np.minimum(positive, n * (n + 1) // 2 - positive)])
    return p


def _pairs(entries: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(entries, 1)


def _differences(noise: Noise, seed: int, *, races: int, rounds: int, entries: int) -> Floats:
    """Log ratios of all pairs of identical entries: shape (races, pairs, rounds)."""
    random = np.random.default_rng(seed)
    figures = noise(random, (races, entries, rounds))
    i, j = _pairs(entries)
    differences: Floats = figures[:, j] - figures[:, i]
    return differences


def rates(races: int = 4000) -> Iterator[str]:
    """Any false winner among identical entries, at the fewest rounds for the pairs."""
    yield "| noise | entries (pairs) | rounds | Holm p ≤ .05 somewhere | and its interval outside ±1 % |"
    yield "| --- | --- | --- | --- | --- |"
    for name, noise in NOISES.items():
        for entries in (2, 8):
            pairs = entries * (entries - 1) // 2
            rounds = fewest_rounds(pairs, 0.05)
            d = _differences(noise, 1, races=races, rounds=rounds, entries=entries)
            significant = signed_rank_p(d) <= 0.05 / pairs
            outside = _outside(d, 0.05, 0.01)
            yield (
                f"| {name} | {entries} ({pairs}) | {rounds} | {_share(significant.any(axis=1))} "
                f"| {_share((significant & outside).any(axis=1))} |"
            )


def coverage(races: int = 4000) -> Iterator[str]:
    """Share of 95 % intervals that hold the true effect."""
    yield "| noise | 6 rounds | 11 rounds | 20 rounds |"
    yield "| --- | --- | --- | --- |"
    for name, noise in NOISES.items():
        cells = []
        for rounds in (6, 11, 20):
            low, high = _intervals(_differences(noise, 2, races=races, rounds=rounds, entries=2)[:, 0], 0.05)
            cells.append(_share((low <= 0) & (high >= 0)))
        yield f"| {name} | {' | '.join(cells)} |"


def floor(races: int = 800) -> Iterator[str]:
    """How often a fresh A/A ratio exceeds the floor of a race's one twin, and how large three candidates are."""
    yield "| noise | rounds | true 95th percentile | floor (median) | fresh A/A beyond floor | outer end of interval |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, noise in NOISES.items():
        for rounds in (6, 11, 20):
            d = _differences(noise, 3, races=races, rounds=rounds, entries=2)[:, 0]
            fresh = np.abs(hodges_lehmann(_differences(noise, 4, races=4000, rounds=rounds, entries=2)[:, 0]))
            floors = np.log1p(np.array([noise_floor([one]) or 0.0 for one in d]))
            low, high = _intervals(d, 0.05)
            outer = np.median(np.maximum(np.abs(low), np.abs(high)))
            beyond = float((fresh[None, :] > floors[:, None]).mean())
            yield (
                f"| {name} | {rounds} | {_percent(float(np.quantile(fresh, 0.95)))} | {_percent(float(np.median(floors)))} "
                f"| {100 * beyond:.1f} % | {_percent(float(outer))} |"
            )


def sequential(races: int = 4000) -> Iterator[str]:
    """Any false winner at any look of an until-decided race of identical entries, with and without sharing α."""
    yield "| noise | entries | looks | α/K at each look | α at each look (wrong) |"
    yield "| --- | --- | --- | --- | --- |"
    for name, noise in NOISES.items():
        for entries, looks in ((2, (8, 13, 20, 33, 54)), (8, (13, 19, 29, 44, 66))):
            pairs = entries * (entries - 1) // 2
            within = [look for look in looks if look <= 60]
            d = _differences(noise, 5, races=races // (1 if entries == 2 else 4), rounds=max(within), entries=entries)
            p = np.stack([signed_rank_p(d[..., :look]).min(axis=1) for look in within], axis=1)
            shared = (p <= 0.05 / pairs / len(looks)).any(axis=1)
            naive = (p <= 0.05 / pairs).any(axis=1)
            yield f"| {name} | {entries} | {within} | {_share(shared)} | {_share(naive)} |"


def paired_t(races: int = 40_000) -> Iterator[str]:
    """Any false winner by a paired t test with Holm over 28 pairs, at fewer rounds than the signed-rank test allows."""
    yield "| noise | rounds | t: Holm p ≤ .05 somewhere | and beyond ±1 % | 2 % effect found by t | found by signed rank |"
    yield "| --- | --- | --- | --- | --- | --- |"
    entries, pairs = 8, 28
    for name, noise in NOISES.items():
        for rounds in (4, 5, 6):
            false, material, found = [], [], []
            for part in range(10):
                d = _differences(noise, 600 + part, races=races // 10, rounds=rounds, entries=entries)
                mean, error = d.mean(axis=-1), d.std(axis=-1, ddof=1) / math.sqrt(rounds)
                critical = student.isf(0.025 / pairs, rounds - 1)
                significant = np.abs(mean) > critical * error
                half = student.isf(0.025, rounds - 1) * error
                beyond = np.abs(mean) - half > math.log1p(0.01)
                false.append(significant.any(axis=1))
                material.append((significant & beyond).any(axis=1))
                found.append(np.abs(mean[:, 0] + 0.02) > critical * error[:, 0])
            yield (
                f"| {name} | {rounds} | {_share(np.concatenate(false))} | {_share(np.concatenate(material))} "
                f"| {_share(np.concatenate(found))} | impossible |"
            )


def power(races: int = 4000) -> Iterator[str]:
    """Probability that an effect of exactly the stated shift is found (should be 80 %), and e(n, α) itself."""
    yield "| rounds | pairs | e(n, α/m) in standard deviations | normal formula | found |"
    yield "| --- | --- | --- | --- | --- |"
    for rounds, pairs in ((6, 1), (11, 1), (11, 28), (11, 36), (20, 36), (40, 36)):
        e = detectable_shift(rounds, 0.05 / pairs)
        if e is None:
            continue
        d = np.random.default_rng(7).standard_normal((races, rounds)) + e
        z = 0.8416 + float(student.isf(0.025 / pairs, 10**9))
        yield (
            f"| {rounds} | {pairs} | {e:.2f} | {z / math.sqrt(rounds):.2f} "
            f"| {_share(signed_rank_p(d) <= 0.05 / pairs)} |"
        )


def warmup(series: int = 1000, windows: int = 60) -> Iterator[str]:
    """Labels of series of 60 window costs."""
    random = np.random.default_rng(8)
    labels = ("flat", "warming-up", "slowing-down", "no-steady-state")
    yield f"| series | {' | '.join(labels)} |"
    yield "| --- | --- | --- | --- | --- |"
    normal = random.normal(0, 0.03, (series, windows))
    wandering = random.normal(0, 0.03, (series, windows))
    for window in range(1, windows):
        wandering[:, window] += 0.5 * wandering[:, window - 1]
    dear_start = normal.copy()
    dear_start[:, : windows // 3] += math.log(1.1)
    for name, logs in {
        "normal 3 %": normal,
        "Student t3, 2 %": 0.02 * random.standard_t(3, (series, windows)),
        "autocorrelated, AR(1) of 0.5": wandering,
        "normal 3 %, first third 10 % dearer": dear_start,
    }.items():
        found: list[str] = [steadiness(list(np.exp(row))).label for row in logs]
        yield f"| {name} | {' | '.join(_percent(found.count(label) / series) for label in labels)} |"


def _intervals(d: Floats, alpha: float) -> tuple[Floats, Floats]:
    walsh = np.sort(walsh_averages(d), axis=-1)
    k = interval_rank(d.shape[-1], alpha)
    return walsh[..., k - 1], walsh[..., -k]


def _outside(d: Floats, alpha: float, delta: float) -> np.ndarray:
    low, high = _intervals(d, alpha)
    return np.asarray((low > math.log1p(delta)) | (high < -math.log1p(delta)))


def _share(events: ArrayLike) -> str:
    return _percent(float(np.asarray(events).mean()))


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "rates": rates,
    "coverage": coverage,
    "floor": floor,
    "sequential": sequential,
    "paired-t": paired_t,
    "power": power,
    "warmup": warmup,
}


def main() -> None:
    """Print the asked-for tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    for name in parser.parse_args().parts or PARTS:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; choose from {', '.join(PARTS)}")
        print(f"## {name}: {(PARTS[name].__doc__ or '').strip()}\n", *PARTS[name](), "", sep="\n")


if __name__ == "__main__":
    main()
