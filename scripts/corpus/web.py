"""A page, a style sheet and a script, as a hospital's site might have them."""

from collections.abc import Callable

from corpus import words
from corpus.chance import TODAY, Chance
from corpus.patients import patients

SEED = 0x70616765
SIDES = ("margin", "padding", "border-width", "inset")
EXTENTS = ("width", "max-width", "min-height", "gap")
COLOURS = ("--ink", "--paper", "--accent", "--muted", "--line", "--warning")
ICON = "M{} {}c{} {} {} {} {} {}l{} {}z"


def page(bytes_least: int = 60_000) -> bytes:
    """HTML: headings and running text, links, icons, and a table of patients every few sections."""
    chance = Chance(SEED)
    parts = [_page_head(chance)]
    section, length = 0, 0
    while length < bytes_least:
        section += 1
        parts.append(_section(chance, section))
        length = sum(len(part.encode()) for part in parts)
    parts.append(
        f"</main>\n<footer><p>As of {TODAY.isoformat()}. All persons on this page are made up.</p></footer>\n</body>\n</html>\n"
    )
    return "".join(parts).encode()


def style(bytes_least: int = 30_000) -> bytes:
    """CSS: custom properties, rules by class, and media queries."""
    chance = Chance(SEED + 1)
    parts = [":root {\n" + "".join(f"  {name}: {_colour(chance)};\n" for name in COLOURS) + "}\n\n"]
    while sum(map(len, parts)) < bytes_least:
        rules = "".join(_rule(chance) for _ in range(chance.between(2, 6)))
        if chance.often(25):
            rules = "".join(f"  {line}\n" if line else "\n" for line in rules.splitlines())
            rules = f"@media (min-width: {chance.between(20, 90)}rem) {{\n{rules}}}\n"
        parts.append(rules)
    return "".join(parts).encode()


def script(bytes_least: int = 90_000) -> bytes:
    """JavaScript: one module of functions, commented."""
    chance = Chance(SEED + 2)
    parts = ["'use strict';\n\nimport { request, notify, element } from './base.js';\n\n"]
    while sum(map(len, parts)) < bytes_least:
        parts.append(_function(chance, len(parts)))
    return "".join(parts).encode()


def _sentence(chance: Chance) -> str:
    subject, verb = chance.one_of(words.SUBJECTS), chance.one_of(words.VERBS)
    end = f" {chance.one_of(words.WHENS)}" if chance.often(65) else ""
    more = f", and {chance.one_of(words.VERBS)} {chance.one_of(words.OBJECTS)}" if chance.often(40) else ""
    return f"{subject} {verb} {chance.one_of(words.OBJECTS)}{more}{end}."


def _paragraph(chance: Chance) -> str:
    sentences = " ".join(_sentence(chance) for _ in range(chance.between(2, 6)))
    return f"<p>{sentences}</p>\n"


def _page_head(chance: Chance) -> str:
    links = "".join(
        f'  <li><a class="nav-link" href="/{noun}s?page={chance.between(1, 40)}">{noun.capitalize()}s</a></li>\n'
        for noun in words.NOUNS
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>District hospital: records</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="stylesheet" href="/corpus/style.css">\n<script type="module" src="/corpus/script.js"></script>\n'
        f'</head>\n<body>\n<nav aria-label="Main">\n<ul>\n{links}</ul>\n</nav>\n<main>\n<h1>District hospital</h1>\n'
    )


def _section(chance: Chance, number: int) -> str:
    title = f"{chance.one_of(words.OBJECTS).split(' ', 1)[1]} and {chance.one_of(words.NOUNS)}s".capitalize()
    icon = ICON.format(*(round(chance.between(-90, 240) / 10, 1) for _ in range(10)))
    text = "".join(_paragraph(chance) for _ in range(chance.between(1, 4)))
    return (
        f'<section id="section-{number}" class="card card-{chance.one_of(words.NOUNS)}">\n'
        f'<svg class="icon" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true"><path d="{icon}"/></svg>\n'
        f"<h2>{title}</h2>\n{text}{_table(chance) if number % 3 == 0 else ''}</section>\n"
    )


def _table(chance: Chance) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Name", "Born", "Status", "City", "Balance"))
    rows = "".join(
        f'<tr data-id="{patient["id"]}"><td><a href="/patients/{patient["id"]}">{patient["name"]}</a></td>'
        f'<td><time datetime="{patient["birthDay"]}">{patient["birthDay"]}</time></td><td>{patient["status"]}</td>'
        f'<td>{patient["addresses"][0]["city"]}</td><td class="number">{patient["balance"]}</td></tr>\n'
        for patient in patients(chance.between(3, 9), chance.below(1 << 16))
    )
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"


def _colour(chance: Chance) -> str:
    return f"#{chance.below(1 << 24):06x}"


def _declaration(chance: Chance) -> str:
    kinds: tuple[Callable[[], str], ...] = (
        lambda: f"{chance.one_of(SIDES)}: {chance.between(0, 32) / 8:g}rem {chance.between(0, 32) / 8:g}rem",
        lambda: f"{chance.one_of(('color', 'background-color', 'border-color'))}: var({chance.one_of(COLOURS)})",
        lambda: f"display: {chance.one_of(('flex', 'grid', 'block', 'inline-flex', 'none'))}",
        lambda: f"font-size: {chance.between(10, 40) / 16:g}rem",
        lambda: f"transition: opacity {chance.between(5, 40) * 10}ms ease-in-out",
        lambda: f"box-shadow: 0 {chance.between(1, 8)}px {chance.between(2, 24)}px {_colour(chance)}",
        lambda: f"{chance.one_of(EXTENTS)}: {chance.between(1, 100)}{chance.one_of(('%', 'px', 'rem', 'ch'))}",
    )
    return chance.one_of(kinds)()


def _rule(chance: Chance) -> str:
    block, part = chance.one_of(words.NOUNS), chance.one_of(words.NOUNS)
    state = chance.weighted(
        ((60, ""), (15, ":hover"), (10, ":focus-visible"), (8, "::before"), (7, ":not(:last-child)"))
    )
    within = chance.weighted(((50, f".{block}-{part}"), (30, f".{block} > .{part}"), (20, f"[data-{block}='{part}']")))
    lines = "".join(f"  {_declaration(chance)};\n" for _ in range(chance.between(1, 6)))
    return f"{within}{state} {{\n{lines}}}\n\n"


def _function(chance: Chance, number: int) -> str:
    action, noun, other = chance.one_of(words.ACTIONS), chance.one_of(words.NOUNS), chance.one_of(words.NOUNS)
    name, limit = f"{action}{noun.capitalize()}s{number}", chance.between(2, 500)
    fetching = (
        f"  const {other}s = await request(`/api/{noun}s/${{id}}/{other}s?limit={limit}`, options);\n"
        f"  if (!{other}s.ok) {{\n    notify('could not {action} the {noun}', {{ status: {other}s.status }});\n"
        f"    return null;\n  }}\n  return ({other}s.items ?? []).filter((item) => item.{noun} !== undefined);\n"
    )
    summing = (
        f"  let total = 0;\n  for (const {other} of id.{other}s) {{\n"
        f"    if ({other}.status === 'active' && total < {limit}) {{\n"
        f"      total += Number({other}.{noun} ?? 0);\n    }}\n  }}\n"
        f"  return {{ total, {noun}s: id.{other}s.length, ...options }};\n"
    )
    listening = (
        f"  const node = element('{noun}-{other}', {{ className: '{noun}', hidden: id.length > {limit} }});\n"
        f"  node.addEventListener('{chance.one_of(('click', 'change', 'input', 'submit'))}', async (event) => {{\n"
        f"    event.preventDefault();\n"
        f"    await {chance.one_of(words.ACTIONS)}{other.capitalize()}(event.target.dataset.{other}, options);\n"
        "  });\n  return node;\n"
    )
    body = chance.one_of((fetching, summing, listening))
    return f"/**\n * {_sentence(chance)}\n * @param {{*}} id which {noun}\n */\nexport async function {name}(id, options = {{}}) {{\n{body}}}\n\n"
