"""A contestant that talks lines: `contestant.py WAY [AT]` does as it should until command AT, then as WAY says."""

import http.client
import json
import os
import sys
import time
import urllib.parse

way, at = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
url = urllib.parse.urlsplit(os.environ["PHOTOFINISH_URL"])
body = b"x" * int(os.environ["PHOTOFINISH_BYTES"])
connection = http.client.HTTPConnection(url.netloc)


def say(text: str) -> None:
    """Writes at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def answer() -> str:
    """Does one repetition; gives what is to be said about it."""
    path = "/nowhere" if way == "status" and number >= at else f"{url.path}?{url.query}"
    try:
        connection.request("POST", path, body)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return json.dumps({"error": repr(error)}) + "\n"
    return json.dumps({"bytes": len(body), "status": response.status}) + "\n"


say('{"ready":true}\n')
for number, _line in enumerate(sys.stdin, 1):
    if number < at or way in ("good", "status"):
        say(answer())
        continue
    match way:
        case "slow":
            time.sleep(0.05)
            say(answer())
        case "error":
            say('{"error":"no more strength"}\n')
        case "garbage":
            answer()
            say("no JSON at all\n")
        case "half":
            say('{"bytes":')
        case "endless":
            while True:
                say("x" * 65536)
        case "double":
            say(2 * answer())
        case "early":
            say(answer())
            time.sleep(0.02)
            say(answer())
        case "lies":
            say(f'{{"bytes":{len(body)},"status":200}}\n')
        case "dies":
            os._exit(3)
        case "closes":
            os.close(1)
            time.sleep(1000)
        case "stalls":
            time.sleep(1000)
