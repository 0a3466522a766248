"""A space as a table in a notebook: one row a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from quadrat._core.html import Markup, Piece, block, table
from quadrat.space.fidelity import Fidelity
from quadrat.space.numeric import Float, Int
from quadrat.space.parameter import Categorical, Fixed, Parameter

if TYPE_CHECKING:
    from quadrat.space.space import Space

__all__ = ["parameter_table", "space_html"]

_MOST_ROWS = 60  # parameters that are listed
_MOST_VALUES = 12  # choices that are listed


def space_html(space: Space, feasible: Callable[..., bool] | None) -> str:
    """Return a space as HTML; `feasible` is its constraint, None where it has none."""
    axes = f"{space.dimension} {'axis' if space.dimension == 1 else 'axes'}"
    parts: list[Piece] = [parameter_table(space)]
    if len(space) > _MOST_ROWS:
        parts.append(f"... and {len(space) - _MOST_ROWS} more")
    if feasible is not None:
        parts.append(f"subject to {getattr(feasible, '__name__', 'feasible')}")
    return block(f"Space: {len(space)} {'parameter' if len(space) == 1 else 'parameters'}, {axes}", parts)


def parameter_table(space: Space) -> Markup:
    """Return name, type, values and remarks of each parameter, the first ones of very many."""
    listed = list(space.items())[:_MOST_ROWS]
    rows = [(name, type(parameter).__name__, _values(parameter), _remarks(parameter)) for name, parameter in listed]
    if not any(remarks for *_, remarks in rows):
        return table(["parameter", "type", "values"], [row[:3] for row in rows])
    return table(["parameter", "type", "values", ""], rows)


def _values(parameter: Parameter) -> str:
    """Return the values, with numbers as in the repr."""
    if isinstance(parameter, Float | Int):
        return f"{parameter.low!r} to {parameter.high!r}"
    if isinstance(parameter, Categorical):
        return _listed(parameter.choices)
    if isinstance(parameter, Fixed):
        return repr(parameter.value)
    if isinstance(parameter, Fidelity):
        return _listed(parameter.levels)
    return parameter.expected


def _listed(values: Iterable[object]) -> str:
    words = [repr(value) for value in values]
    more = f", ... ({len(words)} in all)" if len(words) > _MOST_VALUES else ""
    return ", ".join(words[:_MOST_VALUES]) + more


def _remarks(parameter: Parameter) -> str:
    step = getattr(parameter, "step", None)
    whole = isinstance(parameter, Int) and step == 1
    words = [
        "ordered" if getattr(parameter, "ordered", False) else "",
        "log scale" if getattr(parameter, "log", False) else "",
        "" if step is None or whole else f"in steps of {step!r}",
        f"cost {_listed(parameter.cost)}" if isinstance(parameter, Fidelity) else "",
        "context" if parameter.context else "",
        "" if parameter.when is None else f"when {parameter.when!s}",
    ]
    return ", ".join(word for word in words if word)
