"""Problems with several levels of fidelity: cheap approximations of an expensive function, maximised on the unit cube.

The last level is the target: regret is that of the target, at whatever level a point was evaluated.

References
----------
[K16]  Kandasamy, Dasarathy, Oliva, Schneider and Poczos (2016). Gaussian process bandit optimisation with
       multi-fidelity evaluations. NeurIPS. Its appendix has these forms of Currin's, Park's and Hartmann's functions,
       with costs that grow tenfold from level to level.
[X13]  Xiong, Qian and Wu (2013). Sequential design and analysis of high-accuracy and low-accuracy computer codes.
       Technometrics 55(1). The cheap forms of Currin's and Park's functions.
[C91]  Currin, Mitchell, Morris and Ylvisaker (1991). Bayesian prediction of deterministic functions, with applications
       to the design and analysis of computer experiments. Journal of the American Statistical Association 86.
[P91]  Park (1991). Tuning complex computer codes to data and optimal designs. PhD thesis, University of Illinois.
[DS78] Dixon and Szegö (1978). The global optimization problem: an introduction. In Towards Global Optimisation 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np
from problems.classics import _HARTMANN6_CENTRES as HARTMANN6_CENTRES
from problems.classics import _HARTMANN6_RATES as HARTMANN6_RATES
from problems.classics import HARTMANN6_MINIMISER

from quadrat._core.arrays import Array, ArrayLike, as_points
from quadrat.errors import InvalidInput
from quadrat.randomness import generator

__all__ = ["MULTI_FIDELITY", "MultiFidelityProblem"]

_NOISE_STREAM = 0x66696465  # sets the noise apart from what an optimiser with the same seed draws


@dataclass(frozen=True, eq=False)
class MultiFidelityProblem:
    """Functions f^(1), ..., f^(M) on the unit cube, from the cheapest to the target, which is maximised.

    Parameters
    ----------
    name
        Its name.
    dimension
        D.
    levels
        From points (n, D) to values (n,), without noise; the last is the target.
    costs
        What one evaluation at each level costs, ascending.
    noise
        Standard deviation of the normal noise at every level.
    optimizer
        A maximiser of the target, shape (D,).
    reference
        Where it comes from.

    Examples
    --------
    >>> currin = MULTI_FIDELITY["currin2"]
    >>> currin.costs, round(currin.optimal_value, 3)
    ((1.0, 10.0), 13.799)
    >>> currin.values([[0.5, 0.5], [0.1, 0.9]], level=0).round(2).tolist()
    [7.44, 4.5]
    """

    name: str
    dimension: int
    levels: tuple[Callable[[Array], Array], ...] = field(repr=False)
    costs: tuple[float, ...]
    noise: float
    optimizer: tuple[float, ...]
    reference: str = field(default="", repr=False)

    @property
    def target(self) -> int:
        """The number of the last level, M - 1."""
        return len(self.levels) - 1

    @property
    def optimal_value(self) -> float:
        """The maximum of the target."""
        return float(self.values(np.array(self.optimizer), level=self.target)[0])

    def values(self, points: ArrayLike, *, level: int) -> Array:
        """Return the values of a level, from 0, without noise at points (n, D), shape (n,)."""
        if level not in range(len(self.levels)):
            raise InvalidInput(f"level: expected one of 0, ..., {self.target}, got {level!r}")
        return np.asarray(self.levels[level](as_points(points, dimension=self.dimension)), dtype=np.float64)

    def observe(self, point: ArrayLike, *, level: int, number: int, seed: int) -> float:
        """Return the value at one point (D,) and `level`, with the noise of evaluation `number` of the run `seed`."""
        noise = self.noise * generator(seed, _NOISE_STREAM, number).standard_normal()
        return float(self.values(point, level=level)[0] + noise)

    def regret(self, point: ArrayLike) -> float:
        """Return the simple regret of a point, shape (D,): the target's maximum less the target there."""
        return self.optimal_value - float(self.values(point, level=self.target)[0])


# --- Currin's exponential


def _currin(x: Array) -> Array:
    first, second = x[:, 0], x[:, 1]
    # The limit at x_2 = 0 is 1 - exp(-inf) = 1.
    shape = 1 - np.exp(-0.5 / np.maximum(second, 1e-6))
    above = 2300 * first**3 + 1900 * first**2 + 2092 * first + 60
    below = 100 * first**3 + 500 * first**2 + 4 * first + 20
    return np.asarray(shape * above / below)


def _currin_cheap(x: Array) -> Array:
    """Mean over four points around x, moved by 0.05 along both axes; x_2 does not become negative [X13]."""
    first, second = x[:, 0], x[:, 1]
    corners = [(first + a, np.maximum(second + b, 0.0)) for a in (0.05, -0.05) for b in (0.05, -0.05)]
    return np.asarray(np.mean([_currin(np.stack(corner, axis=1)) for corner in corners], axis=0))


# --- Park's first function


def _park(x: Array) -> Array:
    first, second, third, fourth = np.maximum(x[:, 0], 1e-12), x[:, 1], x[:, 2], x[:, 3]
    root = np.sqrt(1 + (second + third**2) * fourth / first**2)
    return np.asarray(first / 2 * (root - 1) + (first + 3 * fourth) * np.exp(1 + np.sin(third)))


def _park_cheap(x: Array) -> Array:
    first, second, third = x[:, 0], x[:, 1], x[:, 2]
    return np.asarray((1 + np.sin(first) / 10) * _park(x) - 2 * first + second**2 + third**2 + 0.5)


# --- Hartmann's functions of three and six variables

_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_CHANGES = np.array([0.01, -0.01, -0.1, 0.1])
_RATES3 = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0]] * 2)
_CENTRES3 = np.array(
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]]
)


def _hartmann(x: Array, *, rates: Array, centres: Array, steps: int) -> Array:
    """Four Gaussian bumps; `steps` levels below the target their heights are those plus steps times a change [K16]."""
    squares = (rates * (x[:, None, :] - centres) ** 2).sum(axis=2)
    return np.asarray(np.exp(-squares) @ (_HEIGHTS + steps * _CHANGES))


# --- a cheap level that misleads


def _two_bumps(x: Array) -> Array:
    """A bump of height 1 at (.8, .7) and a wider one of height one half at (.25, .8)."""
    high = np.exp(-((x - np.array([0.8, 0.7])) ** 2).sum(axis=1) / (2 * 0.15**2))
    low = np.exp(-((x - np.array([0.25, 0.8])) ** 2).sum(axis=1) / (2 * 0.2**2))
    return np.asarray(high + 0.5 * low)


def _reflected(x: Array) -> Array:
    return _two_bumps(1 - x)


_PROBLEMS = (
    MultiFidelityProblem(
        "currin2",
        2,
        (_currin_cheap, _currin),
        (1.0, 10.0),
        0.25,
        (13 / 60, 0.0),
        "Currin et al. [C91]; cheap form [X13], as in [K16]",
    ),
    MultiFidelityProblem(
        "park4", 4, (_park_cheap, _park), (1.0, 10.0), 0.25, (1.0, 1.0, 1.0, 1.0), "Park [P91]; cheap form [X13]"
    ),
    MultiFidelityProblem(
        "hartmann3",
        3,
        tuple(partial(_hartmann, rates=_RATES3, centres=_CENTRES3, steps=steps) for steps in (2, 1, 0)),
        (1.0, 10.0, 100.0),
        0.05,
        (0.1145888745, 0.5556488958, 0.8525469852),
        "Hartmann's function [DS78]; cheap forms [K16]",
    ),
    MultiFidelityProblem(
        "hartmann6",
        6,
        tuple(
            partial(_hartmann, rates=HARTMANN6_RATES, centres=HARTMANN6_CENTRES, steps=steps) for steps in (3, 2, 1, 0)
        ),
        (1.0, 10.0, 100.0, 1000.0),
        0.05,
        HARTMANN6_MINIMISER,
        "Hartmann's function [DS78]; cheap forms [K16]",
    ),
    MultiFidelityProblem(
        "misleading2",
        2,
        (_reflected, _two_bumps),
        (1.0, 10.0),
        0.05,
        (0.7967606645, 0.7005889714),
        "two bumps, and the same turned by half a turn for a cheap level: its maximum is far from the target's",
    ),
)

MULTI_FIDELITY: Mapping[str, MultiFidelityProblem] = MappingProxyType({problem.name: problem for problem in _PROBLEMS})
"""The problems by name."""
