"""What `photofinish new contestant` writes really races."""

import shutil
from pathlib import Path

import pytest

from photofinish.contest import scaffold
from photofinish.contest.loading import load_all, load_suite
from photofinish.contest.planning import make_plan
from photofinish.store import Store
from photofinish.trial.race import begin, prepare, run_race
from tests.contestants import write_suite
from tests.trial.turns.test_rounds import PARAMETERS, pytestmark  # noqa: F401 - skips without the engine

TOOLS = {"go": "go", "node": "node", "python": "python3"}


@pytest.mark.parametrize("connection", ["keep", "new"])
@pytest.mark.parametrize(("suite", "direction"), [("uploads", "upload"), ("clients", "download")])
def test_contestants_as_they_are_written_count(tmp_path: Path, suite: str, direction: str, connection: str) -> None:
    languages = [each for each in scaffold.languages(suite) if shutil.which(TOOLS[each])]
    folder = tmp_path / "contestants" / "toy"
    for place, language in enumerate(languages):
        name = "one" if place == 0 else f"x-{language}"
        made = scaffold.write(suite, name, language, folder)
        manifest = made / "contestant.toml"
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(text.replace(f'suite = "{suite}"', 'suite = "toy"'), encoding="utf-8")
    body = (
        f'[cells.parameters]\ndirection = "{direction}"\nconnection = "{connection}"\ninstruments = false\n{PARAMETERS}'
    )
    loaded = load_suite(write_suite(tmp_path, driver="turns", body=body, denominator="requests"))
    plan = make_plan(loaded, "quick", rounds=1, seed=1)
    workshop = prepare(plan, load_all(loaded), tmp_path / "work")
    with Store.open(tmp_path / "store.sqlite") as store:
        begin(store, plan, workshop, "r1")
        run_race(store, "r1", workshop)
        (one,) = store.load("r1").rounds
    assert {trial.entry: trial.void for trial in one.trials} == dict.fromkeys([each.id for each in plan.entries])
    assert len(one.trials) == len(languages) + 1
