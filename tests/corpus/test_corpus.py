import hashlib
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
PUBLISHED = {1: 972, 4: 7_649, 16: 33_918, 64: 138_492, 512: 1_129_275}
KEYS = [
    *("id", "status", "name", "gender", "birthDay", "deceasedOn", "maritalStatus", "preferredLanguage", "balance"),
    *("activeFrom", "activeThru", "contacts", "addresses", "phoneNumbers"),
]
ADDRESS_KEYS = ["id", "zip", "number", "street", "city", "state", "country", "type"]


def test_the_generator_makes_the_committed_files_byte_for_byte() -> None:
    script = ROOT / "scripts" / "make_corpus.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sums_are_those_of_all_files() -> None:
    lines = (CORPUS / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    made = {path.name for path in CORPUS.iterdir()} - {"README.md", "SHA256SUMS"}
    assert sums == {name: hashlib.sha256((CORPUS / name).read_bytes()).hexdigest() for name in made}


@pytest.mark.parametrize("count", PUBLISHED)
def test_patients_have_the_published_shape_and_nearly_the_published_length(count: int) -> None:
    body = (CORPUS / f"patients-{count}.json").read_bytes()
    assert abs(len(body) - PUBLISHED[count]) <= PUBLISHED[count] // 1000
    patients = json.loads(body)
    assert len(patients) == count
    for patient in patients:
        assert list(patient) == KEYS
        for person in (patient, *patient["contacts"]):
            assert all(list(address) == ADDRESS_KEYS for address in person["addresses"])
            assert all(list(phone) == ["id", "number", "type"] for phone in person["phoneNumbers"])
        contacts = {tuple(contact) for contact in patient["contacts"]}
        assert contacts <= {("id", "relationship", "name", "addresses", "phoneNumbers")}
        dates = [patient[name] for name in ("birthDay", "activeFrom", "activeThru") if patient[name]]
        assert all(earlier <= later for earlier, later in pairwise([*dates, "2026-01-01"]))
    assert json.dumps(patients, ensure_ascii=False, separators=(",", ":")).encode() == body


def test_the_image_is_framed_like_a_jpeg_and_has_no_marker_within() -> None:
    body = (CORPUS / "image.jpg").read_bytes()
    assert (body[:4], body[-2:]) == (b"\xff\xd8\xff\xe0", b"\xff\xd9")
    scan = body[20:-2]
    assert scan.count(b"\xff") == scan.count(b"\xff\x00") > 0


def test_the_whole_corpus_stays_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.iterdir()) <= 4 << 20
