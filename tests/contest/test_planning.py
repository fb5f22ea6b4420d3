from pathlib import Path

import pytest

from photofinish.contest.loading import load_suite
from photofinish.contest.plan import Absence
from photofinish.contest.planning import make_plan
from photofinish.contest.suite import Suite
from photofinish.errors import EnvironmentError_, InputError
from tests.contestants import write_contestant, write_suite


class Machine:
    def __init__(self, *, tools: set[str] | None = None, packages: set[str] | None = None) -> None:
        self.tools = tools or set()
        self.packages = packages or set()

    def has_tool(self, name: str) -> bool:
        return name in self.tools

    def has_package(self, name: str) -> bool:
        return name in self.packages


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    for name in ("one", "two", "three", "limit"):
        write_contestant(
            tmp_path, name, ["true"], more=f"[requires]\ntools = ['{name}-tool']\npackages = ['{name}-deb']"
        )
    body = "parameters = { load = { mode = 'closed', connections = 100 } }"
    head = 'reference = "limit"\nparameters = { cycles = 40, load = { mode = "open", rate = 5 } }'
    return load_suite(write_suite(tmp_path, head=head, body=body))


EVERYTHING = Machine(
    tools={"one-tool", "two-tool", "three-tool", "limit-tool"},
    packages={"one-deb", "two-deb", "three-deb", "limit-deb"},
)


def test_the_twin_stands_beside_its_contestant_and_the_reference_is_marked(suite: Suite) -> None:
    plan = make_plan(suite, "quick", seed=1, machine=EVERYTHING)
    assert [entry.id for entry in plan.entries] == ["limit", "one", "one~twin", "three", "two"]
    assert [entry.twin_of for entry in plan.entries] == [None, None, "one", None, None]
    assert [entry.is_reference for entry in plan.entries] == [True, False, False, False, False]
    assert plan.notes == ()


def test_rounds_are_the_fewest_that_can_name_a_winner_among_the_pairs_without_reference_and_twin(suite: Suite) -> None:
    plan = make_plan(suite, "quick", seed=1, machine=EVERYTHING)
    assert plan.rounds == 7  # 3 pairs: 2^(1-7) = 0.0156 <= 0.05 / 3
    assert make_plan(suite, "quick", seed=1, machine=EVERYTHING, rounds=4).rounds == 4


def test_nine_judged_contestants_need_eleven_rounds() -> None:
    suite = load_suite("servers")
    names = suite.profiles["quick"].contestants
    tools = {
        "cargo",
        "rustc",
        "nginx",
        "cmake",
        "c++",
        "g++",
        "cc",
        "go",
        "node",
        "npm",
        "python3",
        "java",
        "javac",
        "mvn",
    }

    class All(Machine):
        def has_tool(self, name: str) -> bool:
            return bool(name)

        def has_package(self, name: str) -> bool:
            return bool(name)

    plan = make_plan(suite, "quick", seed=1, machine=All(tools=tools))
    assert {entry.contestant for entry in plan.entries} == set(names)
    assert plan.rounds == 11


def test_parameters_are_merged_key_by_key_from_suite_to_overrides(suite: Suite) -> None:
    plan = make_plan(suite, "quick", seed=1, machine=EVERYTHING, overrides={"load": {"connections": 7}, "cycles": 3})
    assert plan.cells[0].parameters == {"cycles": 3, "load": {"mode": "closed", "rate": 5, "connections": 7}}


def test_what_is_missing_becomes_an_absence_with_its_mend(suite: Suite) -> None:
    machine = Machine(tools=EVERYTHING.tools - {"two-tool"}, packages=EVERYTHING.packages - {"three-deb"})
    plan = make_plan(suite, "quick", seed=1, machine=machine)
    assert {absence.contestant: absence.code for absence in plan.absent} == {
        "two": "missing-tool",
        "three": "missing-package",
    }
    assert any("apt-get install three-deb" in absence.detail for absence in plan.absent)
    assert [entry.id for entry in plan.entries] == ["limit", "one", "one~twin"]


def test_another_contestant_is_the_twin_if_the_named_one_is_absent(suite: Suite) -> None:
    absent = [Absence(contestant="one", code="build-failed", detail="no compiler")]
    plan = make_plan(suite, "quick", seed=1, machine=EVERYTHING, absent=absent)
    assert [entry.id for entry in plan.entries if entry.twin_of] == ["three~twin"]
    assert "the twin is three, as one does not race here" in plan.notes
    assert plan.absent == tuple(absent)


def test_the_reference_races_even_if_the_user_names_others_only(suite: Suite) -> None:
    plan = make_plan(suite, "quick", contestants=["two", "one"], seed=1, machine=EVERYTHING)
    assert [entry.id for entry in plan.entries] == ["two", "one", "one~twin", "limit"]


def test_an_added_folder_races_beside_the_others(suite: Suite, tmp_path: Path) -> None:
    folder = write_contestant(tmp_path / "mine", "mine", ["true"])
    plan = make_plan(suite, "quick", contestants=["one"], add=[folder], seed=1, machine=EVERYTHING)
    assert [entry.id for entry in plan.entries] == ["one", "one~twin", "limit", "mine"]


def test_unknown_names_and_impossible_numbers_are_told_at_once(suite: Suite) -> None:
    with pytest.raises(InputError) as error:
        make_plan(suite, "quik", contestants=["tow"], cells=["x"], rounds=0, workers=0, alpha=1.0, seed=1)
    text = str(error.value)
    assert len(text.splitlines()) == 6
    assert "no profile 'quik'; did you mean 'quick'?" in text
    assert "there is no 'tow'; did you mean 'two'?" in text


def test_a_race_of_nobody_is_an_error_of_the_environment(suite: Suite) -> None:
    with pytest.raises(EnvironmentError_, match=r"no contestant of 'toy' can race here: .*not on PATH: one-tool"):
        make_plan(suite, "quick", seed=1, machine=Machine())


def test_until_decided_allows_for_all_its_looks(suite: Suite) -> None:
    plan = make_plan(suite, "quick", seed=1, machine=EVERYTHING, until_decided=True, budget_s=60)
    assert plan.rounds == 42
    assert plan.budget_s == 60
