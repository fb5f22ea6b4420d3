"""Placeholders such as ``{port}`` in a manifest's commands; the list with meanings is in ``docs/contestants.md``."""

import re
from collections.abc import Mapping

BUILD_TIME = frozenset({"source", "build", "engine", "python"})
START_TIME = BUILD_TIME | {"run", "address", "port", "tls_port", "certificate", "key", "corpus", "workers"}

# A shell's ``${name}`` and a block ``{ list; }`` are the command's own business.
_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")


def unknown(text: str, allowed: frozenset[str]) -> list[str]:
    """The placeholders in ``text`` that are not among ``allowed``, in order of appearance."""
    return [name for name in _PLACEHOLDER.findall(text) if name not in allowed]


def fill(text: str, values: Mapping[str, str]) -> str:
    """``text`` with every known placeholder replaced; unknown ones stay, as loading has refused them already."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def fill_all(argv: tuple[str, ...], values: Mapping[str, str]) -> list[str]:
    """``fill`` for every word of a command."""
    return [fill(word, values) for word in argv]
