from photofinish.contest.levels import LEVELS, level_problem


def test_each_coding_has_the_levels_of_its_own_range_and_the_range_is_told() -> None:
    for coding, (lowest, highest) in LEVELS.items():
        assert level_problem(coding, lowest) is level_problem(coding, highest) is None
        for wrong in (lowest - 1, highest + 1):
            assert level_problem(coding, wrong) == f"{coding} has no level {wrong}; it has {lowest} to {highest}"


def test_a_coding_without_levels_has_only_its_default() -> None:
    assert level_problem("identity", None) is None
    assert level_problem("identity", 1) == "identity has no levels; leave level out"
