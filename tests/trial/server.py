"""A server that misbehaves as told; a contestant of the tests: ``server.py MODE ADDRESS PORT``."""

import asyncio
import os
import signal
import subprocess
import sys

BODY = b"Hello World!"
ANSWERS_BEFORE_TROUBLE = 40


def answer(mode: str) -> bytes:
    status, body = ("404 Not Found", BODY) if mode == "404" else ("200 OK", BODY)
    body = {"short": BODY[:-1], "other": BODY[::-1]}.get(mode, body)
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


async def serve(mode: str, address: str, port: int) -> None:
    text = answer(mode)
    served = 0

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                served += 1
                if served > ANSWERS_BEFORE_TROUBLE and mode == "stall":
                    await asyncio.sleep(3600)
                if served > ANSWERS_BEFORE_TROUBLE and mode == "crash":
                    os._exit(7)
                writer.write(text)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(one, address, port)
    async with server:
        await server.serve_forever()


def main() -> None:
    mode, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if mode == "never":
        print("waiting for something that never comes", flush=True)  # noqa: T201
        signal.pause()
    if mode == "fork":
        stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
        subprocess.Popen([sys.executable, "-c", stubborn], start_new_session=True)
    asyncio.run(serve(mode, address, port))


if __name__ == "__main__":
    main()
