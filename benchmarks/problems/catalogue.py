"""The test problems that Quadrat knows by name.

`branin`, `goldstein` and `log_goldstein` are minus the classic functions of two variables in the units of the
literature. All others are standardised: minus the classic function, less its mean over the cube, divided by its
standard deviation there, so that noise of standard deviation 0.1 means the same everywhere. The constants are
written below and checked by a test against their definition: midpoints of a 1000 x 1000 grid for functions of two
variables, 100,000 uniform points of the generator with seed 12345 for the others.

The functions of eight variables are the sums sum_i c_i g(x_{2i-1}, x_{2i}), c = (1, 0.1, 0.1, 0.1), of the paper's
Section "Empirical Results", Expt. 1, with g standardised: an affine image of the sum of the classics, in which
nothing but the unit differs (`Problem.in_original_units` goes back).

The classics and their references are in `problems.classics`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from problems import classics
from problems.problem import Problem
from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput

__all__ = ["get", "names"]


def get(name: str) -> Problem:
    """Return the problem called `name`, or its shifted form for a name such as "levy8~3".

    Parameters
    ----------
    name
        One of `names()`, or one of them followed by "~" and the seed of `Problem.shifted`.

    Returns
    -------
    Problem
        To be maximised, on the unit cube.

    Raises
    ------
    InvalidInput
        There is no such problem, or what follows "~" is not a seed.

    Examples
    --------
    >>> get("hartmann6").dimension
    6
    >>> get("hartmann6~3").name
    'hartmann6~3'
    """
    base, tilde, seed = str(name).partition("~")
    if base not in _PROBLEMS:
        raise InvalidInput(f"name: expected one of {', '.join(names())}, or one of them with ~seed, got {name!r}")
    problem = _PROBLEMS[base]
    if not tilde:
        return problem
    if not (seed.isascii() and seed.isdecimal()):
        raise InvalidInput(f"name: expected a non-negative integer after ~, such as {base}~3, got {name!r}")
    return problem.shifted(int(seed))


def names() -> tuple[str, ...]:
    """Names of all problems, unshifted, in the order of the catalogue.

    Returns
    -------
    tuple of str
        Names that `get` takes.

    Examples
    --------
    >>> "hartmann6" in names()
    True
    """
    return tuple(_PROBLEMS)


@dataclass(frozen=True, eq=False)
class _OnCube:
    """(-formula(low + width * u) - location) / scale for u in the unit cube."""

    formula: Callable[[Array], Array]
    low: Array
    width: Array
    location: float
    scale: float

    def __call__(self, points: Array) -> Array:
        return (-self.formula(self.low + self.width * points) - self.location) / self.scale


@dataclass(frozen=True, eq=False)
class _Blocks:
    """sum_i weights_i block(x_{2i-1}, x_{2i}) for a block of two variables."""

    block: Callable[[Array], Array]
    weights: tuple[float, ...]

    def __call__(self, points: Array) -> Array:
        pairs = (points[..., 2 * i : 2 * i + 2] for i in range(len(self.weights)))
        return np.asarray(sum(w * self.block(pair) for w, pair in zip(self.weights, pairs, strict=True)))


def _declare(
    name: str,
    formula: Callable[[Array], Array],
    domain: list[tuple[float, float]],
    *,
    minimisers: list[tuple[float, ...]],
    minimum: float,
    description: str,
    reference: str,
    mean: float = 0.0,
    sd: float = 1.0,
    anchor: tuple[float, ...] | None = None,
) -> Problem:
    """Declare minus a classic. `minimisers` and `anchor` (else the first of them) are in the classic's coordinates."""
    box = np.array(domain, dtype=np.float64)
    low, width = box[:, 0], box[:, 1] - box[:, 0]
    known = (np.array(minimisers) - low) / width
    inside = ((known >= 0) & (known <= 1)).all(axis=1)
    return Problem(
        name=name,
        dimension=len(domain),
        function=_OnCube(formula, low, width, mean, sd),
        optimizers=known[inside],
        optimal_value=(-minimum - mean) / sd,
        description=description,
        reference=reference,
        domain=box,
        location=mean,
        scale=sd,
        anchor=known[0] if anchor is None else (np.array(anchor) - low) / width,
        beyond=known[~inside],
    )


def _sum_of_four(name: str, block: Problem, description: str) -> Problem:
    """The paper's function of eight variables made of a block of two (Expt. 1)."""
    assert block.optimal_value is not None
    assert block.anchor is not None
    weights = (1.0, 0.1, 0.1, 0.1)
    everywhere = np.concatenate([block.optimizers, block.beyond])
    known = np.array([np.concatenate(four) for four in itertools.product(everywhere, repeat=4)])
    inside = ((known >= 0) & (known <= 1)).all(axis=1)
    return Problem(
        name=name,
        dimension=8,
        function=_Blocks(block.function, weights),
        optimizers=known[inside],
        optimal_value=sum(weights) * block.optimal_value,
        description=description,
        reference=f"the paper, Expt. 1; block: {block.reference}",
        domain=np.tile(block.domain, (4, 1)),
        location=sum(weights) * block.location,
        scale=block.scale,
        anchor=np.tile(block.anchor, 4),
        beyond=known[~inside],
    )


_BRANIN_BOX = [(-5.0, 10.0), (0.0, 15.0)]
_GOLDSTEIN_BOX = [(-2.0, 2.0), (-2.0, 2.0)]
_BRANIN = "Branin 1972"
_GOLDSTEIN = "Goldstein and Price 1971"
# Ackley's and Rastrigin's minimum is the origin. Their boxes are cut off-centre, at these places of the cube, so that
# the optimum is neither the centre nor equal in all coordinates.
_OFF_CENTRE = (0.31, 0.62, 0.43, 0.71, 0.37)


def _off_centre_box(width: float, dimension: int) -> list[tuple[float, float]]:
    return [(-width * place, width * (1 - place)) for place in _OFF_CENTRE[:dimension]]


def _branin(name: str, description: str, mean: float = 0.0, sd: float = 1.0) -> Problem:
    return _declare(
        name,
        classics.branin,
        _BRANIN_BOX,
        minimisers=[*classics.BRANIN_MINIMISERS],
        minimum=classics.BRANIN_MINIMUM,
        mean=mean,
        sd=sd,
        description=description,
        reference=_BRANIN,
    )


def _goldstein(name: str, description: str, *, log: bool, mean: float = 0.0, sd: float = 1.0) -> Problem:
    return _declare(
        name,
        classics.log_goldstein_price if log else classics.goldstein_price,
        _GOLDSTEIN_BOX,
        minimisers=[(0.0, -1.0)],
        minimum=float(np.log(3.0)) if log else 3.0,
        mean=mean,
        sd=sd,
        description=description,
        reference=_GOLDSTEIN,
    )


_BRANIN2 = _branin("branin2", "Branin, standardised", mean=-54.30714116374163, sd=51.25110612273896)
_GOLDSTEIN2 = _goldstein(
    "goldstein2", "log Goldstein-Price, standardised", log=True, mean=-8.702826426415427, sd=2.438628533488436
)
_GOLDSTEIN2_RAW = _goldstein(
    "goldstein2_raw",
    "Goldstein-Price without the logarithm, standardised",
    log=False,
    mean=-53315.7041134986,
    sd=124796.62189527208,
)

_PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        _branin("branin", "Branin in its own units"),
        _goldstein("goldstein", "Goldstein-Price in its own units", log=False),
        _goldstein("log_goldstein", "log Goldstein-Price, not standardised", log=True),
        _BRANIN2,
        _GOLDSTEIN2,
        _GOLDSTEIN2_RAW,
        _sum_of_four("branin8", _BRANIN2, "weighted sum of four standardised Branin functions"),
        _sum_of_four("goldstein8", _GOLDSTEIN2, "weighted sum of four standardised log Goldstein-Price functions"),
        _sum_of_four("goldstein8_raw", _GOLDSTEIN2_RAW, "weighted sum of four standardised Goldstein-Price functions"),
        _declare(
            "hartmann6",
            classics.hartmann6,
            [(0.0, 1.0)] * 6,
            minimisers=[classics.HARTMANN6_MINIMISER],
            minimum=classics.HARTMANN6_MINIMUM,
            mean=0.2612090308825015,
            sd=0.3877800756926328,
            # The six digits of [SB13], not the refined minimiser: recorded results were shifted by these.
            anchor=(0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573),
            description="Hartmann's four bumps in six dimensions, standardised",
            reference="Hartmann, in Dixon and Szegö 1978",
        ),
        _declare(
            "ackley5",
            classics.ackley,
            _off_centre_box(15.0, 5),
            minimisers=[(0.0,) * 5],
            minimum=0.0,
            mean=-13.684242232522035,
            sd=2.037015155193088,
            description="Ackley's dimpled funnel, off centre, standardised",
            reference="Ackley 1987",
        ),
        _declare(
            "levy8",
            classics.levy,
            [(-10.0, 10.0)] * 8,
            minimisers=[(1.0,) * 8],
            minimum=0.0,
            mean=-94.2486369492589,
            sd=42.35962545493253,
            description="Levy's wavy bowl, standardised",
            reference="Levy and Montalvo 1985",
        ),
        _declare(
            "rosenbrock4",
            classics.log_rosenbrock,
            [(-5.0, 10.0)] * 4,
            minimisers=[(1.0,) * 4],
            minimum=0.0,
            mean=-12.059020217167943,
            sd=1.5968613047089506,
            description="log(1 + Rosenbrock's valley), standardised",
            reference="Rosenbrock 1960",
        ),
        _declare(
            "rastrigin3",
            classics.rastrigin,
            _off_centre_box(10.24, 3),
            minimisers=[(0.0,) * 3],
            minimum=0.0,
            mean=-61.905585136906396,
            sd=23.022114499418574,
            description="Rastrigin's lattice of pits, off centre, standardised",
            reference="Rastrigin 1974",
        ),
    )
}
