"""Quadrat: noisy black-box optimisation whose bounds truly hold.

Importing it loads NumPy and scipy.linalg only; everything else loads when it is first used.

    import quadrat as qd

    space = qd.Space(lr=qd.Float(1e-6, 1.0, log=True), layers=qd.Int(1, 8))
    kernel = qd.Matern(2.5, [0.3, 0.5])
    gp = qd.GaussianProcess(kernel, noise_variance=0.01)
"""

from __future__ import annotations

import logging

from quadrat.errors import InvalidInput, NotAvailable, NumericalFailure, QuadratError
from quadrat.gp import Fit, GaussianProcess, Observations, Priors, fit_map
from quadrat.kernels import (
    GammaExponential,
    Kernel,
    Matern,
    OnAxes,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
)
from quadrat.space import Categorical, Fixed, Float, Int, Space

__version__ = "0.1.0"

__all__ = [
    "Categorical",
    "Fit",
    "Fixed",
    "Float",
    "GammaExponential",
    "GaussianProcess",
    "Int",
    "InvalidInput",
    "Kernel",
    "Matern",
    "NotAvailable",
    "NumericalFailure",
    "Observations",
    "OnAxes",
    "PiecewisePolynomial",
    "Priors",
    "QuadratError",
    "RationalQuadratic",
    "Space",
    "SquaredExponential",
    "fit_map",
]

# A library does not print: whoever wants the log adds a handler.
logging.getLogger(__name__).addHandler(logging.NullHandler())
