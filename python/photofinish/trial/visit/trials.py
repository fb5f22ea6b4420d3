"""From what the engine said about one cell to trials: windows, figures, evidence, and what does not count. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from photofinish.contest.suite import Cell, Metric
from photofinish.store.histogram import decode
from photofinish.store.records import Trial, Void, Window
from photofinish.testbed.proc import Footprint
from photofinish.trial import gates
from photofinish.trial.engine import Told
from photofinish.trial.visit.parameters import Closed, VisitParameters
from photofinish.verdict.warmup import steadiness

PERCENTILES = {"latency_p50_ns": 0.50, "latency_p90_ns": 0.90, "latency_p99_ns": 0.99, "latency_p999_ns": 0.999}
REQUESTS_FOR_STEADINESS = 100
"""Windows with fewer scatter too much to tell a trend from chance."""
WINDOW_VALUES = (
    "cpu_ns",
    "wall_ns",
    "drain_ns",
    "requests",
    "body_bytes",
    "wire_bytes",
    "censored",
    "connects",
    "offered",
    "rest_cpu_ns",
    "rest_wall_ns",
    "engine_cpu_ns",
    "engine_busy_ns",
    "latency_sum_ns",
)


@dataclass(frozen=True, slots=True)
class Visited:
    """One entry of a visit, with what the laboratory saw of its processes."""

    entry: str
    slot: int
    index: int
    """Place among the visit's targets."""
    before: Footprint
    after: Footprint
    end: str | None
    """How its first process ended during the visit, and its last line; None if it still ran."""
    constants: Mapping[str, float | None]
    """Figures known beforehand: ``binary_bytes``, ``build_s``, ``startup_s``."""
    cores: int
    """How many it may use."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """Sums over the windows of the phase that counts."""

    windows: list[dict[str, Any]]
    requests: int
    wall_ns: int
    cpu_share: float
    """Of its cores, while its windows were open."""
    engine_busy: float
    rest_share: float
    offered: int | None
    reconnects: int
    """Connections beyond those that the engine itself makes anew."""

    @property
    def rate(self) -> float:
        return self.requests / self.wall_ns * 1e9 if self.wall_ns else 0.0


def trials_of(
    cell: Cell,
    parameters: VisitParameters,
    visit: Told,
    visited: Sequence[Visited],
    *,
    metrics: Sequence[Metric],
    reference: str | None,
    shared_core: bool,
) -> list[Trial]:
    """One trial for each visited entry.

    Args:
        cell: the cell.
        parameters: its parameters, read.
        visit: what the engine said.
        visited: the entries.
        metrics: of the suite; those that are counted per wall time are figures of capacity.
        reference: the entry whose rate is the ceiling.
        shared_core: contestants and engine had only one core.
    """
    measured = {each.entry: _measured(parameters, visit, each) for each in visited}
    closed = isinstance(parameters.load, Closed)
    bound = {
        entry: closed and (shared_core or gates.generator_bound(sums.engine_busy, sums.cpu_share))
        for entry, sums in measured.items()
    }
    ceiling = measured[reference].rate if reference in measured else None
    capacity = [metric.name for metric in metrics if metric.source == "windows" and metric.denominator == "wall_ns"]
    trials = []
    for each in visited:
        sums = measured[each.entry]
        capped = bound[each.entry] or (
            closed
            and gates.under_a_false_ceiling(
                sums.rate, ceiling, reference_generator_bound=bound.get(reference or "", False)
            )
        )
        voided = dict.fromkeys(capacity, "generator-bound") if capped else {}
        labels = ("shared-core",) if shared_core else ()
        trials.append(_trial(cell, parameters, visit, each, sums, voided=voided, labels=labels))
    return trials


def _measured(parameters: VisitParameters, visit: Told, each: Visited) -> _Measured:
    all_windows = visit.windows.get(each.index, [])
    connects = [window["connects"] for window in all_windows]
    usual = parameters.load.connections
    again = sum(max(0, made - usual) for made in connects) if parameters.reconnect else max(0, sum(connects) - usual)
    windows = [window for window in all_windows if window["phase"] == "measure"]
    wall = _sum(windows, "wall_ns")
    rest = _sum(windows, "rest_wall_ns")
    offered = [window["offered"] for window in windows if window.get("offered") is not None]
    return _Measured(
        windows=windows,
        requests=_sum(windows, "requests"),
        wall_ns=wall,
        cpu_share=_sum(windows, "cpu_ns") / (wall * each.cores) if wall else 0.0,
        engine_busy=_engine_busy(visit, windows) / wall if wall else 0.0,
        rest_share=_sum(windows, "rest_cpu_ns") / rest if rest else 0.0,
        offered=sum(offered) if offered else None,
        reconnects=again,
    )


def _engine_busy(visit: Told, windows: Sequence[Mapping[str, Any]]) -> int:
    """The larger of what the engine did in user space and what CPU it used: the kernel works inside its waits.

    An engine that spins uses all CPU there is; then only the first one tells.
    """
    busy = _sum(windows, "engine_busy_ns")
    return busy if visit.end.get("spin") else max(busy, _sum(windows, "engine_cpu_ns"))


def _trial(
    cell: Cell,
    parameters: VisitParameters,
    visit: Told,
    each: Visited,
    sums: _Measured,
    *,
    voided: dict[str, str],
    labels: tuple[str, ...],
) -> Trial:
    target = visit.targets.get(each.index)
    if target is None or not sums.windows:
        void = Void("crashed", each.end) if each.end else Void("not-measured", "the engine reported no windows")
        return Trial(cell.id, each.entry, each.slot, void=void)
    figures = _figures(visit, each, target)
    wanted = set(cell.metrics)
    for figure in PERCENTILES:
        if figure not in figures:
            continue
        if _too_slow(sums):  # what it never answered would have been the slowest
            voided[figure] = "rate-not-held"
        elif gates.too_few(figure, target["requests"]):
            voided[figure] = "too-few-requests"
    return Trial(
        cell=cell.id,
        entry=each.entry,
        slot=each.slot,
        figures={name: value for name, value in figures.items() if not wanted or name in wanted},
        windows=tuple(_window(window) for window in sums.windows),
        evidence=_evidence(each, target, sums),
        histograms=dict(target.get("histograms") or {}),
        labels=(*labels, *_labels(parameters, target, sums)),
        voided_figures={name: code for name, code in voided.items() if not wanted or name in wanted},
        void=_void(parameters, each, target, sums),
    )


def _void(parameters: VisitParameters, each: Visited, target: Mapping[str, Any], sums: _Measured) -> Void | None:
    if each.end is not None:
        return Void("crashed", each.end)
    failed, sent = target.get("failed") or {}, target["sent"]
    return (
        gates.failure_void(failed, sent, target.get("failure_example"))
        or gates.negotiation_void(parameters.protocol, parameters.coding, target.get("evidence"))
        or gates.stall_void(target["requests"], sent, 0 if _too_slow(sums) else target["censored"])
        or gates.rest_void(sums.rest_share, parameters.noise_bounds())
    )


def _too_slow(sums: _Measured) -> bool:
    """It answers, and not as fast as the open loop asks: its backlog at a window's end is no stall."""
    return bool(sums.offered) and sums.requests < gates.RATE_HELD * (sums.offered or 0)


def _labels(parameters: VisitParameters, target: Mapping[str, Any], sums: _Measured) -> list[str]:
    labels = []
    if _too_slow(sums):
        labels.append("rate-not-held")
    if target["censored"]:
        labels.append("drain-incomplete")
    if target.get("failed"):
        labels.append("transport-failures")
    if sums.reconnects:
        labels.append("reconnects")
    if sums.rest_share > parameters.bounds.rest_label:
        labels.append("restless")
    full = [window for window in sums.windows if window.get("cpu_ns") and window["requests"] >= REQUESTS_FOR_STEADINESS]
    costs = [window["cpu_ns"] / window["requests"] for window in full]
    if (steady := steadiness(costs).label) not in {"flat", "too-short"}:
        labels.append(steady)
    return labels


def _figures(visit: Told, each: Visited, target: Mapping[str, Any]) -> dict[str, float | None]:
    total, cpu = target.get("requests_total"), target.get("cpu_total_ns")
    answered = sum(
        window["requests"] + window.get("settle_requests", 0) for window in visit.windows.get(each.index, [])
    )
    switches = each.after.context_switches - each.before.context_switches
    figures: dict[str, float | None] = {
        **each.constants,
        "cpu_us_per_request_round": cpu / total / 1000 if cpu is not None and total else None,
        "rss_peak_bytes": each.after.rss_peak_bytes,
        "pss_bytes": each.after.pss_bytes,
        "context_switches_per_request": switches / answered if answered and switches >= 0 else None,
    }
    response = (target.get("histograms") or {}).get("response_ns")
    if response:
        histogram = decode(response)
        if histogram.total:
            figures |= {name: histogram.percentile(share) for name, share in PERCENTILES.items()}
            figures["latency_max_ns"] = histogram.percentile(1.0)
    return figures


def _evidence(each: Visited, target: Mapping[str, Any], sums: _Measured) -> dict[str, Any]:
    """What proves that the trial did what it claims, and what differs between contestants without being a fault."""
    return {
        **(target.get("evidence") or {}),
        "requests": target["requests"],
        "sent": target["sent"],
        "failed": target.get("failed") or {},
        "censored": target["censored"],
        "failure_example": target.get("failure_example"),
        "reconnects": sums.reconnects,
        "rest_share": sums.rest_share,
        "cpu_share": sums.cpu_share,
        "engine_busy_share": sums.engine_busy,
        "offered": sums.offered,
        "processes": each.after.processes,
        "threads": each.after.threads,
    }


def _window(window: Mapping[str, Any]) -> Window:
    failed = sum((window.get("failed") or {}).values())
    void = "failed-requests" if failed else None if window["requests"] else "no-requests"
    values: dict[str, float | None] = {name: window.get(name) for name in WINDOW_VALUES}
    return Window(window["cycle"], window["position"], {**values, "failed": failed}, void)


def _sum(windows: Sequence[Mapping[str, Any]], key: str) -> int:
    return sum(window.get(key) or 0 for window in windows)
