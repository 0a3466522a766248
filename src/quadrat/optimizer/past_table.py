"""Results from before the run that come as a table, such as a pandas DataFrame: a column for each parameter.

Tables are known by what they can do, so that no library of tables is needed here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeGuard

from quadrat.errors import InvalidInput
from quadrat.optimizer.past_trials import PastTrials, cells, is_missing, past_trials
from quadrat.space import Space

__all__ = ["Table", "is_table", "past_trials_in_table"]


class Table(Protocol):
    """Columns by name, each of which turns into a list by `tolist` or `to_list`."""

    @property
    def columns(self) -> Iterable[Any]:
        """The names of the columns, in order."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return one column."""


def is_table(given: object) -> TypeGuard[Table]:
    """Return whether `given` is a table."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__") and not isinstance(given, Mapping)


def past_trials_in_table(table: Table, values: object, constraints: object, space: Space) -> PastTrials:
    """Return the trials in the rows of a table.

    A cell that is missing belongs to a parameter that does not exist in that trial; or it is None, where the parameter
    exists and can be None.

    Parameters
    ----------
    table
        One column for each parameter.
    values
        The name of one further column, or a collection with an outcome for each row. What is missing counts as NaN.
    constraints
        A list of mappings, or None.
    space
        What has the parameters.

    Raises
    ------
    InvalidInput
        Columns that are no parameters, parameters without a column, or a Series in another order than the table.
    """
    names = list(table.columns)
    if isinstance(values, str):
        if values not in names:
            raise InvalidInput(
                f"values: expected outcomes, or the name of the column that has them, got {values!r}; the table has"
                f" {_listed(names)}"
            )
        names = [name for name in names if name != values]
        values = table[values]
    else:
        _check_same_rows(table, values)
    _check_columns(names, space)
    rows = _rows({name: cells(table[name]) for name in names}, space)
    return past_trials(rows, values, constraints, entry="row")


def _check_columns(names: list[Any], space: Space) -> None:
    unknown = [name for name in names if name not in space]
    if unknown:
        raise InvalidInput(
            f"params: expected columns that are parameters of the space, {_listed(space)}, got also {_listed(unknown)};"
            " drop these, or name the one that has the outcomes: add_trials(table, 'its name')"
        )
    if len(set(names)) < len(names):
        raise InvalidInput(f"params: expected one column for each parameter, got {_listed(names)}")
    missing = [name for name, parameter in space.items() if parameter.when is None and name not in names]
    if missing:
        raise InvalidInput(
            f"params: expected a column for every parameter, got none for {_listed(missing)}; the table has"
            f" {_listed(names)}"
        )


def _check_same_rows(table: object, values: object) -> None:
    """Refuse a Series that has other row labels than the table: matched by position, it would tell wrong outcomes."""
    ours, theirs = getattr(table, "index", None), getattr(values, "index", None)
    same = getattr(ours, "equals", None)
    if callable(same) and hasattr(theirs, "equals") and not same(theirs):
        raise InvalidInput(
            "values: expected a Series with the index of the table, got one with another; put it in the table as a"
            " column, or pass values.to_numpy() if the order of rows is the same"
        )


def _rows(columns: Mapping[str, list[Any] | None], space: Space) -> list[dict[str, Any]]:
    """Return the parameters in each row, those that exist."""
    given = {name: column for name, column in columns.items() if column is not None}
    if len(given) < len(columns):
        wrong = _listed(name for name in columns if name not in given)
        raise InvalidInput(
            f"params: expected columns of a table, which turn into lists, got something else for {wrong}"
        )
    rows: list[dict[str, Any]] = [{} for _ in range(max(map(len, given.values()), default=0))]
    missing: dict[str, list[int]] = {}
    for name, column in given.items():
        missing[name] = []
        for i, cell in enumerate(column):
            if is_missing(cell):
                missing[name].append(i)
            else:
                rows[i][name] = cell
    for name, positions in missing.items():
        if positions and not math.isnan(space[name].read([None])[0]):
            for i in positions:
                if _exists(name, rows[i], space):
                    rows[i][name] = None
    return rows


def _exists(name: str, row: Mapping[str, Any], space: Space) -> bool:
    """Return whether a parameter exists, given its parents in `row`; a parent that is not there may be None."""
    conditions = space[name].when or {}
    return all(_exists(parent, row, space) and row.get(parent) in allowed for parent, allowed in conditions.items())


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(repr, names)) or "no columns"
