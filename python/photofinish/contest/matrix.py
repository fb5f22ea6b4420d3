"""Cells that are the product of axes, written once instead of one by one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from pydantic import Field

from photofinish.contest.frozen import Frozen
from photofinish.contest.layers import lay_over


class AxisValue(Frozen):
    """One value of an axis: a name for ids, one for titles, and the parameters that it brings."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class Axis(Frozen):
    """One direction of a matrix."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    values: tuple[AxisValue, ...] = Field(min_length=1)


class Matrix(Frozen):
    """The product of its axes; the cell of the first values comes first, the last axis runs fastest."""

    axes: tuple[Axis, ...] = Field(min_length=1)
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Of each cell, under those of its values."""
    metrics: tuple[str, ...] = ()
    """As in a cell."""


class MatrixCell(Frozen):
    """One combination, before it is a cell of the suite."""

    id: str
    """The values' ids in the axes' order, joined by hyphens."""
    title: str
    parameters: dict[str, Any]
    metrics: tuple[str, ...]
    axes: dict[str, str]
    """Axis → id of its value."""
    titles: dict[str, str]
    """Axis → title of its value."""


def expand(matrix: Matrix) -> Iterable[MatrixCell]:
    """Every combination of a matrix, in order."""
    for values in product(*(axis.values for axis in matrix.axes)):
        parameters: Mapping[str, Any] = matrix.parameters
        for value in values:
            parameters = lay_over(parameters, value.parameters)
        yield MatrixCell(
            id="-".join(value.id for value in values),
            title=", ".join(value.title for value in values),
            parameters=dict(parameters),
            metrics=matrix.metrics,
            axes={axis.name: value.id for axis, value in zip(matrix.axes, values, strict=True)},
            titles={axis.name: value.title for axis, value in zip(matrix.axes, values, strict=True)},
        )


def repeated(matrix: Matrix) -> list[str]:
    """Names of axes, and of values within an axis, that occur twice."""
    names = [axis.name for axis in matrix.axes]
    values = [f"{axis.name}.{value.id}" for axis in matrix.axes for value in axis.values]
    return [name for name, count in Counter([*names, *values]).items() if count > 1]
