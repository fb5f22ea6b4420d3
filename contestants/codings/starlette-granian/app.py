"""Starlette answers with bodies that it holds in memory, coded anew for each request."""

import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette_compress import CompressMiddleware

SIZES = (1, 4, 16, 64, 512)
HIGHEST_GZIP = 9
HIGHEST_BR = 11
HIGHEST_ZSTD = 22

CORPUS = Path(os.environ["PHOTOFINISH_CORPUS"])
BODIES = {size: (CORPUS / f"patients-{size}.json").read_bytes() for size in SIZES}


async def read(request: Request) -> Response:
    """Answer with the records of the asked size."""
    body = BODIES.get(request.path_params["count"])
    if body is None:
        raise HTTPException(404)
    return Response(body, media_type="application/json")


patients = Starlette(routes=[Route("/patients/{count:int}", read)])


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


levels = [Mount(f"/level/{level}", at_level(level)) for level in range(HIGHEST_ZSTD + 1)]
app = Starlette(routes=[*levels, Mount("/", CompressMiddleware(patients))])
