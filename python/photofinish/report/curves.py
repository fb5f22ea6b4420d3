"""The raw histograms of a race, merged over all rounds that count: one a cell and entry."""

from collections.abc import Mapping

from photofinish.report.figures import scale_for
from photofinish.report.plot.latency import Curve
from photofinish.store.histogram import decode, merge
from photofinish.store.records import Race

PREFERRED = "response_ns"
"""Time from the intended start; without it, the first histogram of times by name."""
SHARES = (0.5, 0.9, 0.99, 0.999)


def curves(race: Race, cell: str, names: Mapping[str, str]) -> tuple[str, list[Curve]]:
    """Name of the histogram, and one curve an entry that has records, in the plan's order."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in race.rounds:
        for trial in one.trials:
            if one.void is None and trial.void is None and trial.cell == cell:
                for name, text in trial.histograms.items():
                    if name.endswith("_ns"):
                        found.setdefault(name, {}).setdefault(trial.entry, []).append(text)
    if not found:
        return "", []
    chosen = PREFERRED if PREFERRED in found else min(found)
    drawn = [
        Curve(
            names.get(entry.id, entry.id), merge(decode(text) for text in found[chosen][entry.id]), entry.is_reference
        )
        for entry in race.run.plan.entries
        if entry.id in found[chosen]
    ]
    return chosen, drawn


def percentile_rows(drawn: list[Curve]) -> tuple[str, list[tuple[str, list[str]]]]:
    """Unit, and for each curve its name with its requests, percentiles and worst value as texts."""
    values = [[curve.histogram.percentile(share) for share in (*SHARES, 1.0)] for curve in drawn]
    scale = scale_for("ns", [row[0] for row in values])
    rows = [
        (curve.name, [f"{curve.histogram.total:,}", *(scale.figure(value) for value in row)])
        for curve, row in zip(drawn, values, strict=True)
    ]
    return scale.unit, rows
