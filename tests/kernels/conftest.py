from __future__ import annotations

import pytest

from quadrat.kernels import (
    GammaExponential,
    Kernel,
    Matern,
    OnAxes,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
)

ARD = (0.3, 0.7, 1.4)
STATIONARY: dict[str, Stationary] = {
    "se": SquaredExponential(ARD, amplitude=1.3),
    "matern0.3": Matern(0.3, ARD, amplitude=1.3),
    "matern0.5": Matern(0.5, ARD),
    "matern1": Matern(1.0, ARD),
    "matern1.5": Matern(1.5, ARD, amplitude=0.4),
    "matern2.2": Matern(2.2, 0.5),
    "matern2.5": Matern(2.5, ARD, amplitude=1.3),
    "matern3": Matern(3.0, ARD),
    "matern7.3": Matern(7.3, ARD),
    "rq0.4": RationalQuadratic(0.4, ARD, amplitude=2.0),
    "rq3": RationalQuadratic(3.0, 0.6),
    "ge0.6": GammaExponential(0.6, ARD),
    "ge1.5": GammaExponential(1.5, ARD, amplitude=1.3),
    "ge2": GammaExponential(2.0, ARD),
    "pp0": PiecewisePolynomial(0, 3, (1.3, 1.7, 2.4)),
    "pp1": PiecewisePolynomial(1, 3, (1.3, 1.7, 2.4), amplitude=1.3),
    "pp2": PiecewisePolynomial(2, 4, 1.6),
    "pp3": PiecewisePolynomial(3, 3, (1.3, 1.7, 2.4)),
}
COMPOSITE: dict[str, Kernel] = {
    "sum": Matern(2.5, ARD) + RationalQuadratic(1.5, 0.8, amplitude=0.5),
    "product": Matern(1.5, ARD) * SquaredExponential(0.9, amplitude=1.4),
    "axes": OnAxes(Matern(2.5, (0.2, 0.9)), [2, 0]),
    "additive": OnAxes(Matern(2.5, 0.3), [0]) + OnAxes(SquaredExponential(0.5), [1]) * OnAxes(Matern(1.5, 0.4), [2]),
}


@pytest.fixture(params=list(STATIONARY.values()), ids=list(STATIONARY))
def stationary(request: pytest.FixtureRequest) -> Stationary:
    assert isinstance(request.param, Stationary)
    return request.param


ALL: dict[str, Kernel] = {**STATIONARY, **COMPOSITE}


@pytest.fixture(params=list(ALL.values()), ids=list(ALL))
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """Every kernel of the package, on three-dimensional points."""
    assert isinstance(request.param, Kernel)
    return request.param
