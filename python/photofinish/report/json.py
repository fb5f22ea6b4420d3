"""The verdict as a JSON document, ``photofinish.race/1``: keys sorted, so that equal verdicts are equal bytes."""

import json
from typing import Any

from pydantic import BaseModel

from photofinish.verdict.model import RaceVerdict


def canonical(document: Any) -> str:
    """Any JSON document with sorted keys, two spaces, a newline at the end, and no NaN."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True) + "\n"


def render(document: BaseModel) -> str:
    """A verdict document as canonical JSON."""
    return canonical(document.model_dump(mode="json", by_alias=True))


def schema() -> str:
    """JSON Schema of ``photofinish.race/1``; ``docs/schema/race-1.json`` is this text."""
    document = RaceVerdict.model_json_schema(by_alias=True, mode="serialization")
    document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return canonical(document)
