"""From what an engineer knows to assumptions: kernel, length-scales and norm bound from plausible changes and values.

The objective is pictured about the middle of its plausible values, at most r away from it, half of their range. A hill
of that height is r kappa(|x - c| / theta). Where it is steepest, it changes by so much within a distance d; the
length-scale of a parameter is the one for which that is the largest plausible change over the distance that was named.
A shorter one would allow more than is plausible, a longer one would exclude it.

A hill has norm r. Hills far apart hardly overlap, and their norms add like lengths at right angles: r sqrt(hills). The
most there is room for is a function at the full height all over the box, whose norm is close to r sqrt(hills) too, with
hills the product over the axes of 1 + 1/(I theta), theta as a share of the range and I the integral of kappa over the
line. That is where the norm bound comes from, times a margin.

Kinks, clipped values, infinite slopes and jumps are in no ball of Matérn 5/2 or a smoother kernel, whatever its radius.
This is a rule to choose by and no theorem: no norm follows from changes and values. Functions that have
nothing to do with the kernel are tried in experiments/chosen_assumptions.py. `quadrat.problems.prior_check` shows
functions of the chosen norm, for people to see whether they believe in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat._core.printing import labelled
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.kernels.stationary import Stationary
from quadrat.optimizer.run_assumptions import RunAssumptions, two_numbers
from quadrat.space import Float, Space

__all__ = ["AssumptionChoice", "assumptions_from"]

_MOST_OF_A_HILL = 0.9  # of its height: over a longer distance the change says nothing about how steep it is
_LONGEST = 3.0  # of the range of a parameter: an objective may hardly change with it, but is not assumed not to
_GRID = 4001
_MARGIN = 1.25  # of the norm at full height all over the box: the plane needs 1.2


@dataclass(frozen=True, repr=False)
class AssumptionChoice:
    """Assumptions and the reasoning that led to them; printed, it is the reasoning.

    Attributes
    ----------
    assumptions
        For `certify`.
    reasons
        A sentence for each number.
    distances
        The distance that was named for each parameter, in its units.

    Examples
    --------
    >>> space = Space(temperature=Float(20, 90))
    >>> choice = assumptions_from(space, changes={"temperature": (5, 0.1)}, values=(0.0, 1.0), noise=0.02)
    >>> round(choice.assumptions.norm_bound, 2), choice.assumptions.offset
    (1.06, 0.5)
    """

    assumptions: RunAssumptions
    reasons: tuple[tuple[str, str], ...]
    distances: dict[str, float]

    def __repr__(self) -> str:
        return labelled("Assumptions from what is plausible", list(self.reasons))


def assumptions_from(
    space: Space,
    *,
    changes: Mapping[str, tuple[float, float]],
    values: tuple[float, float],
    noise: float | None = None,
    values_within: tuple[float, float] | None = None,
    hills: float | None = None,
    kernel: Stationary | None = None,
    delta: float = 0.05,
) -> AssumptionChoice:
    """Return kernel, length-scales, norm bound and offset from what is plausible of an objective, with the reasoning.

    Use it before the results: what is plausible must not be read off them. It is a rule for objectives as smooth as the
    kernel's functions: those of Matérn 5/2 have two bounded derivatives. A kink (|x|), values that are clipped, an
    infinite slope (sqrt(x) at 0) and a jump are in no such ball, whatever its norm bound, and nothing is certified of
    them. The norm of smooth functions close to them can be many times the one that is found here.

    Parameters
    ----------
    space
        Of Floats without steps.
    changes
        For each parameter by name (distance, change): over that distance, in the units of the parameter, the objective
        plausibly changes by at most so much. The distance of a log parameter is a factor above 1. Name a distance over
        which it changes by less than half of the range of the values.
    values
        (lowest, highest) value of the objective that is plausible, noise not counted.
    noise, values_within, delta
        As of `RunAssumptions`.
    hills
        Room for so many separate hills and valleys of full height, >= 1, instead of for full height everywhere.
    kernel
        One without length-scales of its own; Matérn 5/2 by default: functions with two derivatives.

    Returns
    -------
    AssumptionChoice
        The assumptions, and why.

    Raises
    ------
    InvalidInput
        Changes that are not those of all parameters, or as large as half of the range of the values.
    NotAvailable
        Parameters that are no Floats without steps.

    Examples
    --------
    >>> space = Space(temperature=Float(20, 90))
    >>> print(assumptions_from(space, changes={"temperature": (5, 0.1)}, values=(0.0, 1.0), noise=0.02))
    Assumptions from what is plausible
      offset       0.5, the middle of the plausible values 0 to 1
      temperature  length-scale 15.47: the steepest part of a hill of full height changes by 0.1 within 5
      norm bound   1.064: room for height 0.5 all over the box, which is that of 2.9 hills, with a margin of 25 %
      noise        0.02, as stated
      kernel       Matern, functions with two derivatives
      not for      objectives with kinks, clipped values, infinite slopes or jumps: no norm bound holds
    """
    low, high = two_numbers(values, name="values", largest=1e99)
    _check_within(low, high, values_within)
    if hills is not None:
        hills = as_number(hills, name="hills", at_least=1.0, at_most=1e6)
    form = Matern(2.5) if kernel is None else kernel
    if not isinstance(form, Stationary) or form.lengthscales != 1.0 or form.amplitude != 1.0:
        raise InvalidInput(f"kernel: expected one without length-scales, such as Matern(2.5), got {form!r:.120}")
    if not isinstance(changes, Mapping) or set(changes) != set(space.axes):
        named = ", ".join(map(str, changes)) if isinstance(changes, Mapping) else repr(changes)
        raise InvalidInput(
            f"changes: expected (distance, change) for each of {', '.join(space.axes)}, got {named:.120}"
        )
    height = (high - low) / 2
    reasons = [("offset", f"{low + height:g}, the middle of the plausible values {low:g} to {high:g}")]
    lengthscales: dict[str, float] = {}
    distances: dict[str, float] = {}
    for name in space.axes:
        distance, change = _pair(name, changes[name], height)
        lengthscale, said = _lengthscale(form, name, space[name], distance, change / height)
        lengthscales[name], distances[name] = lengthscale, distance
        reasons.append((name, said.format(change=f"{change:g}")))
    norm_bound, why = _norm_bound(form, space, lengthscales, height, hills)
    reasons.append(("norm bound", f"{norm_bound:.4g}: {why}"))
    assumptions = RunAssumptions(
        kernel=form,
        lengthscales=lengthscales,
        norm_bound=norm_bound,
        offset=low + height,
        noise=noise,
        values_within=values_within,
        delta=delta,
    )
    because = "as stated" if values_within is None else "half of the distance between the limits of every value"
    reasons.append(("noise", f"{assumptions.sigma:g}, {because}"))
    reasons.append(("kernel", f"{type(form).__name__}, {_smoothness(form)}"))
    kinks = ", or with kinks or clipped values in two parameters or more" if form.max_degree == 0 else ""
    worse = "infinite slopes or jumps" if kinks else "kinks, clipped values, infinite slopes or jumps"
    reasons.append(("not for", f"objectives with {worse}{kinks}: no norm bound holds"))
    return AssumptionChoice(assumptions, tuple(reasons), distances)


def _check_within(low: float, high: float, values_within: Any) -> None:
    """Refuse plausible values of the objective beyond the limits of every value: the objective lies within them too."""
    if values_within is None:
        return
    least, most = two_numbers(values_within)
    if low < least or high > most:
        raise InvalidInput(
            f"values: expected plausible values within values_within, ({least:g}, {most:g}), because the objective is"
            f" the mean of its values, got ({low:g}, {high:g}); correct one of the two"
        )


def _pair(name: str, given: Any, height: float) -> tuple[float, float]:
    """Return the distance and the change of a parameter, checked."""
    try:
        first, second = list(given)
    except (TypeError, ValueError):
        raise InvalidInput(f"changes: expected (distance, change) for {name!r}, got {given!r:.80}") from None
    distance = as_number(first, name=f"changes: the distance of {name!r:.60}", above=0.0)
    change = as_number(second, name=f"changes: the change of {name!r:.60}", above=0.0)
    if change > _MOST_OF_A_HILL * height:
        raise InvalidInput(
            f"changes: expected a change of {name!r} below {_MOST_OF_A_HILL * height:g}, {100 * _MOST_OF_A_HILL:g} % of"
            f" half the range of the values, got {change:g}; name a shorter distance, over which it changes by less"
        )
    return distance, change


def _lengthscale(form: Stationary, name: str, parameter: object, distance: float, share: float) -> tuple[float, str]:
    """Return the length-scale of a parameter in its units, and why; `share` is the change as a share of a hill."""
    if not isinstance(parameter, Float) or parameter.is_single or parameter.step is not None:
        raise NotAvailable(
            f"changes: expected parameters that are Floats without steps, got {name!r}, which is {parameter!r:.80}"
        )
    if parameter.log and distance <= 1:
        raise InvalidInput(
            f"changes: expected a factor above 1 as the distance of the log parameter {name!r}, got {distance:g}"
        )
    width = log(parameter.high / parameter.low) if parameter.log else parameter.high - parameter.low
    reach = log(distance) if parameter.log else distance
    found = reach / _scaled_distance(form, share)
    unit = "a factor of " if parameter.log else ""
    why = f"the steepest part of a hill of full height changes by {{change}} within {unit}{distance:g}"
    if found > _LONGEST * width:
        found = _LONGEST * width
        why = f"{_LONGEST:g} times the range; longer would assume that {name} hardly matters"
    shown = float(np.exp(found)) if parameter.log else found
    return shown, f"length-scale {unit}{shown:.4g}: {why}"


def _norm_bound(
    form: Stationary, space: Space, lengthscales: Mapping[str, float], height: float, hills: float | None
) -> tuple[float, str]:
    """Return the norm bound, and why."""
    if hills is not None:
        return height * sqrt(hills), f"room for {hills:g} hills and valleys of height {height:g}"
    h = np.linspace(0.0, 40.0, _GRID)
    integral = 2 * float(np.trapezoid(form.profile(h), h))
    shares = np.atleast_1d(_shares(space, lengthscales))
    everywhere = float(np.prod(1 + 1 / (integral * shares)))
    why = (
        f"room for height {height:g} all over the box, which is that of {everywhere:.3g} hills, with a margin of"
        f" {100 * (_MARGIN - 1):.0f} %"
    )
    return _MARGIN * height * sqrt(everywhere), why


def _shares(space: Space, lengthscales: Mapping[str, float]) -> Array:
    """Return length-scales as shares of the ranges."""
    stated = RunAssumptions(kernel=Matern(2.5), lengthscales=lengthscales, norm_bound=1.0, offset=0.0, noise=1.0)
    return np.asarray(stated.on(space).kernel.lengthscales, dtype=np.float64)  # type: ignore[attr-defined]


def _scaled_distance(form: Stationary, share: float) -> float:
    """Return the scaled distance within which a hill of height 1 changes by `share` where it is steepest."""
    h = np.linspace(0.0, 12.0, _GRID)

    def change(u: float) -> float:
        return float((form.profile(h) - form.profile(h + u)).max())

    low, high = 0.0, 1.0
    while change(high) < share:
        high *= 2
        if high > 1e6:
            raise NotAvailable(f"kernel: expected one whose hills end, got {form!r:.80}")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if change(middle) < share else (low, middle)
    return high


def _smoothness(form: Stationary) -> str:
    """Return how often functions of the kernel can be differentiated, in words."""
    degree = form.max_degree
    if degree is None:
        return "smooth functions: every derivative exists"
    return {0: "rough functions", 1: "functions with a derivative", 2: "functions with two derivatives"}.get(
        degree, f"functions with {degree} derivatives"
    )
