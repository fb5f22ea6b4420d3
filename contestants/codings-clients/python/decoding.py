"""Undoing content codings with the libraries that httpx and niquests decode with themselves."""

import zlib
from collections.abc import Callable

import brotli
import zstandard

GZIP = 16 + zlib.MAX_WBITS
"""zlib's window size for gzip's format."""
ZSTD = zstandard.ZstdDecompressor()


def _zstd(body: bytes) -> bytes:
    stream = ZSTD.decompressobj()
    decoded = stream.decompress(body)
    if not stream.eof:
        raise ValueError("the body ends in the middle of a zstd frame")
    return decoded


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": lambda body: body,
    "gzip": lambda body: zlib.decompress(body, GZIP),
    "deflate": zlib.decompress,
    "br": brotli.decompress,
    "zstd": _zstd,
}


def decode(coding: str, body: bytes) -> bytes:
    """The body without its coding.

    Raises:
        ValueError: the coding is not known, or the body ends too early.
        zlib.error, brotli.error, zstandard.ZstdError: it is not what its coding says.
    """
    if coding not in DECODERS:
        raise ValueError(f"there is no decoder for Content-Encoding: {coding}")
    return DECODERS[coding](body)
