"""What is wrong with the parameters of a suite's cells, told alike by every driver."""

from pydantic import ValidationError

from photofinish.contest.plan import Plan
from photofinish.contest.suite import Cell


def place(plan: Plan, cell: Cell) -> str:
    """Where a cell's parameters stand, for messages."""
    return f"suite '{plan.suite.name}': cells.{cell.id}.parameters"


def problems(plan: Plan, cell: Cell, error: ValidationError) -> list[str]:
    """One line a problem: place, what is wrong, mend."""
    lines = []
    for item in error.errors(include_url=False):
        key = ".".join(str(part) for part in item["loc"])
        what = "unknown parameter" if item["type"] == "extra_forbidden" else str(item["msg"]).lower()
        lines.append(f"{place(plan, cell)}.{key}: {what}; correct it in the suite, or in what you laid over it")
    return lines
