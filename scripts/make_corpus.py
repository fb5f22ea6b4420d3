"""Make the frozen payloads in ``corpus/``, or check that those there are what this makes.

``python scripts/make_corpus.py`` writes them with ``SHA256SUMS``; ``--check`` writes nothing. Nothing but this
repository decides a byte of them: no clock, no random source, no library that compresses.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus import binary, patients, web

FOLDER = Path(__file__).parent.parent / "corpus"
SUMS = "SHA256SUMS"
DICTIONARY_SEED = 0x646963
MAKERS: dict[str, Callable[[], bytes]] = {
    "page.html": web.page,
    "style.css": web.style,
    "script.js": web.script,
    "table.csv": binary.table,
    "records.pb": binary.records,
    "image.jpg": binary.image,
}


def make() -> dict[str, bytes]:
    """Every file's bytes by its name, and the sums of all."""
    files = {
        f"patients-{count}.json": patients.as_json(patients.patients(count, seed))
        for count, seed in patients.SEEDS.items()
    }
    # What a client has beforehand: records of the same shape, but none of the others.
    files["dictionary.json"] = patients.as_json(patients.patients(16, DICTIONARY_SEED))
    files |= {name: maker() for name, maker in MAKERS.items()}
    sums = "".join(f"{hashlib.sha256(body).hexdigest()}  {name}\n" for name, body in sorted(files.items()))
    return files | {SUMS: sums.encode()}


def main() -> int:
    """0 if the folder holds what it should; 1, with the names, if it doesn't."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files that are there")
    checks = parser.parse_args().check
    differing = 0
    for name, body in make().items():
        path = FOLDER / name
        if checks:
            same = path.is_file() and path.read_bytes() == body
            differing += not same
            print(f"{name}: {'as made' if same else 'differs'}")
        else:
            FOLDER.mkdir(exist_ok=True)
            path.write_bytes(body)
            print(f"{name}: {len(body):,} bytes")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
