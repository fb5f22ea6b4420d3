"""An uploader over a plain socket that does one thing wrong on purpose: ``uploader.py MODE``."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

MODE = sys.argv[1]
URL = urllib.parse.urlsplit(os.environ["PHOTOFINISH_URL"])
FILE = Path(os.environ["PHOTOFINISH_FILE"])
KEEP = os.environ["PHOTOFINISH_CONNECTION"] == "keep"
FIRST_WORDS = {
    "babbles": "no json at all",
    "digs": "[" * 50_000,
    "paints": '{"error": "\\ud800\\u001b[31mred\\n' + 5_000 * "x" + '"}',
}
"""What some say from their first repetition on: no JSON, JSON too deep to parse, and what can't be shown as it is."""


def say(line: str) -> None:
    """One line, flushed."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Repeater:
    """One contestant."""

    def __init__(self) -> None:
        self.connection: socket.socket | None = None
        self.done = 0

    def connect(self) -> socket.socket:
        """The connection kept, or a fresh one."""
        if self.connection is None or MODE == "reconnects":
            self.drop()
            self.connection = socket.create_connection((URL.hostname, URL.port))
        return self.connection

    def drop(self) -> None:
        """Closes it."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def body(self) -> bytes:
        """The form, right or wrong."""
        data = FILE.read_bytes()
        if MODE == "other-bytes":
            data = bytes(len(data))
        if MODE == "short" or (MODE == "short-later" and self.done > 0):
            data = data[:-1]
        field = "document" if MODE == "wrong-form" else "file"
        head = f'--b\r\nContent-Disposition: form-data; name="{field}"; filename="x"\r\n\r\n'
        return head.encode() + data + b"\r\n--b--\r\n"

    def upload(self) -> dict[str, object]:
        """One repetition."""
        path = "/nowhere" if MODE == "404" else URL.path
        body = self.body()
        head = (
            f"POST {path}?{URL.query} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        connection = self.connect()
        connection.sendall(head.encode() + body)
        answer = connection.recv(65_536)
        if not answer:
            raise ConnectionError("closed without an answer")
        status = int(answer.split()[1])
        if not KEEP and MODE != "keeps":
            self.drop()
        claimed = FILE.stat().st_size + (1 if MODE == "boasts" else 0)
        return {"bytes": claimed, "status": 200 if MODE == "hides-404" else status}

    def answer(self) -> list[str]:
        """The lines that answer one command."""
        if MODE == "lies" and self.done > 0:
            return [json.dumps({"bytes": FILE.stat().st_size, "status": 200})]  # and nothing was sent
        try:
            said = json.dumps(self.upload())
        except (OSError, ConnectionError) as error:
            self.drop()
            said = json.dumps({"error": str(error)})
        self.done += 1
        if MODE == "garbage" and self.done > 1:
            said = "done!"
        said = FIRST_WORDS.get(MODE, said)
        if MODE == "counts-nothing" and "PHOTOFINISH_COUNT" in os.environ:
            said = said[:-1] + ', "allocated_bytes": NaN, "allocations": true, "heap_bytes": -1}'
        return [said, said] if MODE == "chatty" and self.done > 1 else [said]

    def misbehave(self) -> None:
        """What is done wrong after a command rather than by it."""
        if MODE == "dies" and self.done > 1:
            sys.exit(3)
        if MODE == "stalls" and self.done > 1:
            time.sleep(3600)


def main() -> None:
    if MODE == "never-ready":
        time.sleep(3600)
    if MODE == "warns-first":
        say("warning: this library is deprecated")
    if MODE == "without-pipes":
        Path("commands").unlink()
        Path("answers").unlink()
    if MODE == "leaks":
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
    say(json.dumps({"ready": True}))
    if MODE == "floods":
        say(json.dumps({"bytes": FILE.stat().st_size, "status": 200}) + 30_000 * "\n{}")
    repeater = Repeater()
    for _ in sys.stdin:
        repeater.misbehave()
        for line in repeater.answer():
            say(line)


main()
