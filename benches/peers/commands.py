"""How each load generator is asked, and what it says: one form for all of them."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

OURS = "photofinish"


@dataclass(frozen=True, slots=True)
class Job:
    """One load. ``rate`` is in requests a second over all connections; None is a closed loop."""

    url: str
    connections: int
    seconds: float
    rate: float | None = None
    requests: int | None = None
    """Instead of ``seconds``, where the generator can count."""
    version: str = "1.1"
    """Of HTTP: ``1.1``, ``2`` or ``3``."""
    streams: int = 1
    """Requests in flight a connection, from HTTP/2 on."""
    ca: str | None = None
    """The certificate to trust, a PEM file, where the URL is ``https``."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a generator says of a load; None where it says nothing. Times in ns."""

    requests: int | None = None
    """Requests that it counts as done well."""
    accounted: int | None = None
    """All requests that it accounts for, failed, aborted or in flight ones included."""
    rate: float | None = None
    """Its mean rate, requests a second."""
    percentiles: dict[str, float] = field(default_factory=dict)
    """By ``50``, ``90``, ``99``, ``99.9``, ``99.99``."""
    samples: int | None = None
    """Values in its distribution."""
    first_byte: float | None = None
    """Its time to the first byte: the median, or else the mean."""
    text: str = ""
    """All of it."""
    cpu_us: float = 0.0
    """CPU time of the process, in µs."""
    most_rss_kib: int = 0
    """Most memory of the process."""


def argv(name: str, program: Path, job: Job) -> list[str] | None:
    """The command line of a load; None where the generator can't do that."""
    rest = RESTS.get(name, _ask_ours)(job)
    return None if rest is None else [str(program), *rest]


Rest = list[str] | None


def _ask_wrk(job: Job) -> Rest:
    if job.rate or job.requests or job.version != "1.1":
        return None
    return ["-t1", f"-c{job.connections}", f"-d{job.seconds:g}s", "--latency", job.url]


def _ask_h2load(job: Job) -> Rest:
    if job.version == "3":
        return None
    rest = ["--h1"] if job.version == "1.1" else [f"-m{job.streams}"]
    rest += ["-t1", f"-c{job.connections}"]
    rest += ["-n", str(job.requests)] if job.requests else ["-D", f"{job.seconds * 1000:.0f}ms"]
    rest += ["--rps", f"{job.rate / job.connections:g}"] if job.rate else []
    return [*rest, job.url]


def _ask_bombardier(job: Job) -> Rest:
    if job.version != "1.1":
        return None
    rest = ["-c", str(job.connections), "-l", "-p", "r", "-o", "json", "-t", "30s"]
    rest += ["-n", str(job.requests)] if job.requests else ["-d", f"{job.seconds:g}s"]
    rest += ["-r", f"{job.rate:.0f}"] if job.rate else []
    return [*rest, job.url]


def _ask_hey(job: Job) -> Rest:
    if job.version != "1.1":
        return None
    rest = ["-c", str(job.connections), "-t", "30"]
    rest += ["-n", str(job.requests)] if job.requests else ["-z", f"{job.seconds:g}s"]
    rest += ["-q", f"{job.rate / job.connections:g}"] if job.rate else []
    return [*rest, job.url]


def _ask_oha(job: Job) -> Rest:
    rest = ["-c", str(job.connections), "--no-tui", "--output-format", "json"]
    rest += ["--http-version", job.version, "-p", str(job.streams)] if job.version != "1.1" else []
    rest += ["--cacert", job.ca] if job.ca else []
    rest += ["-n", str(job.requests)] if job.requests else ["-z", f"{job.seconds * 1000:.0f}ms"]
    rest += ["-q", f"{job.rate:g}", "--latency-correction"] if job.rate else []
    return [*rest, job.url]


def _ask_plain(job: Job) -> Rest:
    if job.rate or job.version != "3" or job.ca is None:
        return None
    rest = ["--ca", job.ca, "--connections", str(job.connections), "--streams", str(job.streams)]
    rest += ["--requests", str(job.requests)] if job.requests else ["--seconds", f"{job.seconds:g}"]
    return [job.url.removeprefix("https://"), *rest]


def _ask_ours(job: Job) -> Rest:
    rest = ["load", "-c", str(job.connections), "--json", "--quiet", "--timeout", "30s", "--no-self-check"]
    rest += ["--http", job.version, "--streams", str(job.streams)] if job.version != "1.1" else []
    rest += ["--ca", job.ca] if job.ca else []
    rest += ["-n", str(job.requests)] if job.requests else ["-d", f"{job.seconds * 1000:.0f}ms"]
    rest += ["--rate", f"{job.rate:g}"] if job.rate else []
    return [*rest, job.url]


RESTS: dict[str, Callable[[Job], Rest]] = {
    "wrk": _ask_wrk,
    "h2load": _ask_h2load,
    "bombardier": _ask_bombardier,
    "hey": _ask_hey,
    "oha": _ask_oha,
    "oha-http3": _ask_oha,
    "quinn-client": _ask_plain,
    "quiche-client": _ask_plain,
}


def run(name: str, program: Path, job: Job, cpu: int) -> Said | None:
    """Runs one load pinned to ``cpu``; None where the generator can't do it.

    Raises:
        RuntimeError: it ended with an error, or said nothing that can be read.
    """
    line = argv(name, program, job)
    if line is None:
        return None
    process = subprocess.Popen(
        ["taskset", "-c", str(cpu), *line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with ThreadPoolExecutor(1) as watcher:
        memory = watcher.submit(most_memory_kib, process.pid)
        text = process.stdout.read() if process.stdout is not None else ""
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    try:
        said = READERS.get(name, read_ours)(text)
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"{' '.join(line)} said nothing that can be read ({error!r}): {text[:500]!r}") from error
    cpu_us = (usage.ru_utime + usage.ru_stime) * 1e6
    return replace(said, text=text, cpu_us=cpu_us, most_rss_kib=memory.result())


def most_memory_kib(pid: int) -> int:
    """The most memory that a process has had, read every 50 ms until it ends.

    Its rusage would say at least what this interpreter has, from which it was forked.
    """
    most = 0
    while True:
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        except OSError:
            return most
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        if found is None:
            return most
        most = int(found[1])
        time.sleep(0.05)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"no {pattern!r}")
    return match[1]


_UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}


def _nanos(text: str) -> float:
    """``2.09ms``, ``785us``, ``1.02s`` in ns."""
    number, unit = _found(r"^([\d.]+)", text), _found(r"([a-z]+)$", text)
    return float(number) * _UNITS[unit]


def _wrk(text: str) -> Said:
    requests = int(_found(r"(\d+) requests in", text))
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    lines = re.findall(r"^\s+([\d.]+)%\s+([\d.]+[a-z]+)$", text, re.MULTILINE)
    return Said(
        requests=requests - (int(wrong[1]) if wrong else 0),
        accounted=requests,
        rate=float(_found(r"Requests/sec:\s+([\d.]+)", text)),
        percentiles={share: _nanos(value) for share, value in lines},
    )


def _h2load(text: str) -> Said:
    first = re.search(r"time to 1st byte:\s+\S+\s+\S+\s+(\S+)", text)
    return Said(
        requests=int(_found(r"(\d+) succeeded", text)),
        accounted=int(_found(r"requests: \d+ total, \d+ started, (\d+) done", text)),
        rate=float(_found(r"finished in \S+, ([\d.]+) req/s", text)),
        first_byte=_nanos(first[1]) if first else None,
    )


def _bombardier(text: str) -> Said:
    result = json.loads(text[text.index("{") :])["result"]
    codes = ("req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others")
    percentiles = result["latency"].get("percentiles", {})
    return Said(
        requests=int(result["req2xx"]),
        accounted=sum(int(result[code]) for code in codes),
        rate=float(result["rps"]["mean"]),
        percentiles={share: value * 1e3 for share, value in percentiles.items()},
    )


def _hey(text: str) -> Said:
    lines = re.findall(r"([\d.]+)%%? in ([\d.]+) secs", text)
    codes = {int(code): int(count) for code, count in re.findall(r"\[(\d{3})\]\s+(\d+) responses", text)}
    errors = re.search(r"Error distribution:\n((?:\s+\[\d+\].*\n?)+)", text)
    failed = sum(map(int, re.findall(r"\[(\d+)\]", errors[1]))) if errors else 0
    bars = re.findall(r"^\s+[\d.]+ \[(\d+)\]", text, re.MULTILINE)
    wait = re.search(r"resp wait:\s+([\d.]+) secs", text)
    return Said(
        requests=codes.get(200, 0),
        accounted=sum(codes.values()) + failed,
        rate=float(_found(r"Requests/sec:\s+([\d.]+)", text)),
        percentiles={share: float(value) * 1e9 for share, value in lines},
        samples=sum(map(int, bars)),
        first_byte=float(wait[1]) * 1e9 if wait else None,
    )


def _oha(text: str) -> Said:
    document: dict[str, Any] = json.loads(text[text.index("{") :])
    codes = {int(code): int(count) for code, count in document["statusCodeDistribution"].items()}
    errors = sum(int(count) for count in document["errorDistribution"].values())
    percentiles = document["latencyPercentiles"]
    first = document.get("firstBytePercentiles", {}).get("p50")
    return Said(
        requests=codes.get(200, 0),
        accounted=sum(codes.values()) + errors,
        rate=float(document["summary"]["requestsPerSec"]),
        percentiles={share.removeprefix("p"): value * 1e9 for share, value in percentiles.items() if value is not None},
        samples=sum(int(count) for count in document["responseTimeHistogram"].values()),
        first_byte=first * 1e9 if first else None,
    )


def _plain(text: str) -> Said:
    document: dict[str, Any] = json.loads(text[text.index("{") :])
    return Said(requests=int(document["requests"]), accounted=int(document["requests"]))


def read_ours(text: str) -> Said:
    """Our own report."""
    document: dict[str, Any] = json.loads(text[text.index("{") :])
    requests, latency = document["requests"], document["latency"]
    response = latency["response"]
    names = {"50": "p50_ns", "90": "p90_ns", "99": "p99_ns", "99.9": "p999_ns"}
    first = (latency.get("first_byte") or {}).get("p50_ns")
    return Said(
        requests=requests["accepted"],
        accounted=requests["accepted"] + requests["failed_total"] + requests["censored"],
        rate=document["throughput"]["accepted_per_s"],
        percentiles={share: response[name] for share, name in names.items() if response[name] is not None},
        samples=response["count"],
        first_byte=first,
    )


READERS: dict[str, Callable[[str], Said]] = {
    "wrk": _wrk,
    "h2load": _h2load,
    "bombardier": _bombardier,
    "hey": _hey,
    "oha": _oha,
    "oha-http3": _oha,
    "quinn-client": _plain,
    "quiche-client": _plain,
}
