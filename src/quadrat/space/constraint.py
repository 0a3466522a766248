"""Known constraints: a user's own test of parameters, called with care."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.randomness import generator
from quadrat.space.parameter import Bins, Grid, LogBins, Scale

if TYPE_CHECKING:
    from quadrat._core.arrays import Array
    from quadrat.space.space import Space

__all__ = ["Feasible", "check_picklable", "check_share", "feasible_points", "listed_settings", "passes"]

Feasible: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""From parameters to whether they may be evaluated."""

_BATCH = 256  # uniform settings that `feasible_points` tries at a time
_UNTIL_LISTED, _BATCHES = 40, 400  # batches in vain after which it lists all settings, and after which it gives up
_SHARE_STREAM = 0x5AFE  # names the stream of `check_share`, which belongs to no run
_TRIED, _ENOUGH = 20_000, 20  # settings that `check_share` draws at most, and feasible ones that it needs
_FIRST, _LARGEST = 64, 2048  # settings in its first batch, and in its largest
_BY_VALUE = {"cloudpickle", "dill"}  # packages that pickle functions by value, whatever their names
MOST_LISTED = 10_000  # settings up to which a finite space is listed


def passes(feasible: Feasible, params: Mapping[str, Any]) -> bool:
    """Return the answer of the user's test for these parameters; only True and False are accepted."""
    try:
        answer = feasible(dict(params))
    except Exception as error:
        raise InvalidInput(
            f"feasible: expected True or False for {dict(params)!r:.120}, got {type(error).__name__}: {error}"
        ) from error
    if not isinstance(answer, bool | np.bool_):
        raise InvalidInput(f"feasible: expected True or False for {dict(params)!r:.120}, got {answer!r:.60}")
    return bool(answer)


def check_picklable(feasible: Feasible) -> None:
    """Refuse a constraint that pickle cannot store, such as a lambda; Dask, Ray and joblib can, with cloudpickle."""
    stored: Any = feasible
    while isinstance(stored, partial):
        stored = stored.func
    if isinstance(stored, MethodType):
        stored = stored.__self__
    if not hasattr(stored, "__qualname__"):  # an object, which pickle stores by the name of its class
        stored = type(stored)
    found: Any = sys.modules.get(stored.__module__)
    for name in stored.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not stored and not _is_pickled_by_value():
        raise InvalidInput(
            f"space: expected a constraint that pickle can store by its name, got {stored.__qualname__}; use a named"
            " function, defined with def at the top level of a module"
        )


def _is_pickled_by_value() -> bool:
    """Return whether the pickle that is being made can hold any function."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if _BY_VALUE & set(str(frame.f_globals.get("__name__")).split(".")):
            return True
    return False


def check_share(space: Space) -> None:
    """Refuse a space whose constraint uniform settings hardly ever meet: fewer than 1 in 1,000.

    A search of such a space finds a few settings by luck, and takes them for all there is. Up to 20,000 uniform
    settings are tried, and the space is accepted as soon as 20 of them are feasible: after about 20 / share calls of
    the constraint, and at least 64. A space whose feasible share is 1/300 is refused with probability 5e-12, one of
    1/3,000 accepted with probability 2e-5; at 1/1,000 the chances are about even. The settings tried are always the
    same: the answer is a function of the space, and nothing is drawn from the streams of a run.

    A finite space of at most 10,000 combinations of values is accepted with a single feasible setting, because
    `feasible_points` finds that setting in the list of all.
    """
    if not space.is_constrained:
        return
    rng, found, tried = generator(_SHARE_STREAM), 0, 0
    while tried < _TRIED:
        count = min(max(_FIRST, tried), _LARGEST, _TRIED - tried)
        found += int(space.allowed(space.round(rng.random((count, space.dimension)))).sum())
        tried += count
        if found >= _ENOUGH:
            return
    settings = listed_settings(space)
    if settings is None:
        raise InvalidInput(
            f"space: expected a constraint that at least 1 in 1,000 uniform settings meets, got {found} of {tried:,}; "
            f"{_ADVICE}"
        )
    if not space.allowed(settings).any():
        raise InvalidInput(
            f"space: expected a constraint that some setting meets, got none of all {len(settings):,} settings; loosen"
            " the constraint or widen the bounds"
        )


_ADVICE = (
    "solve the constraint for one parameter so that the others are free (in a mixture, leave out one component, compute"
    " it in the objective as 1 - a - b, and use subject_to(lambda p: p['a'] + p['b'] <= 1); of many components, divide"
    " free amounts by their sum in the objective), or narrow the bounds to where the constraint can hold"
)


def listed_settings(space: Space) -> Array | None:
    """Return all settings of a finite space as rounded points, (n, D), each once, whether feasible or not.

    None where a parameter is continuous, or where there are more than 10,000 settings. What does not exist in a setting
    does not count.
    """
    points, left = np.full((1, space.dimension), 0.5), list(space.axes)
    while left:
        name = next(name for name in left if not set(space[name].when or ()) & set(left))  # parents first
        left.remove(name)
        values = _coordinates(space[name].scale)
        axis = space.axes.index(name)
        there = space.exists(points)[:, axis]
        if not len(values) or len(points) + there.sum() * (len(values) - 1) > MOST_LISTED:
            return None
        with_values = np.repeat(points[there], len(values), axis=0)
        with_values[:, axis] = np.tile(values, int(there.sum()))
        points = np.vstack([points[~there], with_values])
    return np.unique(space.round(points), axis=0)


def _coordinates(scale: Scale) -> Array:
    """Return the coordinates of all values of an axis; none where it is continuous, or has more than can be listed."""
    if isinstance(scale, LogBins):
        count, first = scale.high - scale.low + 1, scale.low
    elif isinstance(scale, Bins | Grid):
        count, first = scale.count, 0
        scale = Bins(count)
    else:
        return np.empty(0)
    return np.empty(0) if count > MOST_LISTED else scale.encode(np.arange(first, first + count, dtype=np.float64))


def feasible_points(space: Space, count: int, rng: np.random.Generator) -> Array:
    """Return rounded points of the cube, (count, D), uniform among those that may be evaluated.

    Where ten thousand points in a row are not feasible and all settings can be listed, uniform among those of the list
    that are.
    """
    found: list[Array] = []
    in_vain = 0
    while len(found) < count:
        points = space.round(rng.random((_BATCH, space.dimension)))
        passed = list(points[space.allowed(points)])
        found += passed
        in_vain = 0 if passed else in_vain + 1
        listed = listed_settings(space) if in_vain == _UNTIL_LISTED else None
        if listed is not None:
            allowed = listed[space.allowed(listed)]
            if not len(allowed):
                raise _nothing_feasible(f"all {len(listed):,} settings of the space")
            found += list(allowed[rng.integers(len(allowed), size=count - len(found))])
        elif in_vain == _BATCHES:
            raise _nothing_feasible(f"{_BATCH * _BATCHES:,} uniform ones")
    return np.array(found[:count]).reshape(count, space.dimension)


def _nothing_feasible(among: str) -> NotAvailable:
    return NotAvailable(
        f"space: expected a feasible setting among {among}, got none; narrow the bounds to where feasible() can be true"
    )
