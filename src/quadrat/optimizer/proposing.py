"""From what a search proposes to parameters that may be evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Search
from quadrat.optimizer.collisions import free_point
from quadrat.optimizer.history import History
from quadrat.randomness import generator
from quadrat.space import Space
from quadrat.space.constraint import feasible_points

__all__ = ["propose", "proposed_point"]

_COLLISION_STREAM = 0x0C011151  # names the stream of `free_point`, apart from those that methods draw from


def propose(
    search: Search, space: Space, history: History, seed: int, context: Array | None = None
) -> tuple[dict[str, Any], str]:
    """Return the parameters of the next trial, in a context, shape (D,), where there is one; and why these."""
    x, why = proposed_point(search, space, seed, len(history), history.taken, history.is_taken, context)
    repeated = history.first_at(x)
    if repeated is not None:
        why = f"{why}; repeats trial {repeated}"
    return space.from_unit(x), why


def proposed_point(
    search: Search,
    space: Space,
    seed: int,
    number: int,
    taken: Array,
    is_taken: Callable[[Array], bool],
    context: Array | None = None,
) -> tuple[Array, str]:
    """Return a rounded point of the space that may be evaluated, shape (D,), and why this one.

    Parameters
    ----------
    search, space, seed
        What chooses, where, and the seed of the run.
    number
        The trial's; it names the randomness.
    taken
        Points that are pending or failed, shape (p, D).
    is_taken
        Says of a rounded point, shape (D,), whether it is one of them.
    context
        Coordinates that are given, shape (D,), NaN on the free axes; None where all are free.

    Raises
    ------
    InvalidInput
        A context in which no feasible point was found.
    """
    proposal = search.ask(number, taken, context)
    x, why = space.round(proposal.x), proposal.why
    # On a continuous space equal points are no accident: methods that certify measure the same point again.
    collides = not space.is_continuous and is_taken(x)
    forbidden = not space.allowed(x[None, :])[0]
    if collides or forbidden:
        rng = generator(seed, number, _COLLISION_STREAM)
        free = free_point(space, x, is_taken, rng, context)
        if free is None and forbidden:
            if context is not None:
                raise InvalidInput("context: expected one in which the space's constraint allows some point, got none")
            free = feasible_points(space, 1, rng)[0]
        if free is not None:
            wanted = "that is feasible" if forbidden else "that is neither pending nor failed"
            x, why = free, f"{why}; moved to a neighbour {wanted}"
    return x, why
