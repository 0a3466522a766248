"""From what a search proposes to parameters that may be evaluated."""

from __future__ import annotations

from typing import Any

from quadrat.methods.base import Search
from quadrat.optimizer.collisions import free_point
from quadrat.optimizer.history import History
from quadrat.randomness import generator
from quadrat.space import Space
from quadrat.space.constraint import feasible_points

__all__ = ["propose"]

_COLLISION_STREAM = 0x0C011151  # names the stream of `free_point`, apart from those that methods draw from


def propose(search: Search, space: Space, history: History, seed: int) -> tuple[dict[str, Any], str]:
    """Return the parameters of the next trial, and why these."""
    number = len(history)
    proposal = search.ask(number, history.taken)
    x, why = space.round(proposal.x), proposal.why
    # On a continuous space equal points are no accident: methods that certify measure the same point again.
    collides = not space.is_continuous and history.is_taken(x)
    forbidden = not space.allowed(x[None, :])[0]
    if collides or forbidden:
        rng = generator(seed, number, _COLLISION_STREAM)
        free = free_point(space, x, history.is_taken, rng)
        if free is None and forbidden:
            free = feasible_points(space, 1, rng)[0]
        if free is not None:
            wanted = "that is feasible" if forbidden else "that is neither pending nor failed"
            x, why = free, f"{why}; moved to a neighbour {wanted}"
    repeated = history.first_at(x)
    if repeated is not None:
        why = f"{why}; repeats trial {repeated}"
    return space.from_unit(x), why
