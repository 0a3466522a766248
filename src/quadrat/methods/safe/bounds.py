"""Which points may be evaluated: bounds of everything that has a limit, and the test that a point must pass.

Each guarded function g, the objective or the negative of a measured constraint, has a band of its own, which holds for
all points and times at once with probability 1 - delta/(m + 1). A point x may be evaluated when for each of them

    lower(x) >= h,   or   lower(x') - omega(x - x') >= h   for some x' [S15, equation 2, with omega for their L d].

SafeBounds hold at all times at once, so the best ones of all times are kept: what was safe once stays safe.
The bounds are of the function on the cube at a float, and what runs is the setting that this float stands for, whose
exact place may differ in the last bits. So lower(x) must clear h by what f can vary by within a few of these, too.

[S15]: Sui, Gotovos, Burdick and Krause (2015). Safe exploration for optimization with Gaussian processes. ICML.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array, Bools, Growing, Ints
from quadrat._core.printing import at_least, at_most
from quadrat.confidence import AdaptiveBand, Assumptions
from quadrat.confidence.bands import contradiction

__all__ = ["Guard", "SafeBounds", "float_slack"]

_LAST_BITS = 2.0**-48  # of the cube's side: more than what a coordinate loses on its way to a setting and back
_ROUNDING = 1e-9  # of B s: what the bounds themselves may lose
_SAME = 1e-9  # of B s, by which a stated setting may seem to miss its limit


def float_slack(given: Assumptions, dimension: int) -> float:
    """Return by how much a lower bound must clear a limit, so that rounding cannot make what is unsafe pass.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> smooth, rough = (Assumptions(Matern(nu, 0.1), norm_bound=1.0, noise=0.1) for nu in (2.5, 0.5))
    >>> float_slack(smooth, 1) < 2e-9, 1e-7 < float_slack(rough, 1) < 1e-6
    (True, True)
    """
    return _ROUNDING * given.ceiling + float(given.variation(np.full(dimension, _LAST_BITS)))


@dataclass(frozen=True)
class Guard:
    """One function that is watched, larger values better: what is assumed of it, its limit from below, and its name.

    Attributes
    ----------
    name
        What sentences call it.
    given
        Kernel, norm bound and noise.
    limit
        The function must not be evaluated below it; None for an objective without a limit.
    turned
        Whether the name is that of its negative: of an objective to minimise, of a constraint.
    """

    name: str
    given: Assumptions
    limit: float | None
    turned: bool = False

    def broken(self, high: float) -> str:
        """Return in words, in the units of what is named, that the function is at most `high`, and its limit.

        Examples
        --------
        >>> from quadrat.kernels import Matern
        >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.1)
        >>> Guard("the load", given, 0.0, turned=True).broken(-0.25)
        'the load is at least 0.25 there, and its limit is 0'
        """
        assert self.limit is not None
        if self.turned:
            return f"{self.name} is at least {at_least(0.0 - high, 4)} there, and its limit is {0.0 - self.limit:.4g}"
        return f"{self.name} is at most {at_most(high + 0.0, 4)} there, and its limit is {self.limit + 0.0:.4g}"


class SafeBounds:
    """SafeBounds of all functions at all points that were ever looked at.

    Parameters
    ----------
    guards
        The objective first, then the constraints.
    dimension
        D.
    delta
        Probability with which any bound of any function at any time may fail; each function has an equal share.
    stated
        Points that are stated to be safe, shape (k, D), k >= 1: the first k points.
    """

    def __init__(self, guards: tuple[Guard, ...], dimension: int, *, delta: float, stated: Array) -> None:
        self.guards = guards
        self.dimension = dimension
        self.delta = delta
        self.stated = len(stated)
        self.bands = tuple(AdaptiveBand(guard.given, delta / len(guards)) for guard in guards)
        self.count = 0  # observations
        self.slack = [float_slack(guard.given, dimension) for guard in guards]
        self._rejection: str | None = None
        self._row_of: dict[bytes, int] = {}
        self._points = Growing(np.float64, (dimension,))
        self._low = Growing(np.float64, (len(guards),))
        self._high = Growing(np.float64, (len(guards),))
        self._measured: list[int] = []  # rows of measured points
        self._is_measured: set[int] = set()
        self.look_at(stated)
        for index, guard in enumerate(guards):
            if guard.limit is not None:
                self._low.values[: len(stated), index] = np.maximum(self._low.view[:, index], guard.limit)

    # --- points

    @property
    def points(self) -> Array:
        """All points looked at, shape (p, D): the stated ones first, and each once."""
        return self._points.view

    @property
    def low(self) -> Array:
        """Lower bounds of each function at each point, shape (p, m + 1); of the stated ones at least the limits."""
        return self._low.view

    @property
    def high(self) -> Array:
        """Upper bounds of each function at each point, shape (p, m + 1)."""
        return self._high.view

    def look_at(self, points: Array) -> None:
        """Take in points (k, D), bounded so far by B s alone; those that are known stay as they are."""
        ceilings = np.array([guard.given.ceiling for guard in self.guards])
        for point in points:
            key = point.tobytes()
            if key not in self._row_of:
                self._row_of[key] = len(self._points)
                self._points.append(point)
                self._low.append(-ceilings)
                self._high.append(ceilings)

    def row(self, point: Array) -> int | None:
        """Return the row of a point (D,); None where nobody looked at it."""
        return self._row_of.get(point.tobytes())

    @property
    def measured(self) -> Ints:
        """Rows of the measured points, in the order in which they were first measured."""
        return np.array(self._measured, dtype=np.intp)

    # --- data

    def add(self, x: Array, values: list[Array]) -> bool:
        """Take in what each function was measured to be at x (D,); return whether x is new."""
        for band, measured in zip(self.bands, values, strict=True):
            band.add(np.repeat(x[None], len(measured), axis=0), measured)
        self.count += 1
        self.look_at(x[None])
        row = self._row_of[x.tobytes()]
        if row in self._is_measured:
            return False
        self._measured.append(row)
        self._is_measured.add(row)
        return True

    def refresh(self) -> None:
        """Bring the bounds at all points up to the data."""
        if self.count:
            self.sharpen(np.arange(len(self._points)))

    def sharpen(self, rows: Ints) -> None:
        """Bring the bounds at some points up to the data; what they were is kept where it is sharper."""
        points = self._points.view[rows]
        measured = self.measured
        for index, (guard, band) in enumerate(zip(self.guards, self.bands, strict=True)):
            at = band.interval(points)
            low, high = at.lower, at.upper
            if guard.given.holder is not None and len(measured):
                # Without a user's own Hölder bound the band nearly always knows what omega does, and more: to go
                # without the second test leaves out what might pass, which is safe.
                way = guard.given.variation(points[:, None, :] - self._points.view[measured][None])
                there = band.interval(self._points.view[measured])
                known = np.maximum(there.lower, self._low.view[measured, index])
                low = np.maximum(low, (known - way).max(axis=1))
                known = np.minimum(there.upper, self._high.view[measured, index])
                high = np.minimum(high, (known + way).min(axis=1))
            low, high = np.maximum(low, self._low.view[rows, index]), np.minimum(high, self._high.view[rows, index])
            self._low.values[rows, index], self._high.values[rows, index] = low, high
            self._check(index, low, high, rows)

    def _check(self, index: int, low: Array, high: Array, rows: Ints) -> None:
        """Reject the assumptions where no value is left at some point; the first reason stays."""
        guard, band = self.guards[index], self.bands[index]
        empty = low > high + _SAME * guard.given.ceiling
        if self._rejection is not None:
            return
        stated = empty & (rows < self.stated)
        if band.rejection is None and stated.any() and guard.limit is not None:
            row = int(rows[np.argmax(stated)])
            if self._high.view[row, index] < guard.limit:
                self._rejection = (
                    f"assumptions rejected by the data at level {self.delta:g}: a setting that is stated to be safe is"
                    f" not, as far as kernel, norm bound and noise are right: "
                    + guard.broken(float(self._high.view[row, index]))
                )
                return
        why = contradiction(band, empty=bool(empty.any()))
        if why is not None:
            self._rejection = self._about(index, why)

    def _about(self, index: int, why: str) -> str:
        """Return a reason with the function that it is about, where there are several."""
        return why if len(self.guards) == 1 else f"{self.guards[index].name}: {why}"

    @property
    def rejection(self) -> str | None:
        """Why the data reject the assumptions, or None: what bounds have shown, else what the bands know."""
        if self._rejection is not None:
            return self._rejection
        known = [self._about(i, band.rejection) for i, band in enumerate(self.bands) if band.rejection is not None]
        return known[0] if known else None

    def broken_at(self, point: Array) -> str | None:
        """Return in words which limit is broken at a point (D,), as far as is known; None where none is known to be."""
        row = self.row(point)
        for index, guard in enumerate(self.guards):
            if row is not None and guard.limit is not None and self._high.view[row, index] < guard.limit:
                return guard.broken(float(self._high.view[row, index]))
        return None

    # --- what may be evaluated

    def safe(self, rows: Ints | None = None) -> Bools:
        """Return which points (all of them, or those of these rows) may be evaluated, shape (p,)."""
        rows = np.arange(len(self._points)) if rows is None else rows
        found = np.ones(len(rows), dtype=np.bool_)
        for index, guard in enumerate(self.guards):
            if guard.limit is not None:
                found &= self._low.view[rows, index] >= guard.limit + self.slack[index]
        return found | (rows < self.stated)

    def may_be_safe(self) -> Bools:
        """Return at which points nothing speaks against each limit, shape (p,)."""
        found = np.ones(len(self._points), dtype=np.bool_)
        for index, guard in enumerate(self.guards):
            if guard.limit is not None:
                found &= self._high.view[:, index] >= guard.limit
        return found
