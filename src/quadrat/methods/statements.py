"""What a model states of a recommended point: a distribution of f there, and one of what is still to gain.

Both are as sure as the model is: they hold as often as they say where the model is right, and nothing certifies that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from quadrat._core.arrays import Array, Bools, as_number
from quadrat.errors import InvalidInput
from quadrat.gp.ensemble import EnsemblePrediction

__all__ = ["CREDIBLE_LEVEL", "Affine", "Gain", "Mixture", "Transform"]

CREDIBLE_LEVEL = 0.9
"""The level of a credible interval, and of the upper value of a gain, where no other is asked for."""

_MOSTLY = 0.5  # the share of the highest draws above which an upper gain rests on regions that nobody has visited


class Transform(Protocol):
    """A strictly increasing map from values as told to model units, and back."""

    def apply(self, values: Array) -> Array:
        """Return told values in model units."""

    def undo(self, seen: Array) -> Array:
        """Return model units as told values."""


@dataclass(frozen=True)
class Affine:
    """Told values are `shift` + `scale` times model units; `scale` > 0.

    Examples
    --------
    >>> Affine(1.0, 2.0).undo(np.array([0.5])).tolist(), Affine(1.0, 2.0).apply(np.array([2.0])).tolist()
    ([2.0], [0.5])
    """

    shift: float
    scale: float

    def apply(self, values: Array) -> Array:
        """Return told values in model units."""
        return (values - self.shift) / self.scale

    def undo(self, seen: Array) -> Array:
        """Return model units as told values."""
        return self.shift + self.scale * seen


@dataclass(frozen=True, eq=False)
class Mixture:
    """What is believed of f at one point: one of M normal distributions, each as likely as the others.

    Quantiles pass through a monotone transform and means do not: so the point estimate, `value`, is the median.

    Parameters
    ----------
    means, deviations
        Of the normals, in model units, each shape (M,), M >= 1; deviations are >= 0.
    transform
        Between model units and the values as told; None where they are the same.
    negated
        Whether the statements are about -f: see `turned`.

    Raises
    ------
    InvalidInput
        Shapes that do not fit, or deviations that are negative or not numbers.

    Examples
    --------
    >>> belief = Mixture(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    >>> belief.value, belief.chance_at_most(0.5)
    (0.5, 0.5)
    >>> [round(end, 2) for end in belief.interval(0.9)]
    [-1.34, 2.34]
    >>> [round(end, 2) for end in belief.turned().interval(0.9)]
    [-2.34, 1.34]
    """

    means: Array
    deviations: Array
    transform: Transform | None = None
    negated: bool = False

    def __post_init__(self) -> None:
        means, deviations = (np.array(part, dtype=np.float64) for part in (self.means, self.deviations))
        if means.ndim != 1 or not len(means) or means.shape != deviations.shape or not (deviations >= 0).all():
            raise InvalidInput(
                "Mixture: expected means and deviations >= 0, each of shape (M,) with M >= 1, got shapes"
                f" {means.shape} and {deviations.shape}, deviations {self.deviations!r:.80}"
            )
        _keep(self, means=means, deviations=deviations)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mixture) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.means.tobytes(), self.deviations.tobytes(), self.transform, self.negated

    def __repr__(self) -> str:
        low, high = self.interval(CREDIBLE_LEVEL)
        return f"<Mixture of {len(self.means)}: median {self.value:.6g}, 90 % from {low:.6g} to {high:.6g}>"

    @property
    def value(self) -> float:
        """The median."""
        return 0.0 - self._below(0.5) if self.negated else self._below(0.5)

    def quantile(self, level: float) -> float:
        """Return the value below which f lies with a chance of `level`, in (0, 1)."""
        level = _level(level)
        return 0.0 - self._above(level) if self.negated else self._below(level)

    def interval(self, level: float = CREDIBLE_LEVEL) -> tuple[float, float]:
        """Return the central interval that holds f with a chance of `level`, in (0, 1): as much lies on either side."""
        upper = (1 + _level(level)) / 2
        low, high = self._above(upper), self._below(upper)
        return (0.0 - high, 0.0 - low) if self.negated else (low, high)

    def chance_at_most(self, x: float) -> float:
        """Return the chance that f is at most x."""
        from scipy.special import ndtr

        at = np.array(-x if self.negated else x, dtype=np.float64)
        seen = at if self.transform is None else self.transform.apply(at)
        with np.errstate(over="ignore"):
            below = float(np.mean(ndtr((seen - self.means) / self._positive)))
        return 1 - below if self.negated else below

    def turned(self) -> Mixture:
        """Return the same statements about -f, for a user who minimises."""
        return replace(self, negated=not self.negated)

    @property
    def _positive(self) -> Array:
        """The deviations; the smallest number in place of 0."""
        return np.maximum(self.deviations, np.finfo(np.float64).tiny)

    def _below(self, level: float) -> float:
        if self.is_certain:
            return self._undone(float(self.means[0]))
        return self._undone(_quantile(self.means, self._positive, level))

    def _above(self, level: float) -> float:
        if self.is_certain:
            return self._undone(float(self.means[0]))
        # That of the mirrored mixture: so the two ends of one normal lie exactly as far from its mean.
        return self._undone(-_quantile(-self.means, self._positive, level))

    @property
    def is_certain(self) -> bool:
        """Whether all of the chance lies on one value."""
        return not self.deviations.any() and bool((self.means == self.means[0]).all())

    def _undone(self, seen: float) -> float:
        return float(seen if self.transform is None else self.transform.undo(np.array(seen)))


def _quantile(means: Array, deviations: Array, level: float) -> float:
    """Return the quantile of equally likely normals, (M,)."""
    with np.errstate(over="ignore"):
        return float(EnsemblePrediction(means[:, None], deviations[:, None]).quantiles([level])[0, 0])


@dataclass(frozen=True, eq=False)
class Gain:
    """What is believed of max f - f(x), how much better than a point x anything could be: equally likely draws of it.

    Draws are taken at finitely many points. So they say what the model believes, from below.

    Parameters
    ----------
    draws
        Draws, >= 0, shape (count,), count >= 1, in units of `scale`.
    unvisited
        The share, in [0, 1], of the highest tenth of the draws whose maximum lies where nobody has evaluated: there
        the draws say what the model assumes, and not what was seen.
    scale
        One unit of the draws in units of the values told, > 0.

    Raises
    ------
    InvalidInput
        No draws, a negative one, or a share that is none.

    Examples
    --------
    >>> gain = Gain(np.array([0.0, 0.0, 1.0, 3.0]))
    >>> gain.mean, gain.quantile(0.5), round(gain.upper, 2), gain.chance_at_most(1.0)
    (1.0, 0.5, 2.4, 0.75)
    >>> drawn = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0]])  # f at two points, three times; x is the first
    >>> Gain.of(drawn, unvisited=np.array([False, True])).rests_on_unvisited
    True
    """

    draws: Array
    unvisited: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        draws = np.array(self.draws, dtype=np.float64)
        if draws.ndim != 1 or not len(draws) or not (draws >= 0).all():
            raise InvalidInput(f"Gain: expected draws >= 0 of shape (count,), count >= 1, got {self.draws!r:.80}")
        _keep(
            self,
            draws=draws,
            unvisited=as_number(self.unvisited, name="unvisited", at_least=0.0, at_most=1.0),
            scale=as_number(self.scale, name="scale", above=0.0),
        )

    @classmethod
    def of(cls, drawn: Array, unvisited: Bools, scale: float = 1.0) -> Gain:
        """Return the gain over the first point, from joint draws of f.

        Parameters
        ----------
        drawn
            Draws of f at m points, the first of them x, shape (m, count).
        unvisited
            Which of the points lie where nobody has evaluated, shape (m,).
        scale
            One unit of f in units of the values told.
        """
        at = drawn.argmax(axis=0)
        draws = np.asarray(drawn.max(axis=0) - drawn[0])
        highest = np.argsort(-draws, kind="stable")[: -(-len(draws) // 10)]
        return cls(draws, float(np.mean(unvisited[at[highest]])), scale)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gain) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.draws.tobytes(), self.unvisited, self.scale

    def __repr__(self) -> str:
        return f"<Gain: {self.mean:.6g} on average, at most {self.upper:.6g} with 90 %, {len(self.draws)} draws>"

    @property
    def mean(self) -> float:
        """The expected gain."""
        return self.scale * float(np.mean(self.draws))

    @property
    def upper(self) -> float:
        """The 90 % quantile, or the mean where that is higher: of draws that are 0 but for a few, the quantile is 0.

        So no more than this is left with 90 % or more.
        """
        return max(self.quantile(CREDIBLE_LEVEL), self.mean)

    def quantile(self, level: float) -> float:
        """Return what the gain is at most with a chance of `level`, in (0, 1)."""
        return self.scale * float(np.quantile(self.draws, _level(level)))

    def chance_at_most(self, x: float) -> float:
        """Return the chance that no more than x is to be gained."""
        return float(np.mean(self.scale * self.draws <= x))

    @property
    def rests_on_unvisited(self) -> bool:
        """Whether the upper value rests on regions that nobody has visited: more than half of the highest draws do."""
        return self.unvisited > _MOSTLY


def _keep(instance: object, **values: object) -> None:
    """Set the fields of a frozen instance; arrays can no longer be written to."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(instance, name, value)


def _level(level: float) -> float:
    found = as_number(level, name="level", above=0.0, at_most=1.0)
    if found == 1.0:
        raise InvalidInput("level: expected a chance between 0 and 1, got 1: nothing is that sure")
    return found
