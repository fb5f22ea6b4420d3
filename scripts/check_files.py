"""House rules that no linter knows: file length, manifests beside READMEs and lock files, no path of one machine."""

import re
import subprocess
import sys
from pathlib import Path

MAX_LINES = 450
SOURCES = {".rs", ".py", ".ts", ".c", ".h", ".cpp", ".go", ".zig", ".java", ".js"}
HOME_PATH = re.compile(r"(?<![\w.])/(?:home|root|Users)/\w+")


def main() -> int:
    """Print every breach as ``file: what``; 1 if there is one."""
    listing = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True, text=True).stdout
    breaches: list[str] = []
    for name in filter(None, listing.split("\0")):
        path = Path(name)
        # A frozen payload is no source, whatever it looks like.
        if path.suffix in SOURCES and path.parts[0] != "corpus" and path.is_file():
            text = path.read_text(encoding="utf-8")
            if (lines := text.count("\n")) > MAX_LINES:
                breaches.append(f"{name}: {lines} lines; split it by noun (at most {MAX_LINES})")
            if HOME_PATH.search(text):
                breaches.append(f"{name}: holds a path of one machine")
        if path.name == "contestant.toml" and "tests" not in path.parts and not (path.parent / "README.md").is_file():
            breaches.append(f"{name}: no README.md beside it that gives the reason for each non-default")
    print("\n".join(breaches) or "files: in order")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
