"""A server that codes, or misbehaves as told; a contestant of the tests: ``coded_server.py MODE ADDRESS PORT TLS_PORT CERTIFICATE KEY``."""

import asyncio
import gzip
import ssl
import sys

BODY = b"Hello World!" * 100
BOMB_BYTES = 64 << 20


WRONG: dict[str, tuple[bytes, bytes]] = {
    "never-codes": (b"", BODY),
    "lies": (b"gzip", BODY),
    "cut-off": (b"gzip", gzip.compress(BODY)[:-9]),
    "bomb": (b"gzip", gzip.compress(bytes(BOMB_BYTES), 9)),
    "other-body": (b"gzip", gzip.compress(BODY[::-1])),
}
"""Mode → Content-Encoding (empty: none) and body, where gzip is asked for."""


def coded(mode: str, accepted: bytes) -> tuple[bytes, bytes]:
    """Content-Encoding (empty: none) and body."""
    if b"gzip" in accepted or mode == "ignores-identity":
        return WRONG.get(mode, (b"gzip", gzip.compress(BODY)))
    return b"", BODY


def answer(mode: str, head: bytes) -> bytes:
    accepted = next(
        (
            line.partition(b":")[2].strip()
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"accept-encoding:")
        ),
        b"",
    )
    coding, body = coded(mode, accepted)
    field = b"Content-Encoding: %s\r\n" % coding if coding else b""
    return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (field, len(body), body)


async def serve(mode: str, address: str, port: int, tls_port: int, *, files: tuple[str, str]) -> None:
    made: dict[bytes, bytes] = {}

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if head not in made:
                    made[head] = answer(mode, head)
                writer.write(made[head])
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            writer.close()

    async def clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    context.set_alpn_protocols(["http/1.1"])
    if mode == "clear-on-tls":
        await asyncio.start_server(clear, address, tls_port)
    else:
        await asyncio.start_server(one, address, tls_port, ssl=context)
    server = await asyncio.start_server(one, address, port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), files=(sys.argv[5], sys.argv[6])))
