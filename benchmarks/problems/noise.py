"""Noise as a wrapper around a problem that keeps the value without it.

Every law has mean zero. `sub_gaussian` is the constant R of the tail condition E exp(s e) <= exp(s^2 R^2 / 2) for
all s, which is what the confidence bounds ask for; it is None where no such constant exists.

References
----------
[S22]  Song, Perel, Lee, Kochanski and Golovin (2022). Open Source Vizier: distributed infrastructure and API for
       reliable and flexible black-box optimization. AutoML-Conf. Its noisy experimenter also reports both values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from problems.problem import Problem
from quadrat._core.arrays import Array, ArrayLike, as_number, as_points
from quadrat.errors import InvalidInput
from quadrat.randomness import generator

__all__ = ["Gaussian", "Heteroscedastic", "NoiseLaw", "NoisyProblem", "Observation", "StudentT", "Uniform"]

# Sets the noise apart from the streams that an optimiser with the same seed draws from: keyed by (seed, number)
# alone, both would see the same random numbers.
_NOISE_STREAM = 0x6E6F6973


class NoiseLaw(Protocol):
    """What a law of noise must offer.

    Examples
    --------
    >>> from quadrat.randomness import generator
    >>> law: NoiseLaw = Gaussian(0.1)
    >>> law.sub_gaussian, abs(law.draw(np.array([0.5]), generator(0))) < 0.5
    (0.1, True)
    """

    @property
    def sub_gaussian(self) -> float | None:
        """Sub-Gaussian constant, in the units of the values; None where the tails are heavier than that."""

    def draw(self, point: Array, rng: np.random.Generator) -> float:
        """Draw from `rng` the error of one evaluation at `point`, shape (D,)."""


@dataclass(frozen=True)
class Gaussian:
    """Normal errors with standard deviation `sd` >= 0; sub-Gaussian with constant `sd`.

    Parameters
    ----------
    sd
        Standard deviation, >= 0, in the units of the values.

    Examples
    --------
    >>> Gaussian(0.1).sub_gaussian
    0.1
    """

    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sd", as_number(self.sd, name="sd", at_least=0.0))

    @property
    def sub_gaussian(self) -> float:
        """The standard deviation."""
        return self.sd

    def draw(self, point: Array, rng: np.random.Generator) -> float:  # noqa: ARG002  # the law is the same everywhere
        """Draw one error from `rng`, whatever the `point`."""
        return self.sd * rng.standard_normal()


@dataclass(frozen=True)
class Uniform:
    """Errors uniform on [-half_width, half_width], half_width >= 0.

    Sub-Gaussian with constant half_width / sqrt(3), its standard deviation: sinh(t) / t = sum t^2k / (2k + 1)! is at
    most sum t^2k / (6^k k!) = exp(t^2 / 6), term by term. (Boundedness alone would give half_width.)

    Parameters
    ----------
    half_width
        In the units of the values.

    Examples
    --------
    >>> round(Uniform(0.3).sub_gaussian, 3)
    0.173
    """

    half_width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "half_width", as_number(self.half_width, name="half_width", at_least=0.0))

    @property
    def sub_gaussian(self) -> float:
        """The standard deviation, half_width / sqrt(3)."""
        return self.half_width / float(np.sqrt(3.0))

    def draw(self, point: Array, rng: np.random.Generator) -> float:  # noqa: ARG002  # the law is the same everywhere
        """Draw one error from `rng`, whatever the `point`."""
        return self.half_width * rng.uniform(-1.0, 1.0)


@dataclass(frozen=True)
class StudentT:
    """Student's t errors times `scale` >= 0, with `degrees` > 1 degrees of freedom: heavy tails.

    No exponential moment exists, so that the law is not sub-Gaussian; the variance exists for `degrees` > 2.

    Parameters
    ----------
    scale
        In the units of the values.
    degrees
        Degrees of freedom, > 1.

    Examples
    --------
    >>> StudentT.with_sd(0.1, degrees=3).sub_gaussian is None
    True
    """

    scale: float
    degrees: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", as_number(self.scale, name="scale", at_least=0.0))
        # With one degree or fewer (Cauchy) there is no mean, and the noiseless value would not be the mean of anything.
        object.__setattr__(self, "degrees", as_number(self.degrees, name="degrees", above=1.0))

    @classmethod
    def with_sd(cls, sd: float, degrees: float) -> StudentT:
        """Law with standard deviation `sd`; needs `degrees` > 2."""
        degrees = as_number(degrees, name="degrees", above=2.0)
        return cls(as_number(sd, name="sd", at_least=0.0) * float(np.sqrt((degrees - 2) / degrees)), degrees)

    @property
    def sub_gaussian(self) -> None:
        """None: the tails are too heavy."""
        return None

    def draw(self, point: Array, rng: np.random.Generator) -> float:  # noqa: ARG002  # the law is the same everywhere
        """Draw one error from `rng`, whatever the `point`."""
        return self.scale * rng.standard_t(self.degrees)


@dataclass(frozen=True)
class Heteroscedastic:
    """Normal errors whose standard deviation depends on the point.

    Parameters
    ----------
    sd
        Standard deviation at one point of shape (D,).
    largest
        Upper bound of `sd` on the cube, which is the sub-Gaussian constant; a draw where `sd` exceeds it is an error.

    Examples
    --------
    >>> from quadrat.randomness import generator
    >>> law = Heteroscedastic(lambda x: 0.1 * x[0], largest=0.1)
    >>> law.sub_gaussian, law.draw(np.array([0.0]), generator(0))
    (0.1, 0.0)
    """

    sd: Callable[[Array], float]
    largest: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "largest", as_number(self.largest, name="largest", at_least=0.0))

    @property
    def sub_gaussian(self) -> float:
        """The bound `largest`."""
        return self.largest

    def draw(self, point: Array, rng: np.random.Generator) -> float:
        """Draw one error from `rng` at `point`, shape (D,).

        Raises
        ------
        InvalidInput
            `sd` gave something that is not a number in [0, largest] here.
        """
        # `largest` is often a value of `sd` worked out by hand, which the function itself may miss by a rounding error
        allowed = self.largest * (1 + 1e-9)
        sd = as_number(self.sd(point), name="sd at the point", at_least=0.0, at_most=allowed)
        return min(sd, self.largest) * rng.standard_normal()


@dataclass(frozen=True)
class Observation:
    """One evaluation: what the optimiser may see, and what only the accounting may.

    Attributes
    ----------
    value
        With noise.
    noiseless
        Without.

    Examples
    --------
    >>> import problems
    >>> seen = NoisyProblem(problems.get("branin"), Gaussian(0.1), seed=0).evaluate([0.5, 0.5], number=0)
    >>> abs(seen.value - seen.noiseless) < 0.5
    True
    """

    value: float
    noiseless: float


@dataclass(frozen=True)
class NoisyProblem:
    """A problem observed under noise; evaluation number i draws from a stream of its own, named by (seed, i) [S22].

    The noise of an evaluation depends on its number and not on when it completes, so that a run in parallel sees the
    same noise as one in sequence.

    Parameters
    ----------
    problem
        What is observed.
    noise
        The law of the errors.
    seed
        Non-negative integer.

    Examples
    --------
    >>> import problems
    >>> noisy = NoisyProblem(problems.get("branin2"), Gaussian(0.1), seed=7)
    >>> seen = noisy.evaluate([0.5, 0.5], number=4)
    >>> seen == noisy.evaluate([0.5, 0.5], number=4), seen.noiseless == noisy.problem([0.5, 0.5])
    (True, True)
    """

    problem: Problem
    noise: NoiseLaw
    seed: int

    def __post_init__(self) -> None:
        generator(self.seed, _NOISE_STREAM)  # a bad seed shows here and not at the first evaluation

    def evaluate(self, point: ArrayLike, *, number: int) -> Observation:
        """Observe one point of shape (D,) as evaluation `number`, a non-negative integer."""
        matrix = as_points(point, dimension=self.problem.dimension, name="point")
        if matrix.shape[0] != 1:
            raise InvalidInput(f"point: expected one point, got {matrix.shape[0]}; `observe` takes several")
        return self.observe(matrix, first=number)[0]

    def observe(self, points: ArrayLike, *, first: int = 0) -> tuple[Observation, ...]:
        """Observe points of shape (n, D) as evaluations `first`, first + 1, ..., in the order of the rows."""
        matrix = as_points(points, dimension=self.problem.dimension)
        noiseless = self.problem.values(matrix)
        try:
            start = operator.index(first)
        except TypeError:
            start = -1
        if start < 0:
            raise InvalidInput(f"evaluation number: expected a non-negative integer, got {first!r}")
        return tuple(
            Observation(value + self.noise.draw(point, generator(self.seed, _NOISE_STREAM, number)), value)
            for number, (point, value) in enumerate(zip(matrix, noiseless.tolist(), strict=True), start)
        )
