from pathlib import Path

import pytest

from photofinish.contest.loading import load_all, load_manifests, load_suite
from photofinish.errors import InputError
from tests.contestants import write_contestant, write_suite


def problems(error: pytest.ExceptionInfo[InputError]) -> list[str]:
    return str(error.value).splitlines()


def test_the_suite_of_servers_and_all_its_contestants_are_in_order() -> None:
    suite = load_suite("servers")
    found = load_all(suite)
    assert suite.headline.name == "cpu_us_per_request"
    assert set(suite.profiles["quick"].contestants) <= set(found)


def test_a_suite_finds_its_contestants_beside_itself(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", ["true"])
    suite = load_suite(write_suite(tmp_path))
    assert list(load_all(suite)) == ["one"]


def test_an_unknown_suite_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'servers'"):
        load_suite("server")


def test_bad_toml_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("schema = 1\nname = \n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        load_suite(path)


def test_all_that_is_wrong_with_a_suite_is_told_at_once(tmp_path: Path) -> None:
    body = """
metrics = ["cpu_us", "cpu_uss"]

[[cells]]
id = "only"
title = "again"

[profiles.bad]
cells = ["olny"]
rounds = 0
"""
    path = write_suite(tmp_path, body=body)
    path.write_text(path.read_text(encoding="utf-8").replace('twins = ["one"]', "twins = []"), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_suite(path)
    text = "\n".join(problems(error))
    assert len(problems(error)) == 5
    assert "'only' stands 2 times" in text
    assert "unknown metric 'cpu_uss'; did you mean 'cpu_us'?" in text
    assert "unknown cell 'olny'; did you mean 'only'?" in text
    assert "profiles.bad.rounds: is 0" in text
    assert "twins: is empty" in text


def test_an_unknown_key_names_its_place_and_the_nearest_known_one(tmp_path: Path) -> None:
    path = write_suite(tmp_path, body='titel = "x"')
    with pytest.raises(InputError, match=r"cells\.0\.titel: unknown key; did you mean 'title'"):
        load_suite(path)


def test_all_that_is_wrong_with_all_manifests_is_told_at_once(tmp_path: Path) -> None:
    write_contestant(tmp_path, "one", ["run", "{prot}"])
    write_contestant(tmp_path, "two", ["run"], more="[build]\nsteps = [[], ['cc', '{port}']]\ntimeout_s = 0")
    write_contestant(tmp_path, "three", ["run"], suite="servers")
    write_contestant(tmp_path, "four", ["run"], id="one")
    suite = load_suite(write_suite(tmp_path))
    with pytest.raises(InputError) as error:
        load_all(suite)
    text = "\n".join(problems(error))
    assert "start.argv: unknown placeholder {prot}; did you mean 'port'?" in text
    assert "build.steps.0: is empty" in text
    assert "build.steps.1: unknown placeholder {port}" in text
    assert "build.timeout_s: is 0.0" in text
    assert "three/contestant.toml: suite: is 'servers'" in text
    assert "id: 'one' is taken by" in text
    assert len(problems(error)) == 6


def test_braces_of_shells_and_blocks_are_no_placeholders(tmp_path: Path) -> None:
    folder = write_contestant(tmp_path, "one", ["sh", "-c", "f() { echo ${HOME}; }; f {port}"])
    assert load_manifests(folder)[0].start.argv[2].endswith("{port}")


def test_names_of_contestants_that_do_not_exist_are_errors(tmp_path: Path) -> None:
    write_contestant(tmp_path, "ono", ["true"])
    suite = load_suite(write_suite(tmp_path, head='reference = "limit"'))
    with pytest.raises(InputError) as error:
        load_all(suite)
    assert "twins: contestant 'one' is not in" in problems(error)[0]
    assert "did you mean 'ono'?" in problems(error)[0]
    assert "reference: contestant 'limit'" in problems(error)[1]


def test_a_manifest_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        load_manifests(tmp_path)


def test_wrong_types_name_the_key(tmp_path: Path) -> None:
    folder = write_contestant(tmp_path, "one", ["true"], tuning="fast", more="[ready]\ntimeout_s = 'long'")
    with pytest.raises(InputError) as error:
        load_manifests(folder)
    assert any(
        "tuning: is 'fast'; write 'default', 'tuned', 'limit' or 'reference'" in line for line in problems(error)
    )
    assert any("ready.timeout_s" in line for line in problems(error))


def whole_with_variants(root: Path, variants: str) -> Path:
    more = "[build]\nsteps = [['true']]\nartifact = '{build}/all'\n" + variants
    return write_contestant(root, "family", ["run"], more=more)


def test_variants_are_contestants_of_one_build_laid_over_their_whole(tmp_path: Path) -> None:
    folder = whole_with_variants(
        tmp_path,
        """
        [[variants]]
        id = "fast"
        title = "Fast"
        tuning = "tuned"
        protocols = ["h2"]
        artifact = "{build}/fast"
        argv = ["{build}/fast", "quickly"]
        version_probe = { argv = ["{build}/fast", "--version"] }
        env = { WAY = "fast" }
        [[variants]]
        id = "plain"
        title = "Plain"
        """,
    )
    fast, plain = load_manifests(folder)
    assert (fast.id, fast.title, fast.tuning, fast.protocols) == ("fast", "Fast", "tuned", ("h2",))
    assert (fast.build.artifact, fast.start.env) == ("{build}/fast", {"WAY": "fast"})
    assert (fast.start.argv, plain.start.argv) == (("{build}/fast", "quickly"), ("run",))
    assert fast.version_probe is not None
    assert (fast.version_probe.argv, plain.version_probe) == (("{build}/fast", "--version"), None)
    assert (plain.id, plain.tuning, plain.protocols) == ("plain", "default", ("http/1.1",))
    assert (plain.build.artifact, plain.start.env) == ("{build}/all", {})
    assert fast.build_name == plain.build_name == "family"


def test_what_is_wrong_with_a_variant_names_it(tmp_path: Path) -> None:
    whole_with_variants(
        tmp_path,
        """
        [[variants]]
        id = "one"
        title = "One"
        env = { WAY = "{prot}" }
        [[variants]]
        id = "one"
        title = "One again"
        artifact = "{port}"
        argv = ["{bild}/x"]
        version_probe = { argv = ["{run}/x"] }
        """,
    )
    with pytest.raises(InputError) as error:
        load_all(load_suite(write_suite(tmp_path)))
    text = str(error.value)
    assert "variants.one.env.WAY: unknown placeholder {prot}; did you mean 'port'?" in text
    assert "variants.one.artifact: unknown placeholder {port}" in text
    assert "variants.one.version_probe.argv: unknown placeholder {run}" in text
    assert "variants.one.argv: unknown placeholder {bild}; did you mean 'build'?" in text
    assert "variants.one: 'one' is taken by" in text


def test_a_file_can_not_pretend_to_be_a_variant(tmp_path: Path) -> None:
    folder = write_contestant(tmp_path, "one", ["true"], variant_of="another")
    with pytest.raises(InputError, match="variant_of: stands in a file"):
        load_manifests(folder)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_times_that_are_no_numbers_of_seconds_are_refused(tmp_path: Path, number: str) -> None:
    folder = write_contestant(tmp_path, "one", ["true"], more=f"[ready]\ntimeout_s = {number}")
    with pytest.raises(InputError, match=r"ready\.timeout_s"):
        load_manifests(folder)


def test_what_no_program_can_be_given_is_told_before_it_is_started(tmp_path: Path) -> None:
    folder = write_contestant(tmp_path, "one", ["true"])
    with (folder / "contestant.toml").open("a", encoding="utf-8") as file:
        file.write('\nenv = { "A=B" = "x", "" = "y", GOOD = "\\u0000" }\n')
    with pytest.raises(InputError) as error:
        load_manifests(folder)
    text = str(error.value)
    assert "start.env: 'A=B' is no name of a variable; write a name without `=`" in text
    assert "start.env: '' is no name of a variable" in text
    assert "start.env.GOOD: holds a null byte" in text
