"""Results from before the run, gathered from whatever form they come in; whether they fit the space is read later."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from quadrat.errors import InvalidInput

__all__ = ["PastTrials", "cells", "is_missing", "past_trials"]


@dataclass(frozen=True)
class PastTrials:
    """Trials that were evaluated elsewhere: one entry for each in every field.

    Attributes
    ----------
    params
        Parameters by name, as given.
    outcomes
        What `Optimizer.add` takes as an outcome.
    constraints
        What it takes as constraints; None where there are none.
    reasons
        Why it failed, where that is known.
    labels
        What to call it in errors, such as "row 3".
    """

    params: Sequence[Mapping[str, Any]]
    outcomes: Sequence[object]
    constraints: Sequence[object]
    reasons: Sequence[str | None]
    labels: Sequence[str]

    def __len__(self) -> int:
        return len(self.params)

    def without(self, positions: Iterable[int]) -> PastTrials:
        """Return all but those at `positions`."""
        dropped = set(positions)
        kept = [i not in dropped for i in range(len(self))]
        return PastTrials(
            list(compress(self.params, kept)),
            list(compress(self.outcomes, kept)),
            list(compress(self.constraints, kept)),
            list(compress(self.reasons, kept)),
            list(compress(self.labels, kept)),
        )


def past_trials(params: object, outcomes: object, constraints: object, *, entry: str = "entry") -> PastTrials:
    """Return trials whose parameters, outcomes and constraints come as three collections of equal length.

    Parameters
    ----------
    params
        A list of mappings from names to values.
    outcomes
        A list, array or Series; what is missing in a Series counts as NaN.
    constraints
        A list of mappings, with None for a trial that has none; or None when no trial has any.
    entry
        What to call one of them in errors.

    Raises
    ------
    InvalidInput
        Not such collections, or of other lengths.
    """
    rows = _as_list(params, "params", "a list of mappings from names to values")
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidInput(f"params[{i}]: expected a mapping from names to values, got {row!r:.80}")
    values = _as_list(outcomes, "values", "a list of outcomes, one for each of params")
    _check_length(values, "values", rows)
    told: list[Any] = [None] * len(rows)
    if constraints is not None:
        told = _as_list(constraints, "constraints", "a list of mappings from names to numbers, one for each of params")
        _check_length(told, "constraints", rows)
    labels = [f"{entry} {i}" for i in range(len(rows))]
    return PastTrials(rows, values, told, [None] * len(rows), labels)


def cells(column: Any) -> list[Any] | None:
    """Return the entries of an array, or of a column of a table, as a list; None for whatever is neither."""
    for name in ("tolist", "to_list"):
        convert = getattr(column, name, None)
        if callable(convert):
            entries = convert()
            return entries if isinstance(entries, list) else None
    return None


def is_missing(cell: object) -> bool:
    """Return whether a cell of a table is empty: None, NaN, or one of the marks that tables have for it."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)  # NaN and NaT differ from themselves
    except TypeError:  # a mark that refuses to say so of itself
        return True
    except ValueError:  # an array
        return False


def _as_list(given: Any, name: str, expected: str) -> list[Any]:
    if isinstance(given, list):
        return given
    entries = cells(given)
    if entries is not None:
        if isinstance(given, np.ndarray):
            return entries
        return [math.nan if is_missing(entry) else entry for entry in entries]  # columns mark what they do not have
    one = isinstance(given, Mapping | str | bytes) or hasattr(given, "columns") or getattr(given, "ndim", 1) == 0
    if one or not isinstance(given, Iterable):
        got = f"{given!r:.80}"
        if hasattr(given, "columns"):
            got = f"a {type(given).__name__}; to_dict('records') makes such a list of it"
        elif isinstance(given, Mapping) and name == "params":
            got += "; one trial goes through add(params, outcome)"
        raise InvalidInput(f"{name}: expected {expected}, got {got}")
    return list(given)


def _check_length(entries: Sequence[object], name: str, rows: Sequence[object]) -> None:
    if len(entries) != len(rows):
        raise InvalidInput(
            f"{name}: expected {len(rows)}, one for each trial in params, got {len(entries)}; where there is none, put"
            f" {'None' if name == 'constraints' else 'FAILED'}"
        )
