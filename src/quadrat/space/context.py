"""Contexts: parameters that nobody chooses.

The weather, the customer, the machine that is free: they are given, trial by trial, and the search chooses the other
parameters for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quadrat.errors import InvalidInput
from quadrat.space.coding import did_you_mean
from quadrat.space.parameter import Parameter

if TYPE_CHECKING:
    from quadrat.arrays import Array
    from quadrat.space.space import Space

__all__ = ["Context", "context_of", "context_point"]

P = TypeVar("P", bound=Parameter)


def Context(parameter: P) -> P:  # reads as what it makes: site=Context(Categorical([...]))
    """Return the parameter marked as a context: given with every `ask`, never chosen.

    In a file it is written ``context = true``.

    Parameters
    ----------
    parameter
        A Float, Int or Categorical.

    Returns
    -------
    Parameter
        The same, with `context` set.

    Raises
    ------
    InvalidInput
        Something that cannot be a context, such as a Fixed parameter.

    Examples
    --------
    >>> from quadrat.space import Categorical
    >>> Context(Categorical(["north", "south"]))
    Categorical(('north', 'south'), context=True)
    """
    if not isinstance(parameter, Parameter):
        raise InvalidInput(
            f"Context: expected a parameter, such as Context(Categorical(['north', 'south'])), got {parameter!r:.80}"
        )
    return replace(parameter, context=True)


def context_of(space: Space, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what parameters of the space say of the context."""
    return {name: params[name] for name in space.contexts}


def context_point(space: Space, context: Mapping[str, Any] | None) -> Array | None:
    """Return a context as coordinates, shape (D,), NaN on the axes that are free; None for a space without contexts.

    Raises
    ------
    InvalidInput
        A context where the space has none, none where it has some, or values that are not in it.
    """
    if not space.contexts:
        if context is None:
            return None
        raise InvalidInput(
            "context: expected none, because no parameter of the space is marked with Context(...), got"
            f" {context!r:.80}"
        )
    listed = ", ".join(map(repr, space.contexts))
    if context is None:
        raise InvalidInput(f"context: expected values of {listed}, got none; give them as context={{...}}")
    if not isinstance(context, Mapping):
        raise InvalidInput(f"context: expected a mapping with values of {listed}, got {context!r:.80}")
    point = np.full(space.dimension, np.nan)
    for name in context:
        if name not in space.contexts:
            raise InvalidInput(
                f"context: expected values of {listed}, got {name!r}{did_you_mean(name, space.contexts)}, which is no"
                " context"
            )
    for name in space.contexts:
        if name not in context:
            raise InvalidInput(f"context: expected values of {listed}, got none of {name!r}")
        parameter = space[name]
        code = parameter.read([context[name]])
        if np.isnan(code[0]):
            raise InvalidInput(f"context: {name!r}: expected {parameter.expected}, got {context[name]!r:.80}")
        # As it comes back from the cube: a trial in this context has exactly this coordinate, also when it is replayed.
        point[space.axes.index(name)] = parameter.encode(parameter.decode(parameter.encode(code)))[0]
    return point
