"""A test problem as data: a function on the unit cube to maximise, and what is known about its maximum.

References
----------
[BB20]  Balandat, Karrer, Jiang, Daulton, Letham, Wilson and Bakshy (2020). BoTorch: a framework for efficient
        Monte-Carlo Bayesian optimization. NeurIPS 33. Its test problems carry their optima in the same way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number, as_points, as_vector
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.problems import RKHSFunction
from quadrat.randomness import generator

__all__ = ["Problem", "from_rkhs"]

# The stream of the shifts, and the range from which the new place of the optimum is drawn. Recorded results depend
# on these three numbers.
_SHIFT_STREAM = 31
_SHIFT_LOW, _SHIFT_HIGH = 0.15, 0.85


def _none_known() -> Array:
    return np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Problem:
    """A function on [0, 1]^D to be maximised, with its known maximisers [BB20].

    Calling a problem with a matrix of points of shape (n, D) gives a vector of n values; with one point of shape
    (D,), a float. `values` always gives a vector. Two problems are equal only if they are the same object; arrays
    are copied and made read-only.

    Parameters
    ----------
    name
        Short and unique.
    dimension
        The number D of coordinates.
    function
        The objective without noise: (n, D) -> (n,). A module-level function or a frozen dataclass, not a lambda,
        where the problem is to be sent to other processes.
    optimizers
        All known maximisers on the cube, shape (k, D); k = 0 where none is known.
    optimal_value
        The maximum on the cube; None where it is not known.
    description, reference
        A line for tables, and where the function comes from.
    domain
        The box that the cube stands for in the literature, shape (D, 2), rows (low, high). The unit cube unless
        given.
    location, scale
        `function` is (value in the units of the literature - location) / scale; see `in_original_units`.
    anchor
        The maximiser that `shifted` moves, shape (D,). To be given only where the maximum on the cube is the
        maximum on all of R^D; None refuses to shift.
    beyond
        Further maximisers on R^D, outside the cube, that a shift can bring in; shape (j, D).

    Raises
    ------
    InvalidInput
        A field has the wrong shape or value, or an optimizer lies outside the cube.

    Examples
    --------
    >>> import problems
    >>> branin = problems.get("branin")
    >>> branin.dimension, branin.optimizers.shape, round(branin.optimal_value, 6)
    (2, (3, 2), -0.397887)
    >>> branin([[0.5, 0.5], [0.1, 0.9]]).shape
    (2,)
    >>> round(branin([0.5, 0.5]), 3)
    -24.13
    """

    name: str
    dimension: int
    function: Callable[[Array], Array] = field(repr=False)
    optimizers: Array = field(default_factory=_none_known, repr=False)
    optimal_value: float | None = None
    description: str = ""
    reference: str = field(default="", repr=False)
    domain: Array = field(default_factory=_none_known, repr=False)
    location: float = field(default=0.0, repr=False)
    scale: float = field(default=1.0, repr=False)
    anchor: Array | None = field(default=None, repr=False)
    beyond: Array = field(default_factory=_none_known, repr=False)

    def __post_init__(self) -> None:
        try:
            dimension = operator.index(self.dimension)
        except TypeError:
            dimension = 0
        if dimension < 1:
            raise InvalidInput(f"dimension: expected an integer >= 1, got {self.dimension!r}")
        optimizers = self._points(self.optimizers, "optimizers")
        if not ((optimizers >= 0) & (optimizers <= 1)).all():
            raise InvalidInput(
                "optimizers: expected points of the unit cube, got one outside; those outside go into `beyond`"
            )
        domain = np.tile([0.0, 1.0], (dimension, 1))
        if np.size(self.domain):
            domain = as_points(self.domain, name="domain")
        if domain.shape != (dimension, 2) or not (domain[:, 0] < domain[:, 1]).all():
            raise InvalidInput(
                f"domain: expected {dimension} rows (low, high) with low < high, got shape {domain.shape}"
            )
        if self.optimal_value is not None:
            object.__setattr__(self, "optimal_value", as_number(self.optimal_value, name="optimal_value"))
        object.__setattr__(self, "dimension", dimension)
        object.__setattr__(self, "optimizers", _frozen(optimizers))
        object.__setattr__(self, "domain", _frozen(domain))
        object.__setattr__(self, "beyond", _frozen(self._points(self.beyond, "beyond")))
        object.__setattr__(self, "location", as_number(self.location, name="location"))
        object.__setattr__(self, "scale", as_number(self.scale, name="scale", above=0.0))
        if self.anchor is not None:
            object.__setattr__(self, "anchor", _frozen(as_vector(self.anchor, length=dimension, name="anchor")))

    def __call__(self, points: ArrayLike) -> Array | float:
        """Values without noise: a vector of n for points of shape (n, D), a float for one point of shape (D,)."""
        values = self.values(points)
        return float(values[0]) if np.ndim(points) == 1 and values.size == 1 else values

    def values(self, points: ArrayLike) -> Array:
        """Values without noise at `points` of shape (n, D), as a vector of n; one point (D,) gives a vector of one.

        Points outside the cube are not refused: the function itself says where it is defined.

        Raises
        ------
        InvalidInput
            Points of the wrong shape or not finite, or a `function` that does not give one value for each point.
        """
        matrix = as_points(points, dimension=self.dimension)
        values = np.asarray(self.function(matrix), dtype=np.float64)
        if values.shape != (matrix.shape[0],):
            raise InvalidInput(
                f"{self.name}: expected a function that gives shape ({matrix.shape[0]},) for points of shape "
                f"{matrix.shape}, got {values.shape}"
            )
        return values

    def in_original_units(self, values: ArrayLike) -> Array:
        """Values in the units of the literature, with the sign of maximisation: location + scale * values."""
        return self.location + self.scale * np.asarray(values, dtype=np.float64)

    def shifted(self, seed: int) -> Problem:
        """Return the same problem with its optimum moved to a place drawn uniformly from [0.15, 0.85]^D.

        An optimiser that prefers the centre of the cube, or any other fixed place, gains nothing here. The new
        function is x -> function(x - z) with z = (place drawn) - anchor, so that near the faces it shows values
        from outside the original box. The optimal value stays because the functions that can be shifted (those
        with an `anchor`) have their maximum over all of R^D at the anchor, and the anchor stays in the cube; other
        maximisers may leave the cube, and those of `beyond` may enter.

        Parameters
        ----------
        seed
            Non-negative integer; the place depends on it and on D only.

        Raises
        ------
        NotAvailable
            The maximum is not known to be global on R^D, or the problem is shifted already.

        Examples
        --------
        >>> import problems
        >>> moved = problems.get("levy8").shifted(3)
        >>> moved.name, moved.optimizers.round(2)[0, :3]
        ('levy8~3', array([0.4 , 0.66, 0.5 ]))
        """
        if self.anchor is None:
            raise NotAvailable(
                f"{self.name}: a shift needs a problem with an anchor, a maximiser over all of R^D; "
                "shift the original problem if this one is shifted already"
            )
        generator(seed)  # refuses what is not a seed
        # Spelt out: recorded rows of other tools on shifted problems were made with exactly this stream.
        place = np.random.default_rng([seed, _SHIFT_STREAM]).uniform(_SHIFT_LOW, _SHIFT_HIGH, self.dimension)
        shift = place - self.anchor
        moved = np.concatenate([self.optimizers, self.beyond]) + shift
        inside = ((moved >= 0) & (moved <= 1)).all(axis=1)
        widths = self.domain[:, 1] - self.domain[:, 0]
        return replace(
            self,
            name=f"{self.name}~{operator.index(seed)}",
            function=_Shifted(self.function, shift),
            optimizers=moved[inside],
            domain=self.domain - (shift * widths)[:, None],
            anchor=None,
            beyond=moved[~inside],
        )

    def _points(self, points: Array, name: str) -> Array:
        if np.size(points) == 0:
            return np.empty((0, self.dimension))
        return as_points(points, dimension=self.dimension, name=name)


def from_rkhs(function: RKHSFunction, name: str = "rkhs", *, optimum: tuple[Array, float] | None = None) -> Problem:
    """Return a function of known norm as a problem on the unit cube.

    Parameters
    ----------
    function
        Such as `quadrat.problems.draw_rkhs_function` draws.
    name
        The name of the problem.
    optimum
        A maximiser and its value, such as `RKHSFunction.maximum` finds. Without it the problem does not claim to know
        its optimal value, and regrets need one stated.
    """
    point, value = (np.empty((0, function.dimension)), None) if optimum is None else optimum
    return Problem(
        name=name,
        dimension=function.dimension,
        function=function.values,
        optimizers=np.reshape(point, (-1, function.dimension)),
        optimal_value=value,
        description=f"sum of {function.weights.size} kernels with RKHS norm {function.norm:.6g}",
        reference="Berlinet and Thomas-Agnan 2004, section 1.3",
    )


@dataclass(frozen=True, eq=False)
class _Shifted:
    """x -> function(x - shift)."""

    function: Callable[[Array], Array]
    shift: Array

    def __call__(self, points: Array) -> Array:
        return self.function(points - self.shift)


def _frozen(array: Array) -> Array:
    copy = array.copy()
    copy.setflags(write=False)
    return copy
