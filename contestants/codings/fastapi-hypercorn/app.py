"""FastAPI serves patient records that Pydantic validates and writes for each request, coded as it is asked for."""

import json
import os
from pathlib import Path

from fastapi import FastAPI, HTTPException
from models import Patient
from starlette_compress import CompressMiddleware

SIZES = (1, 4, 16, 64, 512)
HIGHEST_GZIP = 9
HIGHEST_BR = 11
HIGHEST_ZSTD = 22


def load(corpus: Path) -> dict[int, list[dict]]:
    """Return the records of each size as Python's own values, which the process then holds."""
    return {size: json.loads((corpus / f"patients-{size}.json").read_bytes()) for size in SIZES}


RECORDS = load(Path(os.environ["PHOTOFINISH_CORPUS"]))

patients = FastAPI(openapi_url=None)


@patients.get("/patients/{count}")
async def read(count: int) -> list[Patient]:
    """Answer with ``count`` records; FastAPI validates them against the model and writes the JSON."""
    if count not in RECORDS:
        raise HTTPException(404, f"no {count} records here: there are 1, 4, 16, 64 or 512")
    return RECORDS[count]


def at_level(level: int) -> CompressMiddleware:
    """Wrap the application so that whichever coding is asked for is made at ``level``, if it has that level."""
    return CompressMiddleware(
        patients,
        gzip=1 <= level <= HIGHEST_GZIP,
        gzip_level=level,
        brotli=level <= HIGHEST_BR,
        brotli_quality=level,
        zstd=level >= 1,
        zstd_level=level,
    )


app = FastAPI(openapi_url=None)
for each in range(HIGHEST_ZSTD + 1):
    app.mount(f"/level/{each}", at_level(each))
app.mount("/", CompressMiddleware(patients))
