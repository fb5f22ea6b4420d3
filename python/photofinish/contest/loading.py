"""Reads suites and contestants from disk; every problem of a file is told at once."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from photofinish.contest.choice import chosen
from photofinish.contest.frozen import Frozen
from photofinish.contest.manifest import Manifest
from photofinish.contest.matrix import expand, repeated
from photofinish.contest.placeholders import BUILD_TIME, START_TIME, unknown
from photofinish.contest.problems import Problems, read_document, similar
from photofinish.contest.suite import Cell, Suite
from photofinish.errors import InputError

MANIFEST_NAME = "contestant.toml"


class Contestant(Frozen):
    """A contestant as found on disk."""

    folder: str
    """Absolute path."""
    manifest: Manifest


def home() -> Path:
    """The folder that holds ``suites/``: ``$PHOTOFINISH_HOME``, else the working directory or a parent, else ours.

    Raises:
        InputError: no such folder.
    """
    if stated := os.environ.get("PHOTOFINISH_HOME"):
        return Path(stated).resolve()
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if any((folder / "suites").glob("*.toml")):
            return folder
    raise InputError(
        f"{here}: no folder `suites` here or above; go to a checkout of Photofinish or set PHOTOFINISH_HOME"
    )


def suite_names() -> list[str]:
    """Names of the suites at home, sorted."""
    return sorted(path.stem for path in (home() / "suites").glob("*.toml"))


def load_suite(which: str | Path) -> Suite:
    """Reads a suite by its name or the path of its file.

    Raises:
        InputError: all that is wrong with it, one line a problem.
    """
    path = Path(which)
    if path.suffix != ".toml":
        path = home() / "suites" / f"{which}.toml"
        if not path.is_file():
            raise InputError(f"suite '{which}': there is no {path}; {similar(str(which), suite_names())}")
    problems = Problems()
    suite = read_document(path, Suite, problems)
    if suite is not None:
        suite = _expanded(path, suite, problems)
        _check_suite(path, suite, problems)
    problems.raise_if_any()
    assert suite is not None  # noqa: S101 - no problems means that it was read
    folder = path.resolve().parent / (suite.contestants or f"../contestants/{suite.name}")
    return suite.model_copy(update={"contestants": str(folder.resolve())})


def _expanded(path: Path, suite: Suite, problems: Problems) -> Suite:
    """The suite with the cells of its matrices behind those that are written out."""
    for index, matrix in enumerate(suite.matrix):
        for name in repeated(matrix):
            problems.add(path, f"matrix.{index}.axes", f"'{name}' stands twice", "keep one of them")
    made = [Cell.model_validate(cell.model_dump()) for matrix in suite.matrix for cell in expand(matrix)]
    return suite.model_copy(update={"cells": (*suite.cells, *made), "matrix": ()})


def load_manifests(where: str | Path) -> tuple[Manifest, ...]:
    """Reads the manifests of one folder's contestants: one, or one for each of its variants.

    Raises:
        InputError: all that is wrong with it, one line a problem.
    """
    problems = Problems()
    manifest = _read_manifest(_manifest_path(Path(where)), problems)
    problems.raise_if_any()
    assert manifest is not None  # noqa: S101 - no problems means that it was read
    return manifest.contestants()


def load_all(suite: Suite, extra: Iterable[str | Path] = ()) -> dict[str, Contestant]:
    """Every contestant of a suite by id, sorted by id, then those of the folders ``extra``.

    Raises:
        InputError: all that is wrong with all manifests, names that occur twice, and names that the suite uses for
            contestants that don't exist; one line a problem.
    """
    problems = Problems()
    found: dict[str, Contestant] = {}
    files = sorted(Path(suite.contestants or ".").glob(f"*/{MANIFEST_NAME}"))
    added = [_manifest_path(Path(each).resolve()) for each in extra]
    unread = False
    for path in [*files, *(each for each in added if each not in files)]:
        manifest = _read_manifest(path, problems)
        if manifest is None:
            unread = True
        elif manifest.suite != suite.name:
            problems.add(path, "suite", f"is '{manifest.suite}'", f"write '{suite.name}' or move the folder")
        else:
            _add(found, path, manifest, problems)
    if not unread:  # else a name could be missing only because its manifest is broken
        _check_names(suite, found, problems)
    problems.raise_if_any()
    return found


def _add(found: dict[str, Contestant], path: Path, manifest: Manifest, problems: Problems) -> None:
    """Adds the contestants of one file, each under an id of its own."""
    for each in manifest.contestants():
        if each.id in found:
            other = found[each.id].folder
            key = "id" if each.variant_of is None else f"variants.{each.id}"
            problems.add(path, key, f"'{each.id}' is taken by {other}", "give each contestant its own id")
        else:
            found[each.id] = Contestant(folder=str(path.parent), manifest=each)


def _manifest_path(where: Path) -> Path:
    return where if where.suffix == ".toml" else where / MANIFEST_NAME


def _read_manifest(path: Path, problems: Problems) -> Manifest | None:
    manifest = read_document(path, Manifest, problems)
    if manifest is None:
        return None
    if manifest.variant_of is not None:
        problems.add(path, "variant_of", "stands in a file", "leave it out; variants are listed in their whole")
    for key, text, allowed in _texts(manifest):
        for name in unknown(text, allowed):
            problems.add(path, key, f"unknown placeholder {{{name}}}", similar(name, allowed))
        if "\0" in text:
            problems.add(path, key, "holds a null byte", "take it out; no program can be given one")
    _check_environments(path, manifest, problems)
    empty = [f"build.steps.{index}" for index, step in enumerate(manifest.build.steps) if not step]
    for key in [*empty, *([] if manifest.start.argv else ["start.argv"])]:
        problems.add(path, key, "is empty", "name the program to run")
    for key, seconds in (("build", manifest.build), ("ready", manifest.ready), ("stop", manifest.stop)):
        if seconds.timeout_s <= 0:
            problems.add(path, f"{key}.timeout_s", f"is {seconds.timeout_s}", "write a number of seconds above 0")
    return manifest


def _check_environments(path: Path, manifest: Manifest, problems: Problems) -> None:
    """The names of the variables that it sets."""
    set_ = [("start", manifest.start.env), *((f"variants.{each.id}", each.env) for each in manifest.variants)]
    for where, environment in set_:
        for name in environment:
            if not name or "=" in name or "\0" in name:
                problems.add(path, f"{where}.env", f"{name!r} is no name of a variable", "write a name without `=`")


def _texts(manifest: Manifest) -> list[tuple[str, str, frozenset[str]]]:
    """All that may hold placeholders: key, text, and the placeholders that have a value there."""
    texts = [
        (f"build.steps.{index}", word, BUILD_TIME) for index, step in enumerate(manifest.build.steps) for word in step
    ]
    if manifest.build.artifact is not None:
        texts.append(("build.artifact", manifest.build.artifact, BUILD_TIME))
    for variant in manifest.variants:
        if variant.artifact is not None:
            texts.append((f"variants.{variant.id}.artifact", variant.artifact, BUILD_TIME))
        probe = variant.version_probe.argv if variant.version_probe else ()
        texts += [(f"variants.{variant.id}.version_probe.argv", word, BUILD_TIME) for word in probe]
        texts += [(f"variants.{variant.id}.argv", word, START_TIME) for word in variant.argv or ()]
        texts += [(f"variants.{variant.id}.env.{name}", value, START_TIME) for name, value in variant.env.items()]
    if manifest.version_probe is not None:
        texts += [("version_probe.argv", word, BUILD_TIME) for word in manifest.version_probe.argv]
    texts += [("start.argv", word, START_TIME) for word in manifest.start.argv]
    texts += [(f"start.env.{name}", value, START_TIME) for name, value in manifest.start.env.items()]
    return texts


def _check_suite(path: Path, suite: Suite, problems: Problems) -> None:
    """All that concerns the suite's file alone."""
    metrics = [metric.name for metric in suite.metrics]
    cells = [cell.id for cell in suite.cells]
    for key, names in (("metrics", metrics), ("cells", cells)):
        for name, count in Counter(names).items():
            if count > 1:
                problems.add(path, key, f"'{name}' stands {count} times", "keep one of them")
        if not names:
            problems.add(path, key, "is empty", "a race needs at least one")
    _check_metrics(path, suite, problems)
    _check_selections(path, suite, problems)
    _check_contrast(path, suite, problems)
    if not suite.twins:
        problems.add(path, "twins", "is empty", "name a contestant that is entered twice, as the control")


def _check_metrics(path: Path, suite: Suite, problems: Problems) -> None:
    headlines = [metric.name for metric in suite.metrics if metric.headline]
    if len(headlines) != 1:
        problems.add(path, "metrics", f"{len(headlines)} headline metrics", "set headline = true on exactly one")
    for metric in suite.metrics:
        key = f"metrics.{metric.name}"
        if metric.source == "windows" and (metric.numerator is None or metric.denominator is None):
            problems.add(path, key, "is read from windows without its terms", "add numerator and denominator")
        if metric.headline and not metric.judged:
            problems.add(path, key, "is the headline but not judged", "leave out judged = false")


def _check_contrast(path: Path, suite: Suite, problems: Problems) -> None:
    """What compares cells with each other."""
    axes = {name for cell in suite.cells for name in cell.axes}
    if suite.contrast is not None and suite.contrast not in axes:
        problems.add(path, "contrast", f"no cell has the axis '{suite.contrast}'", similar(suite.contrast, axes))
    if suite.contrast is not None and not suite.interleaved:
        problems.add(path, "contrast", "the cells are visited one after another", "set interleaved = true")
    metrics = [metric.name for metric in suite.metrics]
    for name in suite.front or ():
        if name not in metrics:
            problems.add(path, "front", f"unknown metric '{name}'", similar(name, metrics))


def _check_selections(path: Path, suite: Suite, problems: Problems) -> None:
    metrics = [metric.name for metric in suite.metrics]
    cells = [cell.id for cell in suite.cells]
    for cell in suite.cells:
        for name in cell.metrics:
            if name not in metrics:
                problems.add(path, f"cells.{cell.id}.metrics", f"unknown metric '{name}'", similar(name, metrics))
    for name, profile in suite.profiles.items():
        for cell_id in chosen(profile.cells, cells)[1]:
            problems.add(path, f"profiles.{name}.cells", f"unknown cell '{cell_id}'", similar(cell_id, cells))
        if profile.rounds is not None and profile.rounds < 1:
            problems.add(path, f"profiles.{name}.rounds", f"is {profile.rounds}", "write 1 or more, or leave it out")


def _check_names(suite: Suite, found: dict[str, Contestant], problems: Problems) -> None:
    """Contestants that the suite names and that were not found."""
    named = [("twins", each) for each in suite.twins]
    if suite.reference is not None:
        named.append(("reference", suite.reference))
    named += [
        (f"profiles.{name}.contestants", each)
        for name, profile in suite.profiles.items()
        for each in profile.contestants
    ]
    for key, contestant in named:
        if contestant not in found:
            wrong = f"contestant '{contestant}' is not in {suite.contestants}"
            problems.add(f"suite '{suite.name}'", key, wrong, similar(contestant, found))
