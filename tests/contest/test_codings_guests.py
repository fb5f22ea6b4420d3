"""What the contestants of `codings` claim and are made of, as far as it shows without building them."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import TypeAdapter

from photofinish.contest.loading import load_manifests
from photofinish.contest.manifest import Manifest

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
GUESTS = ROOT / "contestants" / "codings"
MANIFESTS = [
    (path.parent, manifest) for path in sorted(GUESTS.glob("*/contestant.toml")) for manifest in load_manifests(path)
]
SIZES = (1, 4, 16, 64, 512)
RANGES = {"gzip": (1, 9), "deflate": (1, 9), "br": (0, 11), "zstd": (1, 22)}
ENCRYPTED = {"http/1.1+tls", "h2+tls", "h3"}
LOCKS = ("requirements.txt", "package-lock.json", "go.sum", "pom.xml")

each_guest = pytest.mark.parametrize(("folder", "manifest"), MANIFESTS, ids=[each.id for _, each in MANIFESTS])


@each_guest
def test_a_guest_sends_bodies_as_they_are_and_is_asked_for_one_before_the_race(
    folder: Path, manifest: Manifest
) -> None:
    assert "identity" in manifest.codings
    assert manifest.ready.path == "/patients/1"
    assert manifest.suite == folder.parent.name


@each_guest
def test_levels_lie_within_those_that_the_coding_has(folder: Path, manifest: Manifest) -> None:
    assert set(manifest.levels) <= set(manifest.codings), folder
    for coding, (lowest, highest) in manifest.levels.items():
        least, most = RANGES[coding]
        assert least <= lowest <= highest <= most, coding


@each_guest
def test_whoever_claims_encryption_reads_the_second_port_and_the_certificate(folder: Path, manifest: Manifest) -> None:
    assert ENCRYPTED & set(manifest.protocols)
    told = " ".join(manifest.start.argv) + " ".join(path.read_text("utf-8") for path in sources(folder))
    for name in ("TLS_PORT", "CERTIFICATE", "KEY"):
        assert f"{{{name.lower()}}}" in told or name in told, name


@each_guest
def test_a_build_that_fetches_has_its_versions_locked_and_names_no_host(folder: Path, manifest: Manifest) -> None:
    locks = [folder / name for name in LOCKS if (folder / name).is_file()]
    fetches = any(word in step for step in manifest.build.steps for word in ("pip", "ci", "go", "mvn"))
    assert bool(locks) == fetches
    # Maven's schema is named by its address; it is no place to fetch from.
    hosts = [
        re.findall(r"https?://(?!maven\.apache\.org/|www\.w3\.org/)\S+", lock.read_text("utf-8")) for lock in locks
    ]
    assert not any(hosts), hosts


@pytest.fixture
def models() -> ModuleType:
    spec = importlib.util.spec_from_file_location("photofinish_test_models", GUESTS / "fastapi-hypercorn" / "models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


@pytest.mark.parametrize("size", SIZES)
def test_the_published_stacks_model_writes_the_frozen_bytes(models: ModuleType, size: int) -> None:
    frozen = (CORPUS / f"patients-{size}.json").read_bytes()
    patients = TypeAdapter(list[models.Patient])  # type: ignore[name-defined]
    assert patients.dump_json(patients.validate_python(json.loads(frozen))) == frozen


def test_nginx_codes_each_path_at_its_level_and_only_where_the_coding_has_it(tmp_path: Path) -> None:
    locations = configure_nginx(tmp_path, "fresh")
    assert len(locations) == len(SIZES) * (1 + 12)
    for level in range(12):
        for size in SIZES:
            location = locations[f"/level/{level}/patients/{size}"]
            assert f"alias {CORPUS}/patients-{size}.json;" in location
            assert f"brotli on; brotli_comp_level {level};" in location
            assert (f"gzip on; gzip_comp_level {level};" in location) == (1 <= level <= 9)
    assert "brotli_types application/json;" in (tmp_path / "nginx.conf").read_text()


def test_nginx_stores_each_coding_once_and_codes_nothing_later(tmp_path: Path) -> None:
    locations = configure_nginx(tmp_path, "stored")
    assert len(locations) == 3 * len(SIZES)
    for size in SIZES:
        assert "brotli_static" not in locations[f"/level/9/patients/{size}"]
        assert "gzip_static" not in locations[f"/level/11/patients/{size}"]
        assert (tmp_path / f"patients-{size}.json.gz").is_file()
        assert (tmp_path / f"patients-{size}.json.br").is_file()
    configuration = (tmp_path / "nginx.conf").read_text()
    assert "gzip on" not in configuration
    assert "brotli on" not in configuration


def sources(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in {".py", ".go", ".js", ".java", ".sh"}]


def configure_nginx(run: Path, way: str) -> dict[str, str]:
    """Run ``start.sh`` with stand-ins for the programs that it calls; return the locations by their paths."""
    commands = run / "commands"
    commands.mkdir()
    stand_in(commands / "nginx", 'case "$1" in -V) echo "--modules-path=/modules --else" >&2 ;; esac')
    for name, suffix in (("gzip", "gz"), ("brotli", "br")):
        stand_in(commands / name, f'for file; do :; done; cp "$file" "$file.{suffix}"')
    told = {
        "ADDRESS": "127.0.0.1",
        "PORT": "80",
        "TLS_PORT": "443",
        "CERTIFICATE": "/certificate.pem",
        "KEY": "/key.pem",
        "CORPUS": str(CORPUS),
        "WORKERS": "1",
        "RUN": str(run),
    }
    environment = {f"PHOTOFINISH_{name}": value for name, value in told.items()}
    environment["PATH"] = f"{commands}:{os.environ['PATH']}"
    script = str(GUESTS / "nginx" / "start.sh")
    subprocess.run(["sh", script, way], env=environment, check=True, capture_output=True, timeout=60)
    lines = (run / "locations.conf").read_text().splitlines()
    return {line.split()[2]: line for line in lines}


def stand_in(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
