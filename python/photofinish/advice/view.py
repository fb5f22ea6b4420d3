"""Advice for people and for machines."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from photofinish.advice.advice import IDENTITY, Advice, Option, Question
from photofinish.advice.link import Link
from photofinish.advice.measuring import Measured
from photofinish.advice.settings import Setting
from photofinish.report.answer import joined
from photofinish.report.figures import column_scale, number
from photofinish.report.terminal import Harmless, plain_table

FEW = 5
SHOWN = 14
"""Rows of the table; the rest is in the JSON document."""


@dataclass(frozen=True, slots=True)
class Finding:
    """All that there is to tell."""

    measured: Measured
    question: Question
    advice: Advice
    least: int | None
    """Smallest size from which on the chosen one pays; None: not even at the payload's own, or nothing was chosen."""
    written: Sequence[Setting]


def sentence(finding: Finding) -> str:
    """What to use, by how much it is better, and from which size on."""
    measured, advice, link, least = finding.measured, finding.advice, finding.question.link, finding.least
    options = {option.id: option for option in advice.options}
    chosen, plain = options[advice.choice], options[IDENTITY]
    where = f"For {measured.payload_bytes:,} bytes over {rate(link)}"
    if advice.choice == IDENTITY:
        return f"{where} no coding pays: send the payload as it is."
    others = [each for each in advice.best if each != advice.choice]
    tied = f" {joined(others)} can't be told from it." if 0 < len(others) <= FEW else ""
    if len(others) > FEW:
        tied = f" {len(others)} others (●) can't be told from it: measure for longer (--budget)."
    told = f"{where} use {chosen.id}: {_full(chosen)} from the first byte encoded to the last one decoded"
    told += f", against {_full(plain)} without a coding."
    pays = f" It pays from about {least:,} bytes on." if least is not None and least < measured.payload_bytes else ""
    return told + tied + pays


def rate(link: Link) -> str:
    """The link in words."""
    units = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (0.0, "bit/s"))
    factor, unit = next((factor or 1.0, unit) for factor, unit in units if link.bits_per_s >= factor)
    told = f"{link.bits_per_s / factor:g} {unit}"
    return f"{told} with a round trip of {link.rtt_s * 1e3:g} ms" if link.rtt_s else told


def _full(option: Option) -> str:
    median = option.time_ns
    values = (median.value, median.low, median.high)
    return column_scale("ns", [values], 2).full(*values)


def as_text(finding: Finding) -> RenderableType:
    """For the terminal."""
    advice = finding.advice
    parts: list[RenderableType] = [Text(sentence(finding), style="bold"), Text(), _table(advice)]
    hidden = max(0, len(advice.options) - SHOWN)
    if hidden:
        parts.append(Text(f"{hidden} more in the JSON document (--json)", style="dim"))
    parts += [Text(f"left out: {each}: {why}", style="dim") for each, why in finding.measured.left_out.items()]
    for setting in finding.written:
        parts += [Text(), Text(setting.server, style="bold")]
        parts += [Text(setting.text)] if setting.text else []
        parts += [Text(setting.note, style="dim")] if setting.note else []
    return Harmless(Group(*parts))


def _table(advice: Advice) -> RenderableType:
    table = plain_table("")
    table.add_column("coding", no_wrap=True)
    for name in ("bytes", "ratio", "encode", "link", "decode", "in all", "interval"):
        table.add_column(name, justify="right", no_wrap=True)
    priced = any(option.price is not None for option in advice.options)
    if priced:
        table.add_column("price of a million", justify="right", no_wrap=True)
    shown = advice.options[:SHOWN]
    if not any(option.id == IDENTITY for option in shown):
        shown = (*shown[: SHOWN - 1], next(option for option in advice.options if option.id == IDENTITY))
    for option in shown:
        time = option.time_ns
        scale = column_scale("ns", [(time.value, time.low, time.high)], 2)
        cells = [
            Text(f"{'● ' if option.is_best else '  '}{option.id}", style="bold green" if option.is_best else ""),
            Text(number(option.bytes, 0)),
            Text(f"{option.ratio:.2f}"),
            *(Text(_short(value) if value else "–") for value in (option.encode_ns, option.link_ns, option.decode_ns)),
            Text(scale.full(time.value, None, None)),
            Text(scale.interval(time.value, time.low, time.high) if time.low != time.high else ""),
        ]
        if priced:
            cells.append(Text("" if option.price is None else f"{option.price:.2f}"))
        table.add_row(*cells)
    return table


def _short(value: float) -> str:
    return column_scale("ns", [(value, None, None)], 2).full(value, None, None)


def as_document(finding: Finding) -> dict[str, Any]:
    """``photofinish.advice/1``."""
    measured, advice, question = finding.measured, finding.advice, finding.question
    return {
        "schema": "photofinish.advice/1",
        "payload": {"bytes": measured.payload_bytes, "sha256": measured.sha256},
        "link": asdict(question.link),
        "prices": asdict(question.prices) if question.prices else None,
        "by": advice.by,
        "choice": advice.choice,
        "best": list(advice.best),
        "pays_from_bytes": finding.least,
        "delta": advice.delta,
        "rounds": advice.rounds,
        "sentence": sentence(finding),
        "options": [asdict(option) for option in advice.options],
        "pairs": [pair.model_dump() for pair in advice.pairs],
        "left_out": dict(measured.left_out),
        "settings": [asdict(setting) for setting in finding.written],
    }
