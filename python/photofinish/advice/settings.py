"""The advice as a setting of three servers, each with the best that it can do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from photofinish.advice.advice import IDENTITY, Advice, Option

CADDY_ZSTD = ((2, "fastest"), (5, "default"), (9, "better"), (22, "best"))
"""Highest level of the zstd program that each of Caddy's words stands for, about (klauspost/compress, zstd.EncoderLevel)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What to write where."""

    server: str
    text: str
    note: str
    """What the server can't do, or needs; may be empty."""


@dataclass(frozen=True, slots=True)
class _Server:
    name: str
    codings: tuple[str, ...]
    """That it can make."""
    write: Callable[[Option, int, str], str]
    otherwise: str
    """Told where it can't do what was advised."""
    needs: Mapping[str, str]
    """Coding → what it takes."""


def settings(advice: Advice, least_bytes: int, content_type: str = "application/json") -> list[Setting]:
    """One setting a server.

    Args:
        advice: for the whole payload.
        least_bytes: shorter responses go as they are.
        content_type: of the payload, for servers that choose by it.
    """
    return [_setting(server, advice, least_bytes, content_type) for server in _SERVERS]


def _setting(server: _Server, advice: Advice, least_bytes: int, content_type: str) -> Setting:
    able = {*server.codings, IDENTITY}
    # Options stand best first: the first that the server can make is its best.
    offered = [each for each in advice.options if each.coding in able]
    chosen = next((each for each in offered if each.id == advice.choice), offered[0])
    if chosen.id == IDENTITY:
        return Setting(server.name, "", "leave compression off: it does not pay for this payload on this link")
    notes = [server.otherwise] if chosen.id != advice.choice else []
    notes += [server.needs[chosen.coding]] if chosen.coding in server.needs else []
    return Setting(server.name, server.write(chosen, least_bytes, content_type), "; ".join(notes))


def _nginx(option: Option, least_bytes: int, content_type: str) -> str:
    word = {"gzip": "gzip", "br": "brotli"}[option.coding]
    return "\n".join(
        [
            f"{word} on;",
            f"{word}_comp_level {option.level};",
            f"{word}_min_length {least_bytes};",
            f"{word}_types {content_type};",
            *(["gzip_vary on;"] if word == "gzip" else []),
        ]
    )


def _caddy(option: Option, least_bytes: int, _content_type: str) -> str:
    level = option.level or 0
    word = str(level) if option.coding == "gzip" else next(word for most, word in CADDY_ZSTD if level <= most)
    return f"encode {{\n    {option.coding} {word}\n    minimum_length {least_bytes}\n}}"


def _starlette(option: Option, least_bytes: int, _content_type: str) -> str:
    if option.coding == "gzip":
        return f"app.add_middleware(GZipMiddleware, minimum_size={least_bytes}, compresslevel={option.level})"
    if option.coding == "br":
        return f"app.add_middleware(BrotliMiddleware, minimum_size={least_bytes}, quality={option.level})"
    return f"app.add_middleware(ZstdMiddleware, minimum_size={least_bytes}, level={option.level})"


_SERVERS = (
    _Server(
        "nginx",
        ("gzip", "br"),
        _nginx,
        "nginx has no zstd and no deflate of its own",
        {"br": "needs the module ngx_brotli (Debian: libnginx-mod-http-brotli-filter)"},
    ),
    _Server(
        "Caddy",
        ("gzip", "zstd"),
        _caddy,
        "Caddy makes no br and no deflate",
        {"zstd": "Caddy's words stand for levels of another implementation, about"},
    ),
    _Server(
        "Starlette",
        ("gzip", "br", "zstd"),
        _starlette,
        "there is no middleware for deflate",
        {"br": "needs the package brotli-asgi", "zstd": "needs the package zstd-asgi"},
    ),
)
