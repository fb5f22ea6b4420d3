"""What is wrong with the files of a suite: gathered, so that one error tells all of it."""

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from photofinish.contest.frozen import Frozen
from photofinish.errors import InputError

Model = TypeVar("Model", bound=Frozen)


class Problems:
    """Collects lines ``file: key: what is wrong; mend`` and raises them together."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, file: Path | str, key: str, wrong: str, mend: str) -> None:
        """Notes one problem; ``key`` may be empty where the file as a whole is meant."""
        place = f"{file}: {key}" if key else str(file)
        self.lines.append(f"{place}: {wrong}; {mend}")

    def raise_if_any(self) -> None:
        """Raises one ``InputError`` with all lines, if there are any."""
        if self.lines:
            raise InputError("\n".join(self.lines))


MOST_NAMES = 24
"""As many are listed where none is near: a line is to be read."""


def similar(word: str, known: Iterable[str]) -> str:
    """A mend for an unknown name: the nearest known one, else all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    rest = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"known are: {', '.join(names[:MOST_NAMES])}{rest}" if names else "none is known"


def read_document(path: Path, model: type[Model], problems: Problems) -> Model | None:
    """Reads a TOML file as ``model``; whatever is wrong goes to ``problems`` and the answer is None."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        problems.add(path, "", f"can't be read ({error.strerror})", "check the path and its permissions")
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.add(path, "", f"is not TOML ({error})", "mend the syntax there")
        return None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            _add_validation_error(path, model, item, problems)
        return None


def _add_validation_error(path: Path, model: type[Frozen], item: Any, problems: Problems) -> None:
    key = ".".join(str(part) for part in item["loc"])
    match item["type"]:
        case "extra_forbidden":
            known = _keys_at(model, item["loc"][:-1])
            problems.add(path, key, "unknown key", similar(str(item["loc"][-1]), known))
        case "missing":
            problems.add(path, key, "is missing", "add it")
        case "literal_error":
            problems.add(path, key, f"is {item['input']!r}", f"write {item['ctx']['expected']}")
        case "string_pattern_mismatch":
            problems.add(path, key, f"is {item['input']!r}", "use a-z, 0-9 and '-' only, not '-' first")
        case _:
            text = str(item["msg"])
            problems.add(path, key, f"is {item['input']!r}", text[:1].lower() + text[1:])


def _keys_at(model: type[Frozen], location: tuple[int | str, ...]) -> list[str]:
    """The keys that a document allows at a place such as ``("cells", 2)``; empty if that can't be told."""
    schema: dict[str, Any] = model.model_json_schema(by_alias=True)
    node: dict[str, Any] = schema
    for part in location:
        if isinstance(part, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(part) or node.get("additionalProperties") or {}
        node = next((each for each in node.get("anyOf", ()) if "$ref" in each or "properties" in each), node)
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return list(node.get("properties", ()))
